"""Channels and distances from CSV files: a matrix with labels, or a row for each pair of labels."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dpwords.core.files import AnyFile, file_name, read_text
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue

ChannelRow = tuple[str, str, float]
_HEADER = ("input", "output", "probability")


def read_channel(file: AnyFile, limits: Limits = DEFAULTS) -> list[ChannelRow]:
    """The rows (input, output, probability) of a CSV file.

    The file either has these three columns, under these names and in any order, or is a matrix: the outputs are in its
    first line after a corner that may be empty, and each other line has an input and its probabilities. Cost: the size
    of the file.
    """
    name = file_name(file)
    lines = _lines(file, limits)
    header = [cell.strip().lower() for cell in lines[0][1]]
    if sorted(header) != sorted(_HEADER):
        return list(_matrix(lines, name))
    for number, cells in lines:
        if len(cells) != 3:
            raise InvalidValue(f"line {number} of {name} has {len(cells)} columns: write {', '.join(_HEADER)}")
    given, output, proportion = (header.index(column) for column in _HEADER)
    return [(cells[given], cells[output], _number(cells[proportion], number, name)) for number, cells in lines[1:]]


def read_distances(file: AnyFile, inputs: Iterable[str], limits: Limits = DEFAULTS) -> Callable[[str, str], float]:
    """The distance of two inputs, from a CSV file with a matrix whose lines and columns are labelled with the inputs.

    Raises `InvalidValue` if one of the inputs is missing. Cost: the size of the file.
    """
    name = file_name(file)
    found = {(one, other): distance for one, other, distance in _matrix(_lines(file, limits), name)}
    wanted = [*inputs]
    lines, columns = ({pair[side] for pair in found} for side in (0, 1))
    missing = next((one for one in wanted if one not in lines or one not in columns), None)
    if missing is not None:
        raise InvalidValue(f"{name} has no line or no column for input {missing[:60]!r}: add it")
    return lambda one, other: found[one, other]


def _matrix(lines: list[tuple[int, list[str]]], name: str) -> Iterator[ChannelRow]:
    columns = lines[0][1][1:]
    twice = next((label for label, times in Counter(columns).items() if times > 1), None)
    if twice is not None:
        raise InvalidValue(f"two columns of {name} are called {twice[:60]!r}: name each once")
    seen: set[str] = set()
    for number, (label, *cells) in lines[1:]:
        if len(cells) != len(columns):
            raise InvalidValue(
                f"line {number} of {name} has {len(cells)} numbers for {len(columns)} columns: write a label and a "
                "number for each column"
            )
        if label in seen:
            raise InvalidValue(f"two lines of {name} are called {label[:60]!r}: name each once")
        seen.add(label)
        for column, cell in zip(columns, cells, strict=True):
            yield label, column, _number(cell, number, name)


def _lines(file: AnyFile, limits: Limits) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers."""
    name = file_name(file)
    reader = csv.reader(read_text(file, limits).splitlines(keepends=True), strict=True)
    try:
        found = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InvalidValue(f"line {reader.line_num} of {name} is not CSV ({error}): correct it") from None
    if len(found) < 2 or len(found[0][1]) < 2:
        raise InvalidValue(f"{name} has no table: write a line of labels, and a line for each input")
    return found


def _number(cell: str, line: int, name: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InvalidValue(f"line {line} of {name} has something that is not a number: correct it") from None
