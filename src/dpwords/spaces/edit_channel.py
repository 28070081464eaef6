"""The distribution of what the edit channel makes of one word, and of its projection onto a language."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from dpwords.core import sampling
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue, TooLarge
from dpwords.privacy.channel_parameters import Channel
from dpwords.spaces.by_distance import batches

DELETED, KEPT, REPLACED = range(3)
EMPTY, DOUBLE, AROUND = range(3)
_PIECE = 2**18  # symbols of a word that are handled at a time
_MOST_ALIGNED = 10**11  # steps of one probability, some minutes
_MOST_EDITS = 2**24  # numbers of edits of which the distribution is computed
_NEGLIGIBLE = 1e-13  # probability of more edits than are listed
_MEASURE = "how far projected words are is not computed: measure it on words from simulate"


class CorruptedLaw:
    """The words that the edit channel makes of one, each with the sum of the probabilities of its alignments.

    Distances are numbers of edits made, an upper bound of the Levenshtein distance.
    """

    def __init__(self, codes: Integers, channel: Channel) -> None:
        self.codes, self.channel = codes, channel
        self._inserted = channel.log_insertions(0)

    def log_prob(self, codes: Integers) -> float:
        """Cost: length of the word · (length of the output)²."""
        steps = max(len(self.codes), 4) * len(codes) ** 2
        if steps > _MOST_ALIGNED:
            raise TooLarge(
                f"the probability of an output of {len(codes)} symbols at a word of {len(self.codes)} would take "
                f"{steps:.0e} steps, the limit is {_MOST_ALIGNED:.0e}: take shorter ones"
            )
        inserted = self._inserted  # a table of its own: another thread may put a shorter one in its place
        if len(codes) >= len(inserted):
            inserted = self._inserted = self.channel.log_insertions(2 * len(codes))
        kernel = import_module("dpwords._kernels.edit_channel")
        operations = self.channel.log_operations().tolist()
        return float(kernel.log_prob(self.codes, codes, *operations, inserted[: len(codes) + 1]))

    def draw(self, count: int, stream: Stream) -> list[Integers]:
        """Cost: the length of each word drawn."""
        return [word for part in batches(count, len(self.codes) + 1) for word in self._drawn(part, stream)]

    def distance_distribution(self) -> Floats:
        """The probability of 0, 1, 2, … edits, each to about 1e-15, until what is left is below 1e-13.

        Cost: edits · log edits.
        """
        size = self._listed_edits()
        angle = 2 * np.pi * np.arange(size) / size
        circle = -2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle)  # less 1
        transform = np.exp(self._log_edit_series(circle))
        return np.maximum(np.fft.fft(transform).real / size, 0.0)

    def expected_distance(self) -> float:
        return self.channel.edits(len(self.codes))

    def _drawn(self, part: slice, stream: Stream) -> list[Integers]:
        """One word for each entry of `part`: all of them at once, or, where the word is long, piece by piece."""
        number, length = part.stop - part.start, len(self.codes)
        pieces = [slice(begin, min(begin + _PIECE, length)) for begin in range(0, length, _PIECE)]
        drawn: list[list[Integers]] = [[] for _ in range(number)]
        for piece in pieces:
            symbols = np.tile(self.codes[piece], number)
            sizes, corrupted = self._corrupt(symbols, stream)
            ends = np.cumsum(sizes.reshape(number, -1).sum(axis=1))
            for row, word in zip(drawn, np.split(corrupted, ends[:-1]), strict=True):
                row.append(word)
        lengths = _tree_sizes(self.channel, number, stream)
        last = sampling.below(self.channel.symbols, (int(lengths.sum()),), stream)
        for row, word in zip(drawn, np.split(last, np.cumsum(lengths)[:-1]), strict=True):
            row.append(word)
        return [np.concatenate(row) for row in drawn]

    def _corrupt(self, symbols: Integers, stream: Stream) -> tuple[Integers, Integers]:
        """For each symbol an inserted word and what becomes of the symbol: how many symbols, and all in a row."""
        operation = sampling.choose(self.channel.operations, len(symbols), stream)
        replaced = operation == REPLACED
        other = sampling.below(max(self.channel.symbols - 1, 1), (int(replaced.sum()),), stream)
        emitted = symbols.copy()
        emitted[replaced] = other + (other >= symbols[replaced])
        stays = operation != DELETED
        sizes = _tree_sizes(self.channel, len(symbols), stream) + stays
        own = np.zeros(int(sizes.sum()), dtype=np.bool_)
        own[(np.cumsum(sizes) - 1)[stays]] = True
        result = np.empty(len(own), dtype=np.int64)
        result[own] = emitted[stays]
        result[~own] = sampling.below(self.channel.symbols, (int((~own).sum()),), stream)
        return sizes, result

    def _log_edit_series(self, more: Any) -> Any:
        """ln of Σ over edits of probability · s^edits, at s = 1 + more.

        For each symbol 1 or s, for each gap the series of a tree's size: 1 + G(s) − G(1), without cancellation.
        """
        deleted, _, replaced = self.channel.shares
        empty, double, around = self.channel.tree
        root = np.sqrt(1 - 4 * empty * (double + around * (1 + more)))
        grown = 4 * empty * around * more / (1 - 2 * double - 2 * around + root) / (1 + root)
        length = len(self.codes)
        return length * _log_of_one_and((deleted + replaced) * more) + (length + 1) * _log_of_one_and(grown)

    def _listed_edits(self) -> int:
        """A power of 2 beyond which there is next to nothing: P(edits ≥ T) ≤ Σ probability · s^(edits − T)."""
        logs = np.linspace(0.0, min(self.channel.log_radius, 40.0), 66)[1:-1]
        bound = (self._log_edit_series(np.expm1(logs)) - math.log(_NEGLIGIBLE)) / logs
        size = 1 << max(math.ceil(float(bound.min())), 1).bit_length()
        if size > _MOST_EDITS:
            raise TooLarge(f"the distribution of up to {size} edits is too much to list: expected_distance is enough")
        return size


class ProjectedLaw:
    """The nearest words of a language to those that the edit channel makes of one; they can be drawn, and no more."""

    def __init__(self, law: CorruptedLaw, project: Callable[[Integers], Integers]) -> None:
        self.law, self.project = law, project

    def log_prob(self, codes: Integers) -> float:
        raise InvalidValue(
            "the probability of a projected word is not computed, being a sum over all words that it is nearest to: "
            "ask the channel without_projection()"
        )

    def draw(self, count: int, stream: Stream) -> list[Integers]:
        """Cost: that of the channel, and of the projection for each word."""
        try:
            return [self.project(word) for word in self.law.draw(count, stream)]
        except TooLarge as error:  # about the noisy word; whoever tries until it fits chooses among draws
            raise TooLarge(f"{error} (a word was drawn: what it spends is spent)") from None

    def distance_distribution(self) -> Floats:
        raise InvalidValue(_MEASURE)

    def expected_distance(self) -> float:
        raise InvalidValue(_MEASURE)


def _log_of_one_and(x: Any) -> Any:
    """ln(1 + x), for complex x as well, where NumPy's own loses digits."""
    if not np.iscomplexobj(x):
        return np.log1p(x)
    return np.log1p(2 * x.real + np.abs(x) ** 2) / 2 + 1j * np.arctan2(x.imag, 1 + x.real)


def _tree_sizes(channel: Channel, count: int, stream: Stream) -> Integers:
    """The lengths of inserted words, each grown until no copy is left to be settled."""
    sizes = np.zeros(count, dtype=np.int64)
    growing, copies = np.arange(count), np.ones(count, dtype=np.int64)
    while len(growing):
        step = sampling.choose(channel.growth, len(growing), stream)
        sizes[growing[step == AROUND]] += 1
        copies = copies + np.where(step == EMPTY, -1, 1)
        left = copies > 0
        growing, copies = growing[left], copies[left]
    return sizes
