"""Markov chains from JSON and CSV files: how likely each step is, as a public assumption about private words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from dpwords.core.files import AnyFile, file_name, read_text
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.languages.systems import ANY_START, written

_COLUMNS = ["state", "symbol", "probability"]
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
    rows = csv.reader(io.StringIO(read_text(file).rstrip("\r\n"), newline=""), strict=True)
    try:
        if next(rows, []) != _COLUMNS:
            raise InvalidValue(f"{name} needs the header {','.join(_COLUMNS)}: {_FORMS}")
        for row in rows:
            where = f"line {rows.line_num}"
            if len(row) != len(_COLUMNS):
                raise InvalidValue(f"{name}, {where} has {len(row)} fields instead of 3: is the file cut off?")
            try:
                yield where, row[0], row[1], float(row[2])
            except ValueError:
                raise InvalidValue(f"{name}, {where}: the probability is no number: {_FORMS}") from None
    except csv.Error as error:
        raise InvalidValue(f"{name} is not valid CSV ({error}): is the file cut off?") from None
