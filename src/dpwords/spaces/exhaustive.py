"""The brute-force twin: every word of a small language, one by one.

It knows nothing of lattices or closed forms, and is what they are tested against; audits run on it too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Distance, hamming, levenshtein
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language

Symbols = tuple[Any, ...]
LONGEST_LISTED = 4096  # symbols of a word that is listed
PAIRS_LIMIT = 1024  # words of which all pairs are compared, at every output


class HasLogProb(Protocol):
    """An output distribution."""

    def log_prob(self, output: Symbols) -> float: ...


def words(language: Language, length: int, limit: int = 4096) -> list[Symbols]:
    """All words of one length, as tuples; `TooLarge` before more than `limit` would be listed."""
    _refuse_many(language, range(_listed_length(length), length + 1), limit)
    layers = _alive(language, length)
    found: list[tuple[Symbols, Any]] = [((), state) for state in layers[0]]
    for ahead in layers[1:]:
        found = [((*w, symbol), t) for w, state in found for symbol, t in language.follow(state) if t in ahead]
    return [word for word, _ in found]


def words_up_to(language: Language, length: int, limit: int = 4096) -> list[Symbols]:
    """All words of at most this length, shorter ones first; `TooLarge` before more than `limit` would be listed."""
    lengths = range(_listed_length(length) + 1)
    _refuse_many(language, lengths, limit)
    return [word for each in lengths for word in words(language, each, limit)]


def distance_counts(language: Language, word: Symbols) -> list[int]:
    """How many words of the language lie at distance 0, 1, …, n from `word`."""
    counts = [0] * (len(word) + 1)
    for output in words(language, len(word)):
        counts[hamming(word, output)] += 1
    return counts


def distances(listed: Sequence[Symbols], distance: Distance = "hamming") -> NDArray[np.int64]:
    """The distance between any two of the words; for Hamming distance all of one length."""
    if distance == "levenshtein":
        return np.array([[levenshtein(one, other) for other in listed] for one in listed])
    codes: dict[Any, int] = {}
    table = np.array([[codes.setdefault(symbol, len(codes)) for symbol in word] for word in listed])
    return np.array([(table != row).sum(axis=1) for row in table])


def log_probs(laws: Sequence[HasLogProb], outputs: Sequence[Symbols], complete: bool = True) -> NDArray[np.float64]:
    """ln p(w) for each distribution (row) and output; refused if they have to be complete, and are not."""
    logs = np.array([[one.log_prob(output) for output in outputs] for one in laws])
    missing = float(np.abs(1 - np.exp(logs).sum(axis=1)).max())
    if complete and not missing <= 1e-9:
        raise InvalidValue(
            f"the probabilities of the words of the language do not sum to 1 (off by {missing:.2g}): an exact audit "
            "needs every output in the language"
        )
    return logs


def pair_losses(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """For any two rows of log-probabilities the largest |ln p(w)/p′(w)|. Cost: rows² · outputs."""
    losses = np.zeros((len(logs), len(logs)))
    ratios = np.empty_like(logs)
    with np.errstate(invalid="ignore"):  # −inf − −inf is no number: an output that neither gives tells nothing
        for index, row in enumerate(logs):
            np.abs(np.subtract(logs, row, out=ratios), out=ratios)
            losses[index] = np.fmax.reduce(ratios, axis=1, initial=0.0)
    return losses


def _listed_length(length: int) -> int:
    if whole_number(length, "a length", 0) > LONGEST_LISTED:
        raise TooLarge(f"words of more than {LONGEST_LISTED} symbols are not listed one by one: take a shorter length")
    return length


def _refuse_many(language: Language, lengths: range, limit: int) -> None:
    number = 0
    for length in lengths:
        number += language.count(length)
        if number > limit:
            raise TooLarge(
                f"there are {_rounded(number)} words of length {length}{' or less' if len(lengths) > 1 else ''}, and "
                f"{limit} is the most that are listed one by one: take a shorter length or a smaller language"
            )


def _alive(language: Language, length: int) -> list[set[Any]]:
    """For each number of symbols read, the states from which a word of this length can still be completed."""
    layers = [{language.initial}]
    for _ in range(length):
        layers.append({successor for state in layers[-1] for _, successor in language.follow(state)})
    layers[-1] = {state for state in layers[-1] if language.is_accepting(state)}
    for place in reversed(range(length)):
        ahead = layers[place + 1]
        layers[place] = {s for s in layers[place] if any(successor in ahead for _, successor in language.follow(s))}
    return layers


def _rounded(number: int) -> str:
    return str(number) if number < 10**9 else f"about 10^{int(number.bit_length() * math.log10(2))}"
