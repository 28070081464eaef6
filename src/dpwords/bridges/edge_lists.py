"""Transition systems from edge lists, in memory or in CSV files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpwords.core.checks import collection
from dpwords.core.files import read_text
from dpwords.core.symbols import Symbol, is_hashable
from dpwords.errors import InvalidValue
from dpwords.languages.language import State
from dpwords.languages.systems import TransitionSystem


def from_edges(
    edges: str | os.PathLike[str] | Iterable[tuple[State, State]],
    start: State | None = None,
    accepting: Iterable[State] | None = None,
) -> TransitionSystem:
    """A system whose words are sequences of states of a directed graph; `start=None` lets a run start in any state.

    `edges` are pairs (source, target), or the path of a CSV file with a header that names the columns `source` and
    `target`. Other columns are ignored, and the states from a file are strings.

    >>> from_edges([("a", "b"), ("b", "a"), ("b", "b")], start="a").count(3)
    3
    """
    rows = _edges_of_csv(Path(edges)) if isinstance(edges, (str, os.PathLike)) else collection(edges, "edges")
    moves: dict[State, dict[Symbol, State]] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, (tuple, list)) or len(row) != 2 or not all(map(is_hashable, row)):
            raise InvalidValue(f"edge {number} must be a pair (source, target) of hashable states")
        moves.setdefault(row[0], {})[row[1]] = row[1]
    if not moves:
        raise InvalidValue("an edge list must have at least one edge: pass for example [('a', 'b')]")
    return TransitionSystem(moves, start=start, accepting=accepting)


def _edges_of_csv(path: Path) -> Iterator[tuple[str, str]]:
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True, skipinitialspace=True)
    try:
        if not {"source", "target"} <= set(rows.fieldnames or ()):
            raise InvalidValue(f"{path.name} needs a header line that names the columns source and target")
        for row in rows:
            if not row["source"] or not row["target"]:
                raise InvalidValue(f"{path.name}, line {rows.line_num}: the source or the target is missing")
            yield row["source"], row["target"]
    except csv.Error as error:
        raise InvalidValue(f"{path.name} is not valid CSV ({error}): is the file cut off?") from None
