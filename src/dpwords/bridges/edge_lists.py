"""Transition systems from edge lists, in memory or in CSV files."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator

from dpwords.core.checks import collection
from dpwords.core.files import AnyFile, FileContent, file_name, read_text
from dpwords.core.symbols import Symbol, is_hashable
from dpwords.errors import InvalidValue, within_memory
from dpwords.languages.exploring import State
from dpwords.languages.systems import TransitionSystem


@within_memory()
def from_edges(
    edges: AnyFile | Iterable[tuple[State, State]], start: State | None = None, accepting: Iterable[State] | None = None
) -> TransitionSystem:
    """A system whose words are sequences of states of a directed graph; `start=None` lets a run start in any state.

    `edges` are pairs (source, target), or the path of a CSV file with a header that names the columns `source` and
    `target`. Other columns are ignored, and the states from a file are strings.

    >>> from_edges([("a", "b"), ("b", "a"), ("b", "b")], start="a").count(3)
    3
    """
    rows = _edges_of_csv(edges) if isinstance(edges, (str, os.PathLike, FileContent)) else collection(edges, "edges")
    moves: dict[State, dict[Symbol, State]] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, (tuple, list)) or len(row) != 2 or not all(map(is_hashable, row)):
            raise InvalidValue(f"edge {number} must be a pair (source, target) of hashable states")
        moves.setdefault(row[0], {})[row[1]] = row[1]
    if not moves:
        raise InvalidValue("an edge list must have at least one edge: pass for example [('a', 'b')]")
    return TransitionSystem(moves, start=start, accepting=accepting)


def _edges_of_csv(file: AnyFile) -> Iterator[tuple[str, str]]:
    name = file_name(file)
    rows = csv.reader(io.StringIO(read_text(file).rstrip("\r\n"), newline=""), strict=True, skipinitialspace=True)
    try:
        header = next(rows, [])
        source, target = _columns(header, name)
        row = None
        for row in rows:
            where = f"{name}, line {rows.line_num}"
            if not row:
                raise InvalidValue(f"{where} is empty: write one edge on each line")
            if len(row) <= max(source, target) or not row[source] or not row[target]:
                raise InvalidValue(f"{where}: the source or the target is missing: is the file cut off?")
            if len(row) != len(header):
                raise InvalidValue(
                    f"{where} has {len(row)} fields, but the header names {len(header)} columns: correct it"
                )
            yield row[source], row[target]
        if row is None:
            raise InvalidValue(f"{name} has a header, but no edges: write one edge on each line")
    except csv.Error as error:
        raise InvalidValue(f"{name} is not valid CSV ({error}): is the file cut off?") from None


def _columns(header: list[str], file: str) -> tuple[int, int]:
    """Where the columns source and target are."""
    for delimiter, name in {";": "semicolons", "\t": "tabs", "|": "vertical bars"}.items():
        if len(header) == 1 and delimiter in header[0]:
            raise InvalidValue(f"{file} has {name} between its columns: write it with commas")
    if not {"source", "target"} <= set(header):
        raise InvalidValue(f"{file} needs a header line that names the columns source and target: write source,target")
    repeated = next((column for column, times in Counter(header).items() if times > 1), None)
    if repeated is not None:
        raise InvalidValue(f'{file} has more than one column "{repeated[:20]}": give each column a name of its own')
    return header.index("source"), header.index("target")
