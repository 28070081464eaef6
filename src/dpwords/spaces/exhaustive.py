"""The brute-force space: every word of a small language, one by one.

It uses neither lattices nor closed forms. The fast spaces are tested against it as their reference, and audits run on
it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Distance, PromisedDistance, Ragged, Rows, hamming, levenshtein
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language
from dpwords.spaces.space import LeastDistance, Space, WeightedWords, Weights, none_of_length

Symbols = tuple[Any, ...]
SUM_ERROR = 1e-9  # how far from 1 a sum of probabilities may be, since they are rounded
_MOST_WORDS = 4096  # the largest number of words that are listed
_DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9)


class HasLogProb(Protocol):
    """An output distribution."""

    def log_prob(self, output: Any) -> float: ...


class EveryWord(Space):
    """A language whose words are listed and compared one by one, in decimal arithmetic of 60 digits.

    Under Levenshtein distance the outputs are all words of at most `longest` symbols.
    """

    def __init__(
        self, language: Language, distance: Distance = "hamming", longest: int = 0, limits: Limits = DEFAULTS
    ) -> None:
        self.language, self.distance, self.longest, self.limits = language, distance, longest, limits

    @property
    def identity(self) -> str:
        return hashlib.sha256(repr((self.language, self.distance, self.longest)).encode()).hexdigest()

    @property
    def slack(self) -> float:
        return 2.0**-50

    def reach(self, length: int) -> int:
        return length if self.distance == "hamming" else self.longest

    def outputs(self, length: int) -> list[tuple[int, ...]]:
        """The codes of every word that is a possible output for a word of this length."""
        codes = self.language.alphabet.codes
        every = words(self.language, length) if self.distance == "hamming" else words_up_to(self.language, self.longest)
        return [tuple(codes[symbol] for symbol in word) for word in every]

    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        known = set(self.outputs(rows.shape[1]))
        return np.array([tuple(row) in known for row in rows.tolist()], dtype=np.bool_)

    def around(self, codes: Codes) -> ReferenceSurroundings:
        return ReferenceSurroundings(codes, self)

    def law(self, codes: Codes, weights: Weights) -> ReferenceLaw:
        return ReferenceLaw(codes, self, weights)

    def every(self, length: int, most: int) -> Codes | None:
        found = [word for word in self.outputs(length) if len(word) == length]
        return None if len(found) > most else np.array(found, dtype=np.int64).reshape(len(found), length)

    def uniform(self, length: int, count: int, stream: Stream) -> Codes:
        found = self.every(length, _MOST_WORDS)
        if found is None or not len(found):
            raise none_of_length(length)
        return np.asarray(found[sampling.below(len(found), (count,), stream)])

    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        return _MOST_WORDS, _MOST_WORDS

    def least_distance(self, length: int) -> LeastDistance:
        apart = distances(self.outputs(length), self.distance)
        return LeastDistance(min(apart[apart > 0].tolist(), default=None), True)


class ReferenceSurroundings:
    """All possible outputs, grouped by their distance from a word."""

    def __init__(self, codes: Codes, space: EveryWord) -> None:
        self.codes, self.footprint, self._space = codes, len(codes) + 1, space
        self._words_at: list[list[tuple[int, ...]]] = [[] for _ in range(space.reach(len(codes)) + 1)]
        for word in space.outputs(len(codes)):
            self._words_at[self.distance(np.array(word))].append(word)
        self.sizes = scaled.from_integers(map(len, self._words_at))

    def distance(self, codes: Codes) -> int:
        between = hamming if self._space.distance == "hamming" else levenshtein
        return between(codes.tolist(), self.codes.tolist())

    def draw(self, distances: Integers, stream: Stream) -> Ragged:
        numbers = [sampling.integer_below(len(self._words_at[d]), stream) for d in distances.tolist()]
        picked = zip(distances.tolist(), numbers, strict=True)
        return Ragged.of([np.array(self._words_at[d][n], dtype=np.int64) for d, n in picked])

    def probability(self, codes: Codes) -> Fraction:
        return Fraction(1, len(self._words_at[self.distance(codes)]))


class ReferenceLaw:
    """The probability of each word, to 60 digits."""

    def __init__(self, codes: Codes, space: EveryWord, weights: Weights) -> None:
        self._space, self._length = space, len(codes)
        around = ReferenceSurroundings(codes, space)
        falls = [Fraction(_DIGITS.exp(_decimal(-power))) for power in weights.powers]
        self._distances = {word: around.distance(np.array(word)) for word in space.outputs(len(codes))}
        raw = {word: falls[d] * _public_weight(weights, word) for word, d in self._distances.items()}
        total = sum(raw.values())
        self.probabilities = {word: weight / total for word, weight in raw.items()}

    def log_prob(self, codes: Codes) -> float:
        proportion = self.exact(codes)
        return float(
            _DIGITS.subtract(_DIGITS.ln(Decimal(proportion.numerator)), _DIGITS.ln(Decimal(proportion.denominator)))
        )

    def exact(self, codes: Codes) -> Fraction:
        return self.probabilities[tuple(codes.tolist())]

    def draw(self, count: int, stream: Stream) -> Rows:
        words = list(self.probabilities)
        picked = sampling.choose(scaled.from_fractions(self.probabilities.values()), count, stream)
        drawn = [np.array(words[index], dtype=np.int64) for index in picked]
        return np.array(drawn) if self._space.distance == "hamming" else Ragged.of(drawn)

    def distance_distribution(self) -> Floats:
        by_distance = [Fraction(0)] * (self._space.reach(self._length) + 1)
        for word, probability in self.probabilities.items():
            by_distance[self._distances[word]] += probability
        return np.array([float(probability) for probability in by_distance])

    def expected_distance(self) -> float:
        return float(sum(self._distances[word] * probability for word, probability in self.probabilities.items()))


def _public_weight(weights: Weights, word: tuple[int, ...]) -> Fraction:
    """The stored weight of a word under the public base measure."""
    graph = weights.base
    if isinstance(graph, WeightedWords):
        return graph.weight.take([graph.number(np.array(word))]).exact()[0]
    if graph is None or graph.weight is None or graph.ending is None:
        return Fraction(1)
    taken = graph.taken(np.array(word))
    factors = [*graph.weight.take(taken).exact(), *graph.ending.take(graph.target[taken[-1:]]).exact()]
    return math.prod(factors, start=Fraction(1))


def _decimal(value: Fraction) -> Decimal:
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


def words(language: Language, length: int, limit: int = _MOST_WORDS) -> list[Symbols]:
    """All words of one length, as tuples; raises `TooLarge` in advance beyond `limit` words."""
    _refuse_many(language, range(_listed_length(length), length + 1), limit)
    layers = _alive(language, length)
    found: list[tuple[Symbols, Any]] = [((), state) for state in layers[0]]
    for ahead in layers[1:]:
        found = [((*w, symbol), t) for w, state in found for symbol, t in language.follow(state) if t in ahead]
    return [word for word, _ in found]


def words_up_to(language: Language, length: int, limit: int = _MOST_WORDS) -> list[Symbols]:
    """All words of at most this length, shorter ones first; raises `TooLarge` in advance beyond `limit` words."""
    lengths = range(_listed_length(length) + 1)
    _refuse_many(language, lengths, limit)
    return [word for each in lengths for word in words(language, each, limit)]


def distance_counts(language: Language, word: Symbols) -> list[int]:
    """The number of words of the language at Hamming distance 0, 1, …, n from `word`."""
    counts = [0] * (len(word) + 1)
    for output in words(language, len(word)):
        counts[hamming(word, output)] += 1
    return counts


def distances(listed: Sequence[Symbols], distance: PromisedDistance = "hamming") -> NDArray[np.int64]:
    """The distance between any two of the words, which must have the same length for Hamming distance."""
    if distance == "any":
        return np.array([[int(one != other) for other in listed] for one in listed])
    if distance == "levenshtein":
        return np.array([[levenshtein(one, other) for other in listed] for one in listed])
    codes: dict[Any, int] = {}
    table = np.array([[codes.setdefault(symbol, len(codes)) for symbol in word] for word in listed])
    return np.array([(table != row).sum(axis=1) for row in table])


def log_probs(laws: Iterable[HasLogProb], outputs: Sequence[Any], complete: bool = True) -> NDArray[np.float64]:
    """ln p(w) for each distribution (row) and output (column).

    Raises `InvalidValue` for what are no log-probabilities, and if those of a row sum to more than 1; with `complete`,
    also if they sum to less. `SUM_ERROR` is allowed for rounding.
    """
    logs = np.array([[_number(one.log_prob(output)) for output in outputs] for one in laws], dtype=np.float64)
    if np.isnan(logs).any():
        raise InvalidValue("a log-probability is NaN, which says nothing: return −inf for what cannot come out")
    if (logs > SUM_ERROR).any():
        raise InvalidValue("a log-probability is above 0, and no probability is above 1: normalise log_prob")
    sums = np.exp(logs).sum(axis=1)
    if sums.max() > 1 + SUM_ERROR:
        raise InvalidValue(
            f"the probabilities of the outputs sum to {sums.max():.9g} at some word, which is more than 1: normalise "
            "log_prob"
        )
    if complete and sums.min() < 1 - SUM_ERROR:
        raise InvalidValue(
            f"the probabilities of the words of the language do not sum to 1 (off by {1 - sums.min():.2g}): an exact "
            "audit needs every output in the language"
        )
    return logs


def _number(value: Any) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise InvalidValue("log_prob returns the logarithm of a probability: make it return a number")


def pair_losses(
    logs: NDArray[np.float64], progress: Callable[[Sequence[Any]], Iterable[Any]] = iter
) -> NDArray[np.float64]:
    """For any two rows of log-probabilities, the largest |ln p(w)/p′(w)|. Cost: rows² · outputs.

    `progress` receives the numbers of the rows and yields them one by one.
    """
    losses = np.zeros((len(logs), len(logs)))
    ratios = np.empty_like(logs)
    with np.errstate(invalid="ignore"):  # −inf − −inf is NaN, which fmax ignores: both words exclude that output
        shown = 0
        for index in progress(range(len(logs))):
            shown += 1
            np.abs(np.subtract(logs, logs[index], out=ratios), out=ratios)
            losses[index] = np.fmax.reduce(ratios, axis=1, initial=0.0)
    if shown != len(logs):
        raise InvalidValue("progress must yield everything that it receives: correct it, or leave it out")
    return losses


def _listed_length(length: int) -> int:
    longest = DEFAULTS.listed_length
    if whole_number(length, "a length", 0) > longest:
        raise TooLarge(f"words of more than {longest} symbols are not listed one by one: use a shorter length")
    return length


def _refuse_many(language: Language, lengths: range, limit: int) -> None:
    number = 0
    for length in lengths:
        number += language.count(length)
        if number > limit:
            raise TooLarge(
                f"there are {_rounded(number)} words of length {length}{' or less' if len(lengths) > 1 else ''}, and "
                f"{limit} is the most that are listed one by one: use a shorter length or a smaller language"
            )


def _alive(language: Language, length: int) -> list[set[Any]]:
    """For each number of symbols read, the reachable states from which a word of this length can be completed."""
    layers = [{language.initial}]
    for _ in range(length):
        layers.append({successor for state in layers[-1] for _, successor in language.follow(state)})
    layers[-1] = {state for state in layers[-1] if language.is_accepting(state)}
    for position in reversed(range(length)):
        ahead = layers[position + 1]
        layers[position] = {
            s for s in layers[position] if any(successor in ahead for _, successor in language.follow(s))
        }
    return layers


def _rounded(number: int) -> str:
    return str(number) if number < 10**9 else f"about 10^{int(number.bit_length() * math.log10(2))}"
