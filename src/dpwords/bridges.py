"""Transition systems from files and edge lists; what is not deterministic is refused by name."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dpwords.automata import State
from dpwords.checks import collection
from dpwords.errors import InvalidValue
from dpwords.files import read_text
from dpwords.systems import TransitionSystem
from dpwords.words import Symbol, is_hashable


def from_edges(
    edges: str | os.PathLike[str] | Iterable[tuple[State, State]],
    start: State | None = None,
    accepting: Iterable[State] | None = None,
) -> TransitionSystem:
    """Words of states on a directed graph; `start=None` lets a run start anywhere.

    `edges` are pairs (source, target), or the path of a CSV file with a header that names the columns `source` and
    `target`; other columns are left alone, and states are text.

    >>> from_edges([("a", "b"), ("b", "a"), ("b", "b")], start="a").count(3)
    3
    """
    rows = _edges_of_csv(Path(edges)) if isinstance(edges, (str, os.PathLike)) else collection(edges, "edges")
    moves: dict[State, dict[Symbol, State]] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, (tuple, list)) or len(row) != 2 or not all(map(is_hashable, row)):
            raise InvalidValue(f"edge {number} is not a pair (source, target) of hashable states")
        moves.setdefault(row[0], {})[row[1]] = row[1]
    if not moves:
        raise InvalidValue("an edge list has at least one edge, and this one has none")
    return TransitionSystem(moves, start=start, accepting=accepting)


def from_json(path: str | os.PathLike[str]) -> TransitionSystem:
    """A system from a JSON file {"start": …, "accepting": […]?, "transitions": {state: {action: state}}}.

    States are text; `"start": null` lets runs start anywhere, for words of states.
    """
    name, text = Path(path).name, read_text(path)
    try:
        document = json.loads(text, object_pairs_hook=_keep_repeated)
    except json.JSONDecodeError as error:
        raise InvalidValue(
            f"{name} is not valid JSON (line {error.lineno}, column {error.colno}): is the file cut off?"
        ) from None
    except (RecursionError, ValueError):
        raise InvalidValue(f"{name} is JSON, but no transition system: see the documentation of from_json") from None
    if not isinstance(document, dict) or not {"start", "transitions"} <= document.keys():
        raise InvalidValue(f'{name} needs the keys "start" and "transitions": see the documentation of from_json')
    accepting = document.get("accepting")
    if not (accepting is None or isinstance(accepting, list)):
        raise InvalidValue(f'{name}: "accepting" is a list of states: write ["{accepting}"]')
    for where, state in _states_named(document, accepting or []):
        if isinstance(state, (int, float)):
            raise InvalidValue(f'{name}, {where}: states are text in JSON, write "{state}"')
    try:
        return TransitionSystem(document["transitions"], document["start"], accepting)
    except InvalidValue as error:
        raise type(error)(f"{name}: {error}") from None


def _edges_of_csv(path: Path) -> Iterator[tuple[str, str]]:
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True, skipinitialspace=True)
    try:
        if not {"source", "target"} <= set(rows.fieldnames or ()):
            raise InvalidValue(f"{path.name} needs a header line that names the columns source and target")
        for row in rows:
            if not row["source"] or not row["target"]:
                raise InvalidValue(f"{path.name}, line {rows.line_num}: source or target is missing")
            yield row["source"], row["target"]
    except csv.Error as error:
        raise InvalidValue(f"{path.name} is not valid CSV ({error}): is the file cut off?") from None


def _keep_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object in which a key that stands twice keeps the list of its values, so that it can be refused."""
    values: dict[str, list[Any]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def _states_named(document: dict[str, Any], accepting: list[Any]) -> Iterator[tuple[str, Any]]:
    """Every value of a JSON system that should be a state, with its place."""
    yield "start", document["start"]
    yield from (("accepting", state) for state in accepting)
    rows = document["transitions"]
    for state, row in rows.items() if isinstance(rows, dict) else ():
        for action, target in row.items() if isinstance(row, dict) else ():
            yield f"state {state}, action {action}", target
