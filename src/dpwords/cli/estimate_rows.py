"""Estimates as rows: on a terminal, in a pipe, and in the files that a command writes."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpwords.cli.papers import markdown_table, rounded, tex_table
from dpwords.cli.tables import percentage, table
from dpwords.cli.targets import csv_content, json_content
from dpwords.cli.terminal import Terminal
from dpwords.recipes.questions import PAIRS

if TYPE_CHECKING:
    from dpwords.estimate import Estimates
    from dpwords.mechanisms.private import Private

_INTERVAL = ("low", "high", "counted")
_ASKED = {  # what proportions are of, in captions
    "frequencies": "symbols",
    "visits": "states that are entered",
    "transitions": "steps",
    "dfg": "pairs of consecutive symbols",
    "starts": "words by their first symbol",
    "ends": "words by their last symbol",
    "lengths": "words by their length",
    "patterns": "words with a pattern",
    "variants": "whole words",
}
_HOW = {"inverse": "inversion", "counted": "counting"}
PAPERS = {".tex": tex_table, ".md": markdown_table}
_LABELS = {"visits": "state", "lengths": "length", "patterns": "pattern", "variants": "variant"}
_ON_TERMINAL = 20
_POSITIONS_ON_TERMINAL = 5  # symbols, each with a column
EstimateRow = tuple[Any, ...]


@dataclass(frozen=True)
class EstimateRows:
    """One table of estimates, or one for each position of the words. `names` are the positions or, for patterns,
    labels."""

    tables: Sequence[Estimates]
    by_position: bool = False
    names: Sequence[str] = ()
    top: int | None = None  # how many of the largest proportions are shown; None: as many as fit
    symbol: str = "symbol"  # what symbols are called
    compared: tuple[str, str] | None = None  # the names of two files, if the rows are differences between them
    separator: str | None = None  # between the symbols of a word, as in the file

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the columns of numbers."""
        return ("estimate" if self.compared is None else "difference", *_INTERVAL)

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        first = self.tables[0]
        label = ("from", "to") if first.question in PAIRS else (_LABELS.get(first.question, self.symbol),)
        return (("place",) if self.by_position else ()) + label + self.figures

    def rows(self, most: int | None = None) -> list[EstimateRow]:
        """The rows, the largest estimates of each position first; those of the `most` largest labels only."""
        kept = self._largest(self.top or most)
        found: list[EstimateRow] = []
        for number, one in enumerate(self.tables):
            labels = [label for label in kept if label in one]
            if self.by_position:
                labels.sort(key=lambda label, one=one: -abs(one[label].value))  # type: ignore[misc]
            for label in labels:
                position = (self._position(number),) if self.by_position else ()
                figures = (*one[label], one.counted.get(label, math.nan))
                found.append((*position, *self._written(label), *map(_finite, figures)))
        return found

    def lines(self, terminal: Terminal) -> list[str]:
        """The rows as text: a table on a terminal with colours, and fields with tabs between them in a pipe.

        On the terminal, a table by position has a line for each position, and a column for each of the largest symbols.
        """
        if not terminal.colours:
            rows = [self.header, *self.rows()]
            return ["\t".join("" if cell is None else _text(cell) for cell in row) for row in rows]
        if self.by_position:
            kept = self._largest(self.top or _POSITIONS_ON_TERMINAL)
            header: tuple[str, ...] = ("position", *(_text(*self._written(label)) for label in kept))
            cells: list[EstimateRow] = [
                (self._position(number), *(_finite(one[label].value) if label in one else None for label in kept))
                for number, one in enumerate(self.tables)
            ]
            rest = len(self.tables[0]) - len(kept)
        else:
            shown = self.rows(_ON_TERMINAL)
            width = len(self.header) - len(self.figures)
            header = (" → ".join(self.header[:width]), *self.figures)
            cells = [(_text(" → ".join(map(str, row[:width]))), *row[width:]) for row in shown]
            rest = len(self.rows()) - len(shown) if self.top is None else 0
        what = "proportions" if self.compared is None else "differences"
        more = [f"({rest} smaller {what} are not shown: --top shows more)"] if rest else []
        return [*table(header, cells, terminal), *more]

    def content(self, path: Path, *mechanisms: Private) -> bytes:
        """The content of a file, by its suffix; JSON has what else is known.

        `mechanisms` is the one that made the releases, or those of the two files that are compared.
        """
        suffix = path.suffix.lower()
        if suffix == ".csv":
            return csv_content(self.header, self.rows())
        if suffix == ".json":
            return json_content(self._document(mechanisms))
        if suffix in PAPERS:
            return self._paper(suffix, mechanisms).encode()
        if suffix != ".parquet":
            from dpwords import plots

            found = list(self.tables) if self.by_position else self.tables[0]
            from dpwords.plots.proportions import MOST_SHOWN

            most, language = self.top or MOST_SHOWN, mechanisms[0].language
            return plots.content_for(plots.estimates(found, language, names=self.names, most=most), path)
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = dict(zip(self.header, zip(*self.rows(), strict=True), strict=True))
        kinds = [pa.float64() if name in self.figures else None for name in columns]
        arrays = [pa.array(column, kind) for column, kind in zip(columns.values(), kinds, strict=True)]
        out = io.BytesIO()
        pq.write_table(pa.table(arrays, names=list(columns)), out)
        return out.getvalue()

    def _document(self, mechanisms: Sequence[Private]) -> dict[str, Any]:
        first, errors = self.tables[0], [_finite(one.total_error) for one in self.tables]
        made = [
            {"mechanism": type(each).__name__, "epsilon": each.epsilon, "guarantee": str(each.guarantee)}
            for each in mechanisms
        ]
        of = [{"releases": number} for number in self.releases]
        return {
            "question": first.question,
            "method": first.method,
            "model": first.model,
            "fits": first.fits,
            "confidence": first.confidence,
            **of[0],
            "total_error": errors if self.by_position else errors[0],
            **made[0],
            **({} if self.compared is None else {"compared_with": of[1] | made[1]}),
            "estimates" if self.compared is None else "differences": [
                dict(zip(self.header, row, strict=True)) for row in self.rows()
            ],
            "notes": self.notes(),
        }

    @property
    def releases(self) -> tuple[int, ...]:
        """The number of releases, of each of two files if they are compared."""
        return getattr(self.tables[0], "of", (self.tables[0].releases,))

    @property
    def method(self) -> str:
        """How the estimates were made, in words."""
        methods = self.tables[0].method.split(" and ")
        fitted = "expectation–maximisation" if self.tables[0].model is None else f"a model ({self.tables[0].model})"
        return " and ".join(dict.fromkeys(_HOW.get(each, fitted) for each in methods))

    def _paper(self, suffix: str, mechanisms: Sequence[Private]) -> str:
        """A table for LaTeX or Markdown: the estimates and their intervals, rounded as these justify."""
        labels, cells = len(self.header) - len(self.figures), []
        for row in self.rows():
            value, low, high = rounded(*(math.nan if each is None else each for each in row[labels : labels + 3]))
            names = [_text(name) for name in row[:labels]]
            if self.tables[0].question == "variants" and self.separator is not None:
                names = [name.replace(self.separator, f"{self.separator} ") for name in names]  # lines end there
            cells.append((*names, value, f"{low} to {high}" if low else "—"))
        sure = percentage(self.tables[0].confidence)
        header = [name.capitalize() for name in (*self.header[:labels], self.figures[0])]
        return PAPERS[suffix](self._caption(mechanisms, sure), [*header, f"{sure} interval"], cells, 2)

    def _caption(self, mechanisms: Sequence[Private], sure: str) -> str:
        """The question, the numbers of releases, ε, the method and the confidence."""
        sources = [
            f"{number:,} releases at ε = {each.epsilon:g}" + (f", k = {each.k}" if each.k > 1 else "")
            for number, each in zip(self.releases, mechanisms, strict=True)
        ]
        first = self.tables[0]
        what = "transition probabilities"
        if first.question != "rates":
            what = f"proportions of {_ASKED[first.question]}" + (" at each position" if self.by_position else "")
        if self.compared is not None:
            what = f"differences between {what} ({' − '.join(self.compared)})"
        if self.top is not None and self.top < len(first):
            what += f", the {self.top:,} largest of {len(first):,}"
        rough = "; the estimates are rough" if any(each.rough for each in self.tables) else ""
        unfit = "" if all(each.fits for each in self.tables) else "; the model does not fit the releases"
        return (
            f"{what[0].upper()}{what[1:]}, estimated from {' and '.join(sources)} by {self.method}, with {sure} "
            f"confidence intervals{rough}{unfit}."
        )

    def notes(self) -> list[str]:
        """What to beware of, each with its position."""
        return [
            f"position {self._position(number)}: {text}" if self.by_position else text
            for number, one in enumerate(self.tables)
            for text in one.notes
        ]

    def _largest(self, most: int | None) -> list[Any]:
        """The labels, the largest mean proportion first; lengths that occur in their own order."""
        first = self.tables[0]
        if first.question == "rates" and self.compared is None:
            return first.ordered()[:most]
        mean = {label: sum(abs(one[label].value) for one in self.tables if label in one) for label in first}
        largest = sorted(mean, key=lambda label: -mean[label])[:most]
        if first.question != "lengths":
            return largest
        found = getattr(first, "found", ())  # by one of two populations that are compared
        return sorted(label for label in largest if mean[label] or first.counted[label] or label in found)

    @cached_property
    def _between(self) -> str:
        """What stands between the symbols of variants: as in the file, if that is known."""
        from dpwords.languages.systems import between

        return self.separator or between(label for table in self.tables for label in table)

    def _position(self, number: int) -> str:
        return self.names[number] if number < len(self.names) else str(number + 1)

    def _written(self, label: Any) -> tuple[Any, ...]:
        from dpwords.languages.systems import written

        question = self.tables[0].question
        if question in PAIRS:
            return tuple(map(written, label))
        if question == "patterns":
            return (self.names[list(self.tables[0]).index(label)],)
        if question == "variants":
            return (self._between.join(map(written, label)),)
        return (label,) if question == "lengths" else (written(label),)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _text(cell: Any) -> str:
    """A cell on one line, without what a terminal or a table would take for a command."""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return "".join(letter if letter.isprintable() else "�" for letter in text)
