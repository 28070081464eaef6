"""The results of `dpwords attack`: as a table, as a file, and as curves."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpwords.attack import Guess
    from dpwords.studies.study import Table

_COLUMNS = (
    "epsilon",
    "releases",
    "mechanism",
    "method",
    "hits",
    "hits_low",
    "hits_high",
    "whole",
    "whole_low",
    "whole_high",
    "in_words",
)


@dataclass(frozen=True)
class AttackRow:
    """What is guessed through one mechanism at one ε; None if that is too large to compute."""

    epsilon: float
    releases: int
    mechanism: str
    found: Guess | None

    def fields(self) -> dict[str, Any]:
        """The row of a file."""
        found = self.found
        figures: list[Any] = [None] * (len(_COLUMNS) - 3)
        if found is not None:
            figures = [
                found.method,
                found.hits,
                found.low.hits,
                found.high.hits,
                found.whole,
                found.low.whole,
                found.high.whole,
                found.of_100,
            ]
        return dict(zip(_COLUMNS, (self.epsilon, self.releases, self.mechanism, *figures), strict=True))


@dataclass(frozen=True)
class AttackTable:
    """Rows for several mechanisms, values of ε and numbers of releases, all about words of one length."""

    length: int
    rows: Sequence[AttackRow]

    @property
    def first(self) -> Guess | None:
        """A result that there is."""
        return next((row.found for row in self.rows if row.found is not None), None)

    def table(self) -> Table:
        """The rows for the terminal."""
        from dpwords.studies.study import Table

        several = len({row.releases for row in self.rows}) > 1
        header = ("ε", *(("releases",) if several else ()), "mechanism", "positions", "whole word", "in words")
        lines = []
        for row in self.rows:
            cells = ("too large", "too large", "") if row.found is None else _cells(row.found)
            lines.append((f"{row.epsilon:g}", *((str(row.releases),) if several else ()), row.mechanism, *cells))
        return Table(header, tuple(lines))

    def notes(self) -> list[str]:
        """What the figures mean, in words."""
        from dpwords.attack.results import in_a_crowd, upward

        found = self.first
        if found is None:
            return []
        before = (
            f"{upward(found.without.hits)} of {self.length} positions, and {in_a_crowd(found.without.whole)} guessed"
        )
        lines = [f"(without any release: {before})"]
        simulated = [row.found for row in self.rows if row.found is not None and row.found.method == "simulation"]
        if simulated:
            fewest = min(each.samples for each in simulated)
            proportion = simulated[0].confidence
            lines.append(
                f"(≤: the upper end of an interval that holds with {proportion:g}, from {fewest} simulated words)"
            )
        if any(row.found is not None and row.found.method == "bound" for row in self.rows):
            lines.append("(≤ alone: nothing but a bound is known, which follows from the promise)")
        return lines

    def content(self, suffix: str, about: dict[str, Any]) -> bytes:
        """The content of a .json or .csv file."""
        rows = [row.fields() for row in self.rows]
        if suffix == ".csv":
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
            return text.getvalue().encode()
        found = self.first
        without = None if found is None else found.without._asdict() | {"hits_by_place": list(found.without_by_place)}
        for row, fields in zip(self.rows, rows, strict=True):
            fields["hits_by_place"] = None if row.found is None else list(row.found.hits_by_place)
        document = {**about, "length": self.length, "without": without, "rows": rows}
        return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()

    def curves(self, epsilons: Sequence[float], title: str) -> Figure:
        """Proportions of positions and of whole words that are guessed, against ε; at most so many where they are
        simulated."""
        from dpwords import plots

        several = len({row.releases for row in self.rows}) > 1
        panels: dict[str, dict[str, list[float]]] = {
            "positions that are guessed": {},
            "whole words that are guessed": {},
        }
        positions, words = panels.values()
        titles: dict[str, str] = {}
        for row in self.rows:
            name, found = row.mechanism, row.found
            if several:
                name += ", 1 release" if row.releases == 1 else f", {row.releases} releases"
            titles[name] = row.mechanism
            positions.setdefault(name, []).append(math.nan if found is None else found.high.hits / self.length)
            words.setdefault(name, []).append(math.nan if found is None else found.high.whole)
        for drawn in panels.values():
            for name in [name for name, values in drawn.items() if all(map(math.isnan, values))]:
                del drawn[name]
        first = self.first
        if first is not None:
            positions["without any release"] = [first.without.hits / self.length] * len(epsilons)
            words["without any release"] = [first.without.whole] * len(epsilons)
        return plots.panels(epsilons, panels, title, titles)


def _cells(found: Guess) -> tuple[str, str, str]:
    positions, whole = f"{found.hits:.4g} of {found.length}", _percent(found.whole)
    if found.method == "bound":
        positions, whole = f"≤ {found.high.hits:.4g} of {found.length}", f"≤ {_percent(found.high.whole)}"
    elif not found.exact:
        positions = f"{found.hits:.4g} (≤ {found.high.hits:.4g}) of {found.length}"
        whole = f"{whole} (≤ {_percent(found.high.whole)})"
    return positions, whole, found.of_100


def _percent(proportion: float) -> str:
    return f"{100 * proportion:.3g}%"
