"""The forms in which a channel can be given, as one: names of inputs and outputs, and a matrix of probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.core.symbols import is_hashable
from dpwords.errors import InvalidValue

_FORMS = "a matrix, (input, output, probability) rows, a dict of dicts, or a callable with inputs="
_NUMBERS = "probabilities are numbers"
_COLUMNS = ("input", "output", "probability")


class ChannelTable(NamedTuple):
    """A channel: row x has the probability of each output at input x."""

    inputs: list[Any]
    outputs: list[Any]
    probabilities: NDArray[np.float64]


def table_of(channel: Any, inputs: Sequence[Any] | None, outputs: Sequence[Any] | None) -> ChannelTable:
    """The table of a channel in any of its forms."""
    if callable(channel):
        if inputs is None:
            raise InvalidValue(
                "a callable lists the output distribution at an input: pass inputs=[…] to say which inputs there are"
            )
        distributions = {_label(each): _distribution(channel, each) for each in inputs}
        if len(distributions) < len(inputs):
            raise InvalidValue("an input is named twice: name each once")
        return _from_rows(
            ((x, w, p) for x, distribution in distributions.items() for w, p in distribution), inputs, outputs
        )
    if isinstance(channel, Mapping):
        if not all(isinstance(distribution, Mapping) for distribution in channel.values()):
            raise InvalidValue("a channel as a dict is {input: {output: probability}}: give each input a dict")
        rows = ((x, w, p) for x, distribution in channel.items() for w, p in distribution.items())
        return _from_rows(rows, inputs or list(channel), outputs)
    if hasattr(channel, "column_names") or hasattr(channel, "columns"):
        return _from_rows(_rows_of_table(channel), inputs, outputs)
    if isinstance(channel, str) or not isinstance(channel, Iterable):
        raise InvalidValue(f"a channel is {_FORMS}")
    listed = channel if isinstance(channel, np.ndarray) else list(channel)
    if (
        not isinstance(listed, np.ndarray)
        and listed
        and all(isinstance(row, tuple) and len(row) == 3 for row in listed)
        and not all(_is_law(row) for row in listed)
    ):
        return _from_rows(listed, inputs, outputs)
    return _from_matrix(listed, inputs, outputs)


def _is_law(row: tuple[Any, ...]) -> bool:
    """Whether a row is three probabilities rather than an input, an output and its probability."""
    return all(isinstance(each, (int, float)) and 0 <= each <= 1 for each in row) and abs(sum(row) - 1) < 1e-6


def _from_matrix(matrix: Any, inputs: Sequence[Any] | None, outputs: Sequence[Any] | None) -> ChannelTable:
    try:
        found = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue(f"the rows of a matrix have equally many numbers: a channel is {_FORMS}") from None
    if found.ndim != 2 or not found.size:
        raise InvalidValue(f"a matrix has a row for each input and a column for each output: a channel is {_FORMS}")
    named = []
    for given, size, what in zip((inputs, outputs), found.shape, ("input", "output"), strict=True):
        names = range(size) if given is None else given
        if len(names) != size:
            raise InvalidValue(f"there are {len(names)} names for {size} {what}s: name each {what} of the matrix once")
        labels = [_label(each) for each in names]
        if len(set(labels)) < size:
            raise InvalidValue(f"two {what}s have the same name: name each {what} of the matrix once")
        named.append(labels)
    return ChannelTable(named[0], named[1], found)


def _from_rows(rows: Iterable[Any], inputs: Sequence[Any] | None, outputs: Sequence[Any] | None) -> ChannelTable:
    """The table of rows (input, output, probability)."""
    fixed = inputs is not None, outputs is not None
    names: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
    for known, given in zip(names, (inputs, outputs), strict=True):
        known.update({_label(each): number for number, each in enumerate(given or ())})
    found: dict[tuple[int, int], float] = {}
    for row in rows:
        position = []
        for known, name, is_fixed, what in zip(names, row[:2], fixed, ("input", "output"), strict=True):
            label = _label(name)
            if is_fixed and label not in known:
                raise InvalidValue(f"the channel has an {what} that {what}s= does not name: add it there")
            position.append(known.setdefault(label, len(known)))
        if (position[0], position[1]) in found:
            raise InvalidValue(
                f"the pair {str(row[0])[:30]!r}, {str(row[1])[:30]!r} has two probabilities: give each pair once"
            )
        found[position[0], position[1]] = _number(row[2])
    if not found:
        raise InvalidValue(f"the channel has no rows: a channel is {_FORMS}")
    table = np.zeros((len(names[0]), len(names[1])))
    for at, proportion in found.items():
        table[at] = proportion
    return ChannelTable(list(names[0]), list(names[1]), table)


def _rows_of_table(table: Any) -> Iterable[tuple[Any, ...]]:
    """The rows of a pyarrow, pandas or polars table with three columns, in any order if they have their own names."""
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if len(names) != 3:
        raise InvalidValue(
            f"a table of a channel has 3 columns (input, output, probability), and this one {len(names)}"
        )
    if set(names) == set(_COLUMNS):
        names = list(_COLUMNS)
    columns = [table[name] for name in names]
    return zip(*(each.to_pylist() if hasattr(each, "to_pylist") else each.to_list() for each in columns), strict=True)


def _distribution(channel: Callable[[Any], Any], given: Any) -> list[tuple[Any, Any]]:
    distribution = channel(given)
    pairs = (
        list(distribution.items() if isinstance(distribution, Mapping) else distribution)
        if isinstance(distribution, Iterable)
        else [distribution]
    )
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in pairs):
        raise InvalidValue("the callable of a channel returns {output: probability} or pairs (output, probability)")
    return [(output, proportion) for output, proportion in pairs]


def _label(label: Any) -> Any:
    """A name that can be a key: lists become tuples."""
    if isinstance(label, list):
        label = tuple(label)
    if not is_hashable(label):
        raise InvalidValue("the name of an input or output is a str, a number or a tuple: use such names")
    return label


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidValue(f"{_NUMBERS}, and one of them is something else: correct it") from None
