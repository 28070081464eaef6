"""Transition systems from files: JSON, CSV, GraphML, maps drawn with characters, and any of them by its suffix."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from xml.parsers import expat

from dpwords.bridges.dot import from_dot
from dpwords.bridges.packages import from_networkx
from dpwords.core.checks import collection, optional
from dpwords.core.files import AnyFile, FileContent, csv_rows, file_name, naming, read_bytes, read_text
from dpwords.core.symbols import Symbol, is_hashable
from dpwords.errors import InvalidValue, TooLarge, named, within_memory
from dpwords.languages.exploring import State
from dpwords.languages.systems import LARGEST_GRID, GridWorld, TransitionSystem

_FORM = 'write {"start": "s0", "transitions": {"s0": {"action": "s1"}}}'
_KEYS = ("start", "accepting", "transitions", "positions")


class _Repeated(list[Any]):
    """The values of a key that a JSON object has more than once."""


@within_memory()
def from_json(path: AnyFile) -> TransitionSystem:
    """A system from a JSON file {"start": …, "accepting": […], "transitions": {state: {action: state}}}.

    The keys "accepting" and "positions", {state: [x, y]} for pictures, are optional; other keys are refused. States are
    strings; `"start": null` lets runs start in any state, for words of states. Cost: the size of the file.
    """
    name, text = file_name(path), read_text(path)
    try:
        document = json.loads(text, object_pairs_hook=_keep_repeated)
    except json.JSONDecodeError as error:
        raise InvalidValue(
            f"{name} is not valid JSON (line {error.lineno}, column {error.colno}): is the file cut off?"
        ) from None
    except (RecursionError, ValueError):
        raise InvalidValue(f"{name} is JSON but not a transition system: {_FORM}") from None
    if not isinstance(document, dict) or not {"start", "transitions"} <= document.keys():
        raise InvalidValue(f'{name} needs the keys "start" and "transitions": {_FORM}')
    for key, value in document.items():
        if key not in _KEYS:
            likely = get_close_matches(key, _KEYS, n=1) or [", ".join(_KEYS)]
            raise InvalidValue(f'{name} has an unknown key "{key[:20]}": leave it out, or write {likely[0]}')
        if isinstance(value, _Repeated):
            raise InvalidValue(f'{name} has the key "{key}" more than once: keep one of them')
    accepting = document.get("accepting")
    if not (accepting is None or isinstance(accepting, list)):
        raise InvalidValue(f'{name}: "accepting" must be a list of states: write ["{accepting}"]')
    for where, state in _states_named(document, accepting or []):
        if isinstance(state, (int, float)):
            raise InvalidValue(f'{name}, {where}: states must be strings in JSON: write "{json.dumps(state)}"')
        if not isinstance(state, str):
            raise InvalidValue(f'{name}, {where}: states must be strings in JSON: write for example "s0"')
    with naming(path):
        return TransitionSystem(document["transitions"], document["start"], accepting, document.get("positions"))


def _keep_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict in which a repeated key has the list of its values, so that it can be refused later."""
    values: dict[str, _Repeated] = {}
    for name, value in pairs:
        values.setdefault(name, _Repeated()).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def _states_named(document: dict[str, Any], accepting: list[Any]) -> Iterator[tuple[str, Any]]:
    """Every value in a JSON system that should be a state, with a text that says where it is."""
    if document["start"] is not None:
        yield "start", document["start"]
    yield from (("accepting", state) for state in accepting)
    rows = document["transitions"]
    for state, row in rows.items() if isinstance(rows, dict) else ():
        for action, target in row.items() if isinstance(row, dict) else ():
            if isinstance(target, list):
                continue  # more than one state, which the system refuses
            yield f"state {state}, action {action}", target


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
    rows = csv_rows(file, skipinitialspace=True)
    _, header = next(rows, (0, []))
    source, target = _columns(header, name)
    number = 0
    for number, row in rows:
        where = f"{name}, line {number}"
        if not row:
            raise InvalidValue(f"{where} is empty: write one edge on each line")
        if len(row) <= max(source, target) or not row[source] or not row[target]:
            raise InvalidValue(f"{where}: the source or the target is missing: is the file cut off?")
        if len(row) != len(header):
            raise InvalidValue(f"{where} has {len(row)} fields, but the header names {len(header)} columns: correct it")
        yield row[source], row[target]
    if not number:
        raise InvalidValue(f"{name} has a header, but no edges: write one edge on each line")


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


_MEANING = {"#": "wall", "S": "start", "G": "goal", ".": "free", " ": "free"}


def from_map(text: str | os.PathLike[str] | FileContent, stay: bool = False) -> GridWorld:
    """A grid world from a map: `#` is a wall, `S` the start, `G` a goal, `.` or a space a free cell.

    With goals, runs end in one of them; without an S, a run starts in any cell (for words of states). All lines need
    the same length; empty lines at the beginning and at the end are left out. `text` is the map itself, or the path of
    a file as a `Path`. Cost: the number of cells.

    >>> world = from_map('''
    ... S.#
    ... ..G
    ... ''')
    >>> world.start, world.accepts("SEE"), world.accepts("S")
    ((0, 0), True, False)
    """
    if not isinstance(text, (os.PathLike, FileContent)):
        if isinstance(text, str) and _may_be_a_file(text):
            raise InvalidValue("a map is a text of lines: to read it from a file, pass from_map(Path('map.txt'))")
        return _world(text, stay)
    content = read_text(text)
    with naming(text):
        return _world(content, stay)


def _may_be_a_file(text: str) -> bool:
    """Whether a text is no map, but looks like the name of a file."""
    return "\n" not in text and bool(Path(text).suffix[1:]) and not set(text) <= set(_MEANING)


def _world(text: object, stay: bool) -> GridWorld:
    if not isinstance(text, str) or not any(text.splitlines()):
        raise InvalidValue("a map must be a text with cells, or the path of a file: pass for example 'S.#\\n..G'")
    lines = text.splitlines()
    while not lines[-1]:
        lines.pop()
    first = next(number for number, line in enumerate(lines) if line)
    size = len(lines) - first, len(lines[first])
    if size[0] * size[1] > LARGEST_GRID:
        raise TooLarge(f"a map can have at most {LARGEST_GRID} cells: use a smaller one")
    cells: dict[str, list[tuple[int, int]]] = {meaning: [] for meaning in _MEANING.values()}
    for row, line in enumerate(lines[first:]):
        where = f"line {first + row + 1} of the map"
        if len(line) != len(lines[first]):
            raise InvalidValue(f"{where} has {len(line)} cells, and the first {len(lines[first])}: fill up with #")
        for column, mark in enumerate(line):
            if mark not in _MEANING:
                raise InvalidValue(f"{where}, column {column + 1}, is none of # S G . and the space: correct it")
            cells[_MEANING[mark]].append((row, column))
    starts = cells["start"]
    if len(starts) > 1:
        raise InvalidValue(f"the map has {len(starts)} starts: mark one cell with S")
    return GridWorld(*size, starts[0] if starts else None, cells["wall"], stay, goal=cells["goal"] or None)


@within_memory()
def from_graphml(
    path: AnyFile,
    start: State | None = None,
    action: str | None = None,
    accepting: Iterable[State] | None = None,
    node_type: Callable[[str], Any] = str,
) -> TransitionSystem:
    """A system from a GraphML file with a directed graph, as osmnx, networkx, Gephi or yEd write it.

    `start` and `action` are those of `from_networkx`. The states are the ids of the nodes, as text; `node_type=int`
    makes numbers of them, as in graphs of osmnx. Document type declarations, and with them entities, are refused.
    Cost: the size of the file; about 1 KiB of memory for each node and edge.
    """
    name, content = file_name(path), read_bytes(path)
    networkx = optional("networkx", "networkx", "GraphML files")
    from xml.etree.ElementTree import ParseError

    _check_xml(name, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # attributes of an undeclared type are read as text
            graph = networkx.read_graphml(io.BytesIO(content), node_type=node_type)
    except (networkx.NetworkXException, ParseError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InvalidValue(f"{name} is XML but no GraphML that networkx can read ({reason}): export it again") from None
    if not graph.is_directed():
        raise InvalidValue(f'{name} has no directions, and moves have: export it with edgedefault="directed"')
    with naming(path):
        return from_networkx(graph, start, action, accepting)


def _check_xml(name: str, content: bytes) -> None:
    """Raise `InvalidValue` for XML that is not well-formed, has a DOCTYPE, or has an edge without source or target."""

    def refuse(*_declaration: object) -> None:
        raise InvalidValue(f"{name} has a document type declaration (DOCTYPE), which is refused for safety: remove it")

    def check_edge(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "edge" and not {"source", "target"} <= attributes.keys():
            line = parser.CurrentLineNumber
            raise InvalidValue(f"{name}, line {line}: the source or the target of an edge is missing")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = check_edge
    try:
        parser.Parse(content, True)
    except InvalidValue:
        raise
    except expat.ExpatError as error:
        reason = f"line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}"
        raise InvalidValue(f"{name} is not valid XML ({reason}): is the file cut off?") from None
    except (LookupError, ValueError):
        raise InvalidValue(f"{name} is in an encoding that cannot be read: convert it to UTF-8") from None


class SystemFile(NamedTuple):
    """A kind of file: what reads it, and the options that this takes."""

    load: Callable[..., TransitionSystem]
    options: tuple[str, ...] = ()


SYSTEM_FILES = {
    ".json": SystemFile(from_json),
    ".csv": SystemFile(from_edges, ("start",)),
    ".dot": SystemFile(from_dot, ("start", "symbols")),
    ".gv": SystemFile(from_dot, ("start", "symbols")),
    ".graphml": SystemFile(from_graphml, ("start", "action")),
    ".txt": SystemFile(from_map),
}


def read_system(
    file: AnyFile, words: str | None, start: str | None, action: str | None, symbols: str | None = None
) -> TransitionSystem:
    """The system in a file. Options that have no effect on it are refused; `words` are "moves", "states" or None."""
    suffix = PurePath(file_name(file)).suffix.lower()
    if suffix not in SYSTEM_FILES:
        *others, last = SYSTEM_FILES
        raise InvalidValue(
            f"a system must be a grid or a file: write grid:15x15, or name a file that ends in "
            f"{', '.join(others)} or {last}"
        )
    load, options = SYSTEM_FILES[suffix]
    values = {"start": start, "action": action, "symbols": symbols}
    given = {name: value for name, value in values.items() if value is not None}
    for name in given:
        if name not in options:
            raise InvalidValue(f"{named(name)} has no effect on a {suffix} file: leave it out")
    if words == "moves" and suffix in (".csv", ".graphml") and action is None:
        more = f", or name the edge attribute that has the moves with {named('action')}" if "action" in options else ""
        raise InvalidValue(
            f"a {suffix} file has words of states only, not of moves: leave out {named('words', 'moves')}{more}"
        )
    return load(file, **given)
