"""Tables of probabilities and distances from files: Markov chains, channels, and matrices with labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dpwords.core.files import AnyFile, csv_rows, file_name, read_text
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.languages.systems import ANY_START, written

ChannelRow = tuple[str, str, float]
_HEADER = ("input", "output", "probability")  # of a channel
_COLUMNS = ["state", "symbol", "probability"]  # of a chain
_FORMS = 'write {"state": {"symbol": 0.5, …}, …} into a .json file, or state,symbol,probability into a .csv file'


def read_chain(file: AnyFile, language: Language) -> dict[Any, dict[Any, float]]:
    """The table {state: {symbol: probability}} of a file, with the states and symbols of a language.

    States are those of the system, and on free words the symbol before; "" is the start of a word (and of a system that
    may start anywhere). Names that the language does not have are refused. Cost: the size of the file, and the states.
    """
    name = file_name(file)
    steps = _from_json(file, name) if name.lower().endswith(".json") else _from_csv(file, name)
    symbols = {written(symbol): symbol for symbol in language.alphabet.symbols}
    states = _states(language)
    table: dict[Any, dict[Any, float]] = {}
    for where, state, symbol, proportion in steps:
        if state not in states:
            raise InvalidValue(f"{name}, {where}: the language has no such state: leave it out, or check its name")
        if symbol not in symbols:
            raise InvalidValue(f"{name}, {where}: the alphabet has no such symbol: leave it out, or check its name")
        row = table.setdefault(states[state], {})
        if symbols[symbol] in row:
            raise InvalidValue(f"{name}, {where}: this step is there twice: keep one of them")
        row[symbols[symbol]] = proportion
    if not table:
        raise InvalidValue(f"{name} has no steps: {_FORMS}")
    return table


def _states(language: Language) -> dict[str, Any]:
    """The states by their names."""
    if language.alike:
        return {"": None} | {written(symbol): symbol for symbol in language.alphabet.symbols}
    places = {language.place(state) for state in language.explored().states}
    return {"" if place is ANY_START else written(place): None if place is ANY_START else place for place in places}


def _from_json(file: AnyFile, name: str) -> Iterator[tuple[str, str, str, float]]:
    try:
        document = json.loads(read_text(file))
    except (RecursionError, ValueError):
        raise InvalidValue(f"{name} is not valid JSON: {_FORMS}") from None
    if not isinstance(document, dict):
        raise InvalidValue(f"{name} is JSON, but no table of probabilities: {_FORMS}")
    for number, (state, row) in enumerate(document.items(), start=1):
        if not isinstance(row, dict):
            raise InvalidValue(f"{name}, state {number}: its value is no object: {_FORMS}")
        for symbol, proportion in row.items():
            if isinstance(proportion, bool) or not isinstance(proportion, (int, float)):
                raise InvalidValue(f"{name}, state {number}: a probability is no number: {_FORMS}")
            yield f"state {number}", state, symbol, float(proportion)


def _from_csv(file: AnyFile, name: str) -> Iterator[tuple[str, str, str, float]]:
    rows = csv_rows(file)
    if next(rows, (0, []))[1] != _COLUMNS:
        raise InvalidValue(f"{name} needs the header {','.join(_COLUMNS)}: {_FORMS}")
    for number, row in rows:
        where = f"line {number}"
        if len(row) != len(_COLUMNS):
            raise InvalidValue(f"{name}, {where} has {len(row)} fields instead of 3: is the file cut off?")
        try:
            yield where, row[0], row[1], float(row[2])
        except ValueError:
            raise InvalidValue(f"{name}, {where}: the probability is no number: {_FORMS}") from None


def read_channel(file: AnyFile) -> list[ChannelRow]:
    """The rows (input, output, probability) of a CSV file.

    The file either has these three columns, under these names and in any order, or is a matrix: the outputs are in its
    first line after a corner that may be empty, and each other line has an input and its probabilities. Cost: the size
    of the file.
    """
    name = file_name(file)
    lines = _lines(file)
    header = [cell.strip().lower() for cell in lines[0][1]]
    if sorted(header) != sorted(_HEADER):
        return list(_matrix(lines, name))
    for number, cells in lines:
        if len(cells) != 3:
            raise InvalidValue(f"line {number} of {name} has {len(cells)} columns: write {', '.join(_HEADER)}")
    given, output, proportion = (header.index(column) for column in _HEADER)
    return [(cells[given], cells[output], _number(cells[proportion], number, name)) for number, cells in lines[1:]]


def read_distances(file: AnyFile, inputs: Iterable[str]) -> Callable[[str, str], float]:
    """The distance of two inputs, from a CSV file with a matrix whose lines and columns are labelled with the inputs.

    Raises `InvalidValue` if one of the inputs is missing. Cost: the size of the file.
    """
    name = file_name(file)
    found = {(one, other): distance for one, other, distance in _matrix(_lines(file), name)}
    lines, columns = ({pair[side] for pair in found} for side in (0, 1))
    missing = next((one for one in inputs if one not in lines or one not in columns), None)
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


def _lines(file: AnyFile) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers."""
    found = [line for line in csv_rows(file) if line[1]]
    if len(found) < 2 or len(found[0][1]) < 2:
        raise InvalidValue(f"{file_name(file)} has no table: write a line of labels, and a line for each input")
    return found


def _number(cell: str, line: int, name: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InvalidValue(f"line {line} of {name} has something that is not a number: correct it") from None
