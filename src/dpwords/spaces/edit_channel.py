"""The edit channel, which makes random insertions, deletions and substitutions in a word.

Each symbol of a word is deleted, kept, or replaced by a uniformly drawn other symbol. Before, between and after the
symbols a random word is inserted, which grows like a binary tree: it is empty, or it consists of two independent random
words of the same kind side by side, or of two such words with a uniformly drawn symbol between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpwords.core import sampling, scaled
from dpwords.core.compiled import kernel
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import TooLarge

DELETED, KEPT, REPLACED = range(3)
EMPTY, DOUBLE, AROUND = range(3)
_NEGLIGIBLE = 1e-13  # bound on the probability of more edits than a distribution lists


@dataclass(frozen=True, eq=False)
class Channel:
    """The probabilities of an edit channel, exactly as they are drawn: each is a stored weight over its group's sum."""

    symbols: int  # in the alphabet
    operations: Scaled  # weights of what happens to a symbol: deleted, kept, replaced
    growth: Scaled  # weights of an inserted word: empty, two words, two words around a symbol

    @property
    def parameters(self) -> tuple[object, ...]:
        """All numbers that determine the channel, as values whose `repr` is exact."""
        weights = (*self.operations, *self.growth)
        return self.symbols, *(tuple(array.tolist()) for array in weights)

    @cached_property
    def probabilities(self) -> tuple[float, float, float]:
        """The probabilities that a symbol is deleted, kept, or replaced."""
        deleted, kept, replaced = (float(proportion) for proportion in sampling.probabilities(self.operations))
        return deleted, kept, replaced

    @cached_property
    def tree(self) -> tuple[float, float, float]:
        """The probabilities that an inserted word is empty, two words, or two words around a symbol."""
        empty, double, around = (float(proportion) for proportion in sampling.probabilities(self.growth))
        return empty, double, around

    @property
    def only_length_shows(self) -> bool:
        """Whether a symbol is no more likely to be kept than to be replaced by any given other symbol.

        The output then shows nothing of the word except its length.
        """
        _, kept, replaced = self.probabilities
        return self.symbols > 1 and kept <= replaced / (self.symbols - 1) * (1 + 1e-9)

    @cached_property
    def inserted(self) -> float:
        """The expected length of an inserted word."""
        _, double, around = self.tree
        return around / (1 - 2 * double - 2 * around)

    def edits(self, length: int) -> float:
        """The expected number of edits in a word of this length."""
        deleted, _, replaced = self.probabilities
        return length * (deleted + replaced) + (length + 1) * self.inserted

    @cached_property
    def log_radius(self) -> float:
        """ln of s*, the largest s for which Σ h(t)·s^t is finite; h(t) is the probability of t inserted symbols."""
        empty, double, _ = self.tree
        log_around = self.growth.logs()[2] - scaled.total(self.growth).logs()[0]
        return math.log(0.25 / empty - double) - float(log_around)

    def log_operations(self) -> Floats:
        """ln of the probabilities that a symbol is deleted, kept, or replaced by one given other symbol."""
        logs = self.operations.logs() - scaled.total(self.operations).logs()
        logs[2] -= math.log(max(self.symbols - 1, 1))
        return np.asarray(logs)

    def log_insertions(self, longest: int) -> Floats:
        """ln of the probability that one given word of 0, 1, …, `longest` symbols is inserted. Cost: longest²."""
        empty, double, _ = self.tree
        around = 0.25 / empty - double  # after multiplying the weight of each word of length t by s*^t
        first = 2 * empty / (1 + math.sqrt(1 - 4 * empty * double))
        lengths = np.zeros(longest + 1)
        lengths[0] = first
        for t in range(1, longest + 1):
            head = lengths[:t]
            joined = double * float(head[1:] @ head[:0:-1]) + around * float(head @ head[::-1])
            lengths[t] = joined / (1 - 2 * double * first)
        return np.asarray(np.log(lengths) - np.arange(longest + 1) * (self.log_radius + math.log(self.symbols)))


class CorruptedLaw:
    """The distribution of the edit channel's output at one word: probabilities are sums over alignments.

    Distances are numbers of edits made, which are upper bounds on the Levenshtein distance.
    """

    def __init__(self, codes: Codes, channel: Channel, limits: Limits = DEFAULTS) -> None:
        self.codes, self.channel, self.limits = codes, channel, limits
        self._inserted, self._operations = channel.log_insertions(0), channel.log_operations().tolist()

    def log_prob(self, codes: Codes) -> float:
        """ln of the probability of an output. Cost: length of the word · (length of the output)²."""
        steps = max(len(self.codes), 4) * len(codes) ** 2
        if steps > self.limits.alignment_steps:
            raise TooLarge(
                f"the probability of an output of {len(codes)} symbols at a word of {len(self.codes)} would take "
                f"{steps:.0e} steps, and the limit is {self.limits.alignment_steps:.0e}: use shorter words"
            )
        inserted = self._inserted  # a local reference, since another thread may replace the table by a shorter one
        if len(codes) >= len(inserted):
            inserted = self._inserted = self.channel.log_insertions(2 * len(codes))
        return float(kernel("edit_channel").log_prob(self.codes, codes, *self._operations, inserted[: len(codes) + 1]))

    def draw(self, count: int, stream: Stream) -> Ragged:
        """Independent outputs. Cost: their total length, and that of the words that go in."""
        return corrupted(np.broadcast_to(self.codes, (count, len(self.codes))), self.channel, stream, self.limits)

    def distance_distribution(self) -> Floats:
        """The probability of 0, 1, 2, … edits, each accurate to about 1e-15; all further ones sum to less than 1e-13.

        Cost: edits · log edits.
        """
        size = self._listed_edits()
        angle = 2 * np.pi * np.arange(size) / size
        circle = -2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle)  # e^(i·angle) − 1
        transform = np.exp(self._log_edit_series(circle))
        return np.maximum(np.fft.fft(transform).real / size, 0.0)

    def expected_distance(self) -> float:
        return self.channel.edits(len(self.codes))

    def _log_edit_series(self, more: Any) -> Any:
        """ln of the generating function Σ P(edits) · s^edits at s = 1 + more.

        It is a product with one factor for each symbol (unchanged or edited) and one for each gap: the generating
        function G of the inserted length, written as 1 + G(s) − G(1) to avoid cancellation.
        """
        deleted, _, replaced = self.channel.probabilities
        empty, double, around = self.channel.tree
        root = np.sqrt(1 - 4 * empty * (double + around * (1 + more)))
        grown = 4 * empty * around * more / (1 - 2 * double - 2 * around + root) / (1 + root)
        length = len(self.codes)
        return length * _log_of_one_and((deleted + replaced) * more) + (length + 1) * _log_of_one_and(grown)

    def _listed_edits(self) -> int:
        """A power of 2, T, such that P(edits ≥ T) is negligible, by the bound Σ P(edits) · s^(edits − T)."""
        logs = np.linspace(0.0, min(self.channel.log_radius, 40.0), 66)[1:-1]
        bound = (self._log_edit_series(np.expm1(logs)) - math.log(_NEGLIGIBLE)) / logs
        size = 1 << max(math.ceil(float(bound.min())), 1).bit_length()
        if size > self.limits.listed_edits:
            raise TooLarge(f"a distribution over {size} numbers of edits is too large: use expected_distance instead")
        return size


def corrupted(rows: Codes, channel: Channel, stream: Stream, limits: Limits = DEFAULTS) -> Ragged:
    """The channel's output for each row of codes. Cost: the number of symbols that go in and come out."""
    size = max(limits.piece // (rows.shape[1] + 1), 1)  # rows at a time; of a longer word, one piece at a time
    slices = [slice(begin, begin + size) for begin in range(0, len(rows), size)]
    parts = [_corrupted(rows[part], channel, stream.of(part), limits) for part in slices]
    ends = np.concatenate([[0], *(part.ends for part in parts)])
    before = np.cumsum([0] + [len(part.values) for part in parts])
    shift = np.repeat(before[:-1], [len(part) for part in parts])
    return Ragged(np.concatenate([part.values for part in parts]), ends[1:] + shift)


def _corrupted(rows: Codes, channel: Channel, stream: Stream, limits: Limits) -> Ragged:
    """The channel's output for one batch of rows."""
    number, length = rows.shape
    symbols = rows.reshape(-1).astype(np.int64)
    slices = [slice(begin, begin + limits.piece) for begin in range(0, len(symbols), limits.piece)]
    each = stream.repeated(np.full(number, length))
    pieces = [_corrupted_symbols(symbols[piece], channel, each.of(piece)) for piece in slices]
    sizes = np.concatenate([sizes for sizes, _ in pieces]) if pieces else np.zeros(0, dtype=np.int64)
    body = sizes.reshape(number, length).sum(axis=1)
    tails = _tree_sizes(channel, number, stream)  # lengths of the words inserted at the end of each row
    ends = np.cumsum(body + tails)
    at_end = np.zeros(int(ends[-1]), dtype=np.bool_)
    at_end[np.repeat(ends - np.cumsum(tails), tails) + np.arange(int(tails.sum()))] = True
    values = np.empty(len(at_end), dtype=np.int64)
    values[~at_end] = np.concatenate([found for _, found in pieces]) if pieces else 0
    values[at_end] = sampling.below(channel.symbols, (int(tails.sum()),), stream.repeated(tails))
    return Ragged(values, ends)


def _corrupted_symbols(symbols: Integers, channel: Channel, stream: Stream) -> tuple[Integers, Integers]:
    """For each symbol, the word inserted before it and the symbol's outcome: the number of symbols, and all of them."""
    operation = sampling.choose(channel.operations, len(symbols), stream)
    replaced = operation == REPLACED
    other = sampling.below(max(channel.symbols - 1, 1), (int(replaced.sum()),), stream.of(np.flatnonzero(replaced)))
    emitted = symbols.copy()
    emitted[replaced] = other + (other >= symbols[replaced])
    stays = operation != DELETED
    inserted = _tree_sizes(channel, len(symbols), stream)
    sizes = inserted + stays
    own = np.zeros(int(sizes.sum()), dtype=np.bool_)
    own[(np.cumsum(sizes) - 1)[stays]] = True
    result = np.empty(len(own), dtype=np.int64)
    result[own] = emitted[stays]
    result[~own] = sampling.below(channel.symbols, (int(inserted.sum()),), stream.repeated(inserted))
    return sizes, result


def _log_of_one_and(x: Any) -> Any:
    """ln(1 + x), also for complex x, for which NumPy's log1p loses digits."""
    if not np.iscomplexobj(x):
        return np.log1p(x)
    return np.log1p(2 * x.real + np.abs(x) ** 2) / 2 + 1j * np.arctan2(x.imag, 1 + x.real)


def _tree_sizes(channel: Channel, count: int, stream: Stream) -> Integers:
    """The lengths of `count` inserted words, each grown until no subtree is left open."""
    sizes = np.zeros(count, dtype=np.int64)
    growing, copies = np.arange(count), np.ones(count, dtype=np.int64)
    while len(growing):
        step = sampling.choose(channel.growth, len(growing), stream.of(growing))
        sizes[growing[step == AROUND]] += 1
        copies = copies + np.where(step == EMPTY, -1, 1)
        left = copies > 0
        growing, copies = growing[left], copies[left]
    return sizes
