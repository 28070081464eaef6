"""Estimates as rows: for a terminal, a pipe, and files."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpwords.cli.tables import table
from dpwords.cli.targets import csv_content, json_content

if TYPE_CHECKING:
    from dpwords.cli.terminal import Terminal
    from dpwords.estimate import Estimates
    from dpwords.mechanisms.private import Private

FIGURES = ("estimate", "low", "high", "counted")
_PAIRS = ("transitions", "dfg")
_LABELS = {"visits": "state", "lengths": "length", "patterns": "pattern"}
_ON_TERMINAL = 20
_PLACES_ON_TERMINAL = 5  # symbols, each with a column
EstimateRow = tuple[Any, ...]


@dataclass(frozen=True)
class EstimateRows:
    """One table of estimates, or one for each place of the words. `names` are the places or, for patterns, labels."""

    tables: Sequence[Estimates]
    by_place: bool = False
    names: Sequence[str] = ()
    top: int | None = None  # how many of the largest shares are shown; None: as many as fit

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        first = self.tables[0]
        label = ("from", "to") if first.question in _PAIRS else (_LABELS.get(first.question, "symbol"),)
        return (("place",) if self.by_place else ()) + label + FIGURES

    def rows(self, most: int | None = None) -> list[EstimateRow]:
        """The rows, the largest estimates of each place first; those of the `most` largest labels only."""
        kept = self._largest(self.top or most)
        found: list[EstimateRow] = []
        for number, one in enumerate(self.tables):
            labels = [label for label in kept if label in one]
            if self.by_place:
                labels.sort(key=lambda label, one=one: -one[label].value)  # type: ignore[misc]
            for label in labels:
                place = (self._place(number),) if self.by_place else ()
                figures = (*one[label], one.counted.get(label, math.nan))
                found.append((*place, *self._written(label), *map(_finite, figures)))
        return found

    def lines(self, terminal: Terminal) -> list[str]:
        """The rows as text: a table on a terminal with colours, and fields with tabs between them in a pipe.

        On the terminal, a table by place has a line for each place, and a column for each of the largest symbols.
        """
        if not terminal.colours:
            rows = [self.header, *self.rows()]
            return ["\t".join("" if cell is None else _text(cell) for cell in row) for row in rows]
        if self.by_place:
            kept = self._largest(self.top or _PLACES_ON_TERMINAL)
            header: tuple[str, ...] = ("place", *(_text(*self._written(label)) for label in kept))
            cells: list[EstimateRow] = [
                (self._place(number), *(_finite(one[label].value) if label in one else None for label in kept))
                for number, one in enumerate(self.tables)
            ]
            rest = len(self.tables[0]) - len(kept)
        else:
            shown = self.rows(_ON_TERMINAL)
            width = len(self.header) - len(FIGURES)
            header = (" → ".join(self.header[:width]), *FIGURES)
            cells = [(_text(" → ".join(map(str, row[:width]))), *row[width:]) for row in shown]
            rest = len(self.rows()) - len(shown) if self.top is None else 0
        more = [f"({rest} smaller shares are not shown: --top shows more)"] if rest else []
        return [*table(header, cells, terminal), *more]

    def content(self, path: Path, mechanism: Private) -> bytes:
        """The content of a .csv, .json, .parquet, .png or .svg file; JSON has what else is known."""
        suffix = path.suffix.lower()
        if suffix == ".csv":
            return csv_content(self.header, self.rows())
        if suffix == ".json":
            return json_content(self._document(mechanism))
        if suffix != ".parquet":
            from dpwords import plots

            found = list(self.tables) if self.by_place else self.tables[0]
            return plots.content_for(plots.estimates(found, mechanism.language, names=self.names), path)
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = dict(zip(self.header, zip(*self.rows(), strict=True), strict=True))
        kinds = [pa.float64() if name in FIGURES else None for name in columns]
        arrays = [pa.array(column, kind) for column, kind in zip(columns.values(), kinds, strict=True)]
        out = io.BytesIO()
        pq.write_table(pa.table(arrays, names=list(columns)), out)
        return out.getvalue()

    def _document(self, mechanism: Private) -> dict[str, Any]:
        first, errors = self.tables[0], [_finite(one.total_error) for one in self.tables]
        return {
            "question": first.question,
            "method": first.method,
            "confidence": first.confidence,
            "releases": first.releases,
            "total_error": errors if self.by_place else errors[0],
            "mechanism": type(mechanism).__name__,
            "epsilon": mechanism.epsilon,
            "guarantee": str(mechanism.guarantee),
            "estimates": [dict(zip(self.header, row, strict=True)) for row in self.rows()],
            "notes": self.notes(),
        }

    def notes(self) -> list[str]:
        """What to beware of, each with its place."""
        return [
            f"{self._place(number)}: {text}" if self.by_place else text
            for number, one in enumerate(self.tables)
            for text in one.notes
        ]

    def _largest(self, most: int | None) -> list[Any]:
        """The labels, the largest mean share first; lengths that occur in their own order."""
        first = self.tables[0]
        mean = {label: sum(one[label].value for one in self.tables if label in one) for label in first}
        largest = sorted(mean, key=lambda label: -mean[label])[:most]
        if first.question != "lengths":
            return largest
        return sorted(label for label in largest if mean[label] > 0 or first.counted[label] > 0)

    def _place(self, number: int) -> str:
        return self.names[number] if number < len(self.names) else str(number + 1)

    def _written(self, label: Any) -> tuple[Any, ...]:
        from dpwords.languages.systems import written

        question = self.tables[0].question
        if question in _PAIRS:
            return tuple(map(written, label))
        if question == "patterns":
            return (self.names[list(self.tables[0]).index(label)],)
        return (label,) if question == "lengths" else (written(label),)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _text(cell: Any) -> str:
    """A cell on one line, without what a terminal or a table would take for a command."""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return "".join(letter if letter.isprintable() else "�" for letter in text)
