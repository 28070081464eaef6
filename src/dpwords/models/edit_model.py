"""The population of words behind releases of the edit channel, which may have become longer or shorter.

Words may end after certain symbols, as traces of a process do, or have lengths that tell nothing about their symbols. A
chain with a chance to end after each symbol has lengths that real words seldom have. Where there is much noise, it uses
its freedom to explain lengths by symbols: if all words have the same length, it invents symbols for their beginnings
and ends. So a chain whose lengths tell nothing is fitted, too, and the one is taken that explains the symbols better,
given how long the releases are (docs/theory.md, section 15 d). The distribution of its lengths is estimated from the
lengths of the releases alone, and kept; given its length, a word is a Markov chain without an end. Sums over all true
words and alignments are exact, as in `alignments.py`, but go over the positions of the true word as well, so that they
are for short words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import estimates_refused
from dpwords.mechanisms.private import Private
from dpwords.models.alignments import Alignments, EditChain, EditChances, EndsAlike, OwnEnds, walked
from dpwords.models.checking import Misfit, misfit, simulated_words
from dpwords.models.fitting import EstimateMethod, Fit, ProgressLine, fit, normalised
from dpwords.models.refined import ModelKind
from dpwords.models.releases import Releases
from dpwords.models.tuning import (
    LENGTHS_MISSING,
    LENGTHS_ROUNDS,
    WHOLE_LENGTHS_STEPS,
)
from dpwords.spaces.edit_channel import Channel


def length_channel(channel: Channel, longest_true: int, longest_released: int, limits: Limits = DEFAULTS) -> Floats:
    """The probability of each released length j at each true length i, as entry [i, j] of a matrix.

    A word of i symbols has i + 1 gaps with an inserted word each, and each of its symbols is deleted or not. A row sums
    to 1 minus the probability of released words that are longer than `longest_released`.

    >>> from dpwords.privacy.channel_parameters import best_channel
    >>> length_channel(best_channel(symbols=4, rate=6), 2, 3).round(3)
    array([[0.99 , 0.01 , 0.   , 0.   ],
           [0.002, 0.978, 0.019, 0.   ],
           [0.   , 0.005, 0.966, 0.028]])

    Cost: longest_true · longest_released².
    """
    rows, columns = longest_true + 1, longest_released + 1
    steps, memory = rows * columns**2, 8 * rows * columns
    for need, limit, unit in [(steps, limits.length_steps, "steps"), (memory, limits.memory, "bytes")]:
        if need > limit:
            raise TooLarge(
                f"the lengths of words of up to {longest_true} symbols, released with up to {longest_released}, would "
                f"take {need:.0e} {unit}, and the limit is {limit:.0e}: use shorter words"
            )
    check_memory(memory)
    lengths = np.arange(columns)
    gap = np.exp(channel.log_insertions(longest_released) + lengths * np.log(channel.symbols))
    deleted, kept, replaced = channel.probabilities
    symbol_and_gap = np.convolve([deleted, kept + replaced], gap)[:columns]
    matrix = np.empty((rows, columns))
    matrix[0] = gap
    for i in range(1, rows):
        matrix[i] = np.convolve(matrix[i - 1], symbol_and_gap)[:columns]
    return matrix


def fit_lengths(counts: Floats, matrix: Floats) -> Floats:
    """Proportions of the true lengths that explain the numbers of released words of each length about as well as any
    can.

    `matrix` comes from `length_channel`, and counts[j] is the number of released words of length j. The search (EM)
    starts from equal proportions and improves them until no proportions can have a log-likelihood that is larger by
    0.1, which is no difference that data could show, or for 10,000 rounds. With little noise that takes tens of rounds,
    with much noise all of them. Cost: entries of the matrix for each round.

    >>> from dpwords.privacy.channel_parameters import best_channel
    >>> matrix = length_channel(best_channel(symbols=4, rate=6), 4, 3)
    >>> fit_lengths(np.array([0, 30, 970, 0]), matrix).round(2)
    array([0.  , 0.03, 0.97, 0.  , 0.  ])
    """
    seen = np.flatnonzero(counts)
    if not len(seen):
        raise InvalidValue("there are no released words to estimate lengths from: pass at least one")
    counts, matrix = np.asarray(counts, dtype=np.float64)[seen], matrix[:, seen]
    if not matrix.any(axis=0).all():
        raise InvalidValue("a released word is too long for these true lengths: allow longer true words")
    proportions = np.full(len(matrix), 1 / len(matrix))
    for _ in range(LENGTHS_ROUNDS):
        ratios = matrix @ (counts / (proportions @ matrix)) / counts.sum()
        proportions = proportions * ratios
        missing = counts.sum() * (ratios.max() - 1)  # at most: the log-likelihood is concave, and this is its slope
        if missing < LENGTHS_MISSING:
            break
    return proportions


def explained_lengths(counts: Floats, channel: Channel, limits: Limits = DEFAULTS) -> tuple[Floats, Floats]:
    """The proportions of the true lengths up to the longest likely one, and the probability of each pair of lengths."""
    longest = len(counts) - 1
    lost = 4 * np.sqrt(longest + 1) * channel.probabilities[0] ** 0.5  # symbols that the longest word may have lost
    matrix = length_channel(channel, longest + int(lost) + 1, longest, limits)
    return fit_lengths(counts, matrix), matrix


class SeenWords(NamedTuple):
    """Words seen through a channel, in the form that kernels take; `_kernels/edit_model.py` explains the fields."""

    first: Floats
    onward: Floats
    lengths: Floats
    gap: Floats
    deleted: float
    kept: float
    replaced: float


class LengthChain(EditChain):
    """Released words as evidence about the first symbol, and the one after each symbol.

    The parameters are a row of chances for the first symbol, and one for each symbol that others follow. Cost of a
    pass: see `forward` of the kernel.
    """

    def __init__(self, alignments: Alignments) -> None:
        super().__init__(alignments)
        counts = np.bincount(alignments.words.sizes, alignments.times).astype(np.float64)
        self.lengths, matrix = explained_lengths(counts, alignments.channel, alignments.limits)
        self._released = self.lengths @ matrix

    @classmethod
    def of(cls, alignments: Alignments) -> LengthChain | None:
        """The chain, or None if words are so long, or so many, that passes would take minutes."""
        sizes = alignments.words.sizes + 1.0
        most = 2.0 * sizes.max(initial=1.0)  # nearly all true words are shorter than that
        symbols = alignments.states - 1
        steps = 3 * most * symbols * float((sizes * (sizes / 2 + symbols)).sum())
        return cls(alignments) if len(sizes) and steps <= WHOLE_LENGTHS_STEPS else None

    @property
    def groups(self) -> Integers:
        symbols = self.alignments.states - 1
        return np.repeat(np.arange(symbols + 1), symbols)

    def matrix(self, chances: Floats) -> Floats:
        """The proportions of what comes after each state: ends are averages over all positions."""
        states = self.alignments.states
        steps = self.steps(chances)[1].reshape(states, states)
        return np.asarray(steps / np.maximum(steps.sum(axis=1, keepdims=True), 1e-300))

    def uses(self, steps: Floats) -> Floats:
        states = self.alignments.states
        return np.asarray(steps.reshape(*steps.shape[:-1], states, states)[..., :-1].reshape(*steps.shape[:-1], -1))

    def drawn(self, chances: Floats, number: int, coins: np.random.Generator) -> Ragged:
        first, onward = self._rows(chances)
        rows = np.vstack([np.append(first, 0.0), np.column_stack([onward, np.zeros(len(onward))])])
        return walked(rows, coins.choice(len(self.lengths), number, p=self.lengths / self.lengths.sum()), coins)

    def logs_given_length(self, chances: Floats) -> Floats:
        return np.asarray(self.logs(chances) - np.log(self._released[self.alignments.words.sizes]))

    def covariance(self, chances: Floats, stats: Floats) -> Floats:
        first, onward = self._rows(chances)
        number, symbols = len(self.lengths), len(first)
        longer = np.append(np.cumsum(self.lengths[::-1])[::-1], 0.0)  # the proportion of words of i symbols and more
        at = [first]
        for _ in range(number - 2):
            at.append(at[-1] @ onward)
        found = np.zeros((len(stats), symbols + 1, symbols))
        future = np.zeros((len(stats), symbols))  # expected from position i + 1 on, of words that have it
        for position in range(number - 1, 0, -1):
            value = stats[:, 1:, :-1] + future[:, None, :]
            mean = np.einsum("ab,qab->qa", onward, value)
            weight = longer[position + 1] * at[position - 1]
            found[:, 1:] += weight[:, None] * onward * (value - mean[:, :, None])
            ends = self.lengths[position] / longer[position] if longer[position] > 0 else 1.0
            future = ends * stats[:, 1:, -1] + (1 - ends) * mean
        value = stats[:, 0, :-1] + future
        found[:, 0] = longer[1] * first * (value - (value @ first)[:, None])
        return found.reshape(len(stats), -1)

    def _rows(self, chances: Floats) -> tuple[Floats, Floats]:
        symbols = self.alignments.states - 1
        rows = chances.reshape(symbols + 1, symbols)
        return np.ascontiguousarray(rows[0]), np.ascontiguousarray(rows[1:])

    def _task(self, chances: Floats) -> tuple[Callable[..., None], SeenWords]:
        longest = int(self.alignments.words.sizes.max(initial=0))
        edits = EditChances.of(self.alignments.channel, longest)
        model = SeenWords(*self._rows(chances), self.lengths, edits.gap, edits.deleted, edits.kept, edits.replaced)
        return kernel("edit_model").add_uses_each, model


@dataclass(frozen=True, eq=False)
class FittedChain:
    """A chain with the parameters that make the releases most likely."""

    chain: EditChain
    found: Fit

    @property
    def matrix(self) -> Floats:
        """The chances of all steps."""
        return self.chain.matrix(self.found.chances)

    @property
    def free(self) -> int:
        """The number of parameters that can be chosen freely."""
        return len(self.found.chances) - len(np.unique(self.chain.groups))


@dataclass(frozen=True, eq=False)
class EditModel:
    """A Markov chain over an alphabet whose words end at some time, fitted to releases of the edit channel.

    Words end with a chance of its own after each symbol, or with the same chance after all of them, whichever explains
    the releases better.
    """

    language: Language  # all words over the alphabet
    channel: Channel
    limits: Limits
    best: FittedChain
    other: FittedChain
    doubt: float  # the probability that chance alone makes the one look better than the other
    releases: int
    fitted_to: str  # the fingerprint of the releases
    misfit: Misfit | None = None  # what contradicts the model

    method = EstimateMethod.EM
    kind = ModelKind.CHAIN

    def __repr__(self) -> str:
        return f"<EditModel: a Markov chain on {self.language!r}, fitted to {self.releases} releases (em)>"

    @property
    def matrix(self) -> Floats:
        """Row 0: the first symbol, and last the empty word; row 1 + a: the symbol after a, and last the end."""
        return self.best.matrix

    @property
    def converged(self) -> bool:
        """Whether the search ended because the likelihood no longer rose."""
        return self.best.found.converged

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the likelihood of the releases."""
        return self.best.found.log_likelihood

    @property
    def transitions(self) -> dict[Any, dict[Any, float]]:
        """{symbol: {next symbol: probability}}; None is the start, and as a next symbol the end of a word."""
        names = [*self.language.alphabet.symbols, None]
        rows = zip([None, *names[:-1]], self.matrix.tolist(), strict=True)
        return {name: dict(zip(names, row, strict=True)) for name, row in rows}


def refuse_projected(mechanism: Private) -> None:
    """Raise InvalidValue if releases went through a projection."""
    if mechanism.projected_onto is not None:
        raise InvalidValue(mechanism.no_estimates(1) or estimates_refused())


def fitted_chains(
    alignments: Alignments, steps: Floats, progress: ProgressLine | None = None
) -> tuple[FittedChain, FittedChain]:
    """The most likely chain with ends of their own, and one whose lengths tell nothing about symbols.

    The search starts from the uses of all steps, for the former from what it has found for the latter. Cost: some tens
    of passes for each.
    """
    alike = LengthChain.of(alignments) or EndsAlike(alignments)
    one = FittedChain(alike, _fit(alike, steps, progress))
    own_ends = OwnEnds(alignments)
    return FittedChain(own_ends, _fit(own_ends, alike.steps(one.found.chances)[1], progress)), one


def _fit(chain: EditChain, steps: Floats, progress: ProgressLine | None) -> Fit:
    start = normalised(chain.uses(steps), chain.groups)
    return fit(chain, start, progress)


def better_chain(own_ends: FittedChain, alike: FittedChain) -> tuple[FittedChain, FittedChain, float]:
    """The better of two chains, the other one, and the probability that chance alone makes it look better.

    They are compared by the probabilities of the releases among all outputs of the same length, which do not depend on
    how well lengths are explained. Ends of their own must gain more than they have more parameters. The difference is
    judged by its own size (Akaike) and by how much it varies from release to release (Vuong), whichever leaves more
    doubt. Cost: two passes.
    """
    one, other = (each.chain.logs_given_length(each.found.chances) for each in (own_ends, alike))
    gains, times = one - other, own_ends.chain.alignments.times
    gain = float(times @ gains)
    spread = math.sqrt(float(times @ (gains - gain / times.sum()) ** 2))
    difference = gain - (own_ends.free - alike.free)
    by_size = 1 / (1 + math.exp(min(abs(difference), 700)))
    by_spread = math.erfc(abs(difference) / max(spread, 1e-9) / math.sqrt(2)) / 2
    pair = (own_ends, alike) if difference > 0 else (alike, own_ends)
    return *pair, max(by_size, by_spread)


def fitted_edits(
    releases: Releases, mechanism: Private, channel: Channel, progress: ProgressLine | None = None
) -> EditModel:
    """The population of words that makes the releases most likely. Cost: some tens of passes of `Alignments`, twice."""
    refuse_projected(mechanism)
    alignments = Alignments(releases.words, channel, mechanism.limits)
    uses = 1.0 + counted_steps(releases.words, channel.symbols)
    steps = (uses + 0.1 * uses.sum(axis=1, keepdims=True) / len(uses)).ravel()  # all are possible, to start from
    best, other, doubt = better_chain(*fitted_chains(alignments, steps, progress))
    about = len(releases), releases.fingerprint(mechanism)
    number = simulated_words(len(releases))
    drawn = best.chain.drawn(best.found.chances, number, np.random.default_rng(29))
    shown = mechanism.without_projection().seeded("releases of words of a fitted model").release_codes(drawn)
    wrong = misfit(releases.words, shown, mechanism.language.alphabet.symbols)
    return EditModel(mechanism.language, channel, mechanism.limits, best, other, doubt, *about, wrong)


def counted_steps(words: Ragged, symbols: int) -> Floats:
    """How often words have each symbol after each other one, as in `EditModel.matrix`. Cost: their symbols."""
    uses = np.zeros((symbols + 1, symbols + 1))
    full = words.sizes > 0
    ends = words.ends[full]
    starts = ends - words.sizes[full]
    inner = np.ones(len(words.values), dtype=np.bool_)
    inner[starts] = False
    after = np.flatnonzero(inner)
    np.add.at(uses, (1 + words.values[after - 1].astype(np.int64), words.values[after]), 1.0)
    uses[0, :-1] += np.bincount(words.values[starts], minlength=symbols)
    uses[1:, -1] += np.bincount(words.values[ends - 1], minlength=symbols)
    uses[0, -1] += np.count_nonzero(words.sizes == 0)
    return uses
