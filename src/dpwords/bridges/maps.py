"""Grid worlds from maps drawn with characters."""

from __future__ import annotations

import os
from pathlib import Path

from dpwords.core.files import FileContent, file_name, read_text
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.systems import LARGEST_GRID, GridWorld

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
    try:
        return _world(content, stay)
    except InvalidValue as error:
        raise InvalidValue(f"{file_name(text)}: {error.message}") from None


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
