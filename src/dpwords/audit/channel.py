"""The exact ε of any finite channel, in any form in which it can be given, under any distance between its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.audit.exact import measured
from dpwords.core.checks import positive_number, whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.scaled import Floats
from dpwords.core.symbols import is_hashable
from dpwords.errors import InvalidValue, TooLarge, within_memory
from dpwords.mechanisms.private import Progress
from dpwords.privacy.guarantees import keeps, steps_of
from dpwords.spaces import exhaustive

ChannelDistances = str | Callable[[Any, Any], float] | Sequence[Any] | Floats
_SUM = 1e-6  # how far from 1 the sum of a row may be
_KINDS = "distances are 'hamming', 'levenshtein', 'any', a callable, or a matrix of numbers"
_RULE = "a distance is 0 or more (it may be infinite)"

_FORMS = "a matrix, (input, output, probability) rows, a dict of dicts, or a callable with inputs="
_COLUMNS = ("input", "output", "probability")


class ChannelTable(NamedTuple):
    """A channel: row x has the probability of each output at input x."""

    inputs: list[Any]
    outputs: list[Any]
    probabilities: NDArray[np.float64]


class ChannelWorst(NamedTuple):
    """The pair of inputs, and the output, with the largest loss per distance."""

    input: Any
    neighbour: Any
    output: Any
    distance: float
    loss: float


@dataclass(frozen=True)
class ChannelAudit:
    """The result of the exact audit of a channel."""

    epsilon: float  # the least ε with loss ≤ ε·distance, or ε·ceil(distance/k), for all pairs
    claimed: float | None
    worst: ChannelWorst | None  # None if all rows are equal
    inputs: int
    outputs: int
    compared: int  # pairs of inputs; those at infinite distance are not
    k: int
    losses: Mapping[float, float] = field(repr=False)  # the largest loss at each distance

    @property
    def pairs(self) -> int:
        """The number of pairs of inputs, compared or not."""
        return self.inputs * (self.inputs - 1) // 2

    @property
    def holds(self) -> bool | None:
        """Whether the claim holds; None without a claim."""
        return None if self.claimed is None else keeps(self.epsilon, self.claimed)

    @property
    def allowed(self) -> float | None:
        """The loss that was claimed for the distance of the worst pair; None without a claim."""
        if self.claimed is None or self.worst is None:
            return None
        return self.claimed * steps_of(self.worst.distance, self.k)

    def __str__(self) -> str:
        found = f"measured ε = {self.epsilon:.6g} over {self.inputs} inputs and {self.outputs} outputs"
        if self.compared < self.pairs:
            found += f" ({self.compared} of {self.pairs} pairs compared, the others are at infinite distance)"
        if self.claimed is None:
            return found
        return f"{found}, claimed {self.claimed:.6g}: {'holds' if self.holds else 'BROKEN'}"


@within_memory()
def channel(
    matrix: Any,
    distances: ChannelDistances,
    *,
    inputs: Sequence[Any] | None = None,
    outputs: Sequence[Any] | None = None,
    claimed: float | None = None,
    k: int = 1,
    progress: Progress = iter,
) -> ChannelAudit:
    """The least ε such that `|ln p(w;x)/p(w;x′)|` ≤ ε·distance for all pairs of inputs and all outputs of a channel.

    The channel is a matrix (an array or a list of lists) with a row of probabilities for each input; or tuples (input,
    output, probability), or a table with these three columns; or a dict {input: {output: probability}}; or a callable
    that returns such a dict, or pairs, for each of the `inputs`. Pairs that a table does not name have probability 0.
    Rows have to sum to 1 within 10⁻⁶. `inputs` and `outputs` name the rows and columns of a matrix, by default with
    numbers from 0 on.

    `distances` are "hamming" or "levenshtein" for inputs that are words, "any" if any two inputs are neighbours, at
    distance 1, a callable that takes two inputs, or a matrix. With a `k`, ceil(distance/k) counts instead of the
    distance. ε is infinite if an output is possible for one of two inputs only, or if inputs at distance 0 have
    different rows. Inputs at infinite distance are not compared; under Hamming distance these are words of different
    lengths. Raises `InvalidValue` if no two inputs can be compared. Cost: inputs² · outputs.

    >>> import math
    >>> found = channel([[0.75, 0.25], [0.25, 0.75]], [[0, 1], [1, 0]], claimed=1)
    >>> round(found.epsilon, 4), round(math.log(3), 4), found.holds
    (1.0986, 1.0986, False)
    """
    if claimed is not None:
        claimed = positive_number(claimed, "claimed", "claimed=1.0", zero_allowed=True)
    k = whole_number(k, "k", 1)
    table = table_of(matrix, inputs, outputs)
    _check_table(table)
    apart = _apart(distances, table.inputs)
    compared = int(np.isfinite(apart).sum() - len(apart)) // 2
    if not compared:
        raise InvalidValue(
            "any two inputs are at infinite distance, as words of different lengths are under Hamming distance, so "
            "nothing can be compared: choose any, levenshtein, or a matrix of distances"
        )
    with np.errstate(divide="ignore"):
        logs = np.log(table.probabilities)
    epsilon, found, losses = measured(logs, apart, k, progress)
    worst = None
    if found is not None:
        one, other, output, loss = found
        far = float(apart[one, other])
        far = int(far) if far.is_integer() else far
        worst = ChannelWorst(table.inputs[one], table.inputs[other], table.outputs[output], far, loss)
    return ChannelAudit(epsilon, claimed, worst, len(table.inputs), len(table.outputs), compared, k, losses)


def _check_table(table: ChannelTable) -> None:
    proportions, names = table.probabilities, table.inputs
    rows, columns = proportions.shape
    if rows > DEFAULTS.channel_inputs or rows**2 * columns > DEFAULTS.channel_steps:
        raise TooLarge(
            f"a channel can have at most {DEFAULTS.channel_inputs} inputs, and inputs² · outputs at most "
            f"{DEFAULTS.channel_steps:.1e}, and this has {rows} inputs and {columns} outputs: audit a part of it"
        )
    if rows < 2:
        raise InvalidValue("a channel needs at least two inputs, or there is nothing to tell apart: add rows")
    wrong = ~(proportions >= 0)
    if wrong.any():
        raise InvalidValue(
            f"a probability of input {_named(names[_first(wrong)])} is negative or not a number: correct it"
        )
    off = ~(np.abs(proportions.sum(axis=1) - 1) <= _SUM)
    if off.any():
        at = int(np.argmax(off))
        raise InvalidValue(
            f"the probabilities of input {_named(names[at])} sum to {proportions[at].sum():.9g}, not to 1 within "
            f"{_SUM:g}: complete them, or write more digits"
        )


def _apart(distances: ChannelDistances, inputs: Sequence[Any]) -> Floats:
    """The distance between any two inputs."""
    if isinstance(distances, str) and distances == "any":
        return 1.0 - np.eye(len(inputs))
    if isinstance(distances, str):
        return _between_words(distances, inputs)
    if callable(distances):
        try:
            found = np.array([[distances(one, other) for other in inputs] for one in inputs], dtype=np.float64)
        except MemoryError:
            raise
        except Exception as error:
            raise InvalidValue(
                f"the distance fails for some inputs ({type(error).__name__}): it takes two inputs"
            ) from None
    else:
        try:
            found = np.array(distances, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidValue(_KINDS) from None
        if found.shape != (len(inputs), len(inputs)):
            raise InvalidValue(f"the matrix of distances needs {len(inputs)} rows and columns, one for each input")
    if not (found >= 0).all():
        raise InvalidValue(f"{_RULE}: correct that of input {_named(inputs[_first(~(found >= 0))])}")
    if found.diagonal().any():
        raise InvalidValue("the distance of an input from itself is 0: correct the diagonal")
    if not (found == found.T).all():
        raise InvalidValue(
            f"distances are symmetric: correct those of input {_named(inputs[_first(found != found.T)])}"
        )
    return found


def _between_words(kind: str, inputs: Sequence[Any]) -> Floats:
    if kind not in ("hamming", "levenshtein"):
        raise InvalidValue(_KINDS)
    if not all(isinstance(word, (str, tuple, list)) for word in inputs):
        raise InvalidValue(f"{kind} distance is for inputs that are words: pass inputs=['aa', 'ab', …], or a matrix")
    words = [tuple(word) for word in inputs]
    if kind == "levenshtein":
        return exhaustive.distances(words, "levenshtein").astype(np.float64)
    found = np.full((len(words), len(words)), np.inf)
    for length in {len(word) for word in words}:
        same = [number for number, word in enumerate(words) if len(word) == length]
        found[np.ix_(same, same)] = exhaustive.distances([words[number] for number in same])
    return found


def _first(wrong: NDArray[np.bool_]) -> int:
    """The first row that has something wrong."""
    return int(np.argmax(wrong.any(axis=1)))


def _named(label: Any) -> str:
    return repr(label)[:60]


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
        raise InvalidValue("probabilities are numbers, and one of them is something else: correct it") from None
