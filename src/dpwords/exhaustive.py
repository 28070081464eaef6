"""The brute-force twin: every word of a small language, one by one.

It knows nothing of lattices or closed forms, and is what they are tested against; audits run on it too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.automata import Language
from dpwords.checks import whole_number
from dpwords.errors import TooLarge
from dpwords.words import hamming

Symbols = tuple[Any, ...]
PAIRS_LIMIT = 1024  # words of which all pairs are compared, at every output


class HasLogProb(Protocol):
    """An output distribution."""

    def log_prob(self, output: Symbols) -> float: ...


def words(language: Language, length: int, limit: int = 4096) -> list[Symbols]:
    """All words of one length, as tuples; `TooLarge` before more than `limit` would be listed."""
    if whole_number(length, "a length", 0) > limit:
        raise TooLarge(f"words of more than {limit} symbols are not listed one by one: take a shorter length")
    number = language.count(length)
    if number > limit:
        raise TooLarge(
            f"there are {_rounded(number)} words of length {length}, and {limit} is the most that are listed one by "
            "one: take a shorter length or a smaller language"
        )
    return list(_extend(language, language.initial, (), length))


def law(language: Language, word: Symbols, weight: Callable[[int], float]) -> dict[Symbols, float]:
    """The probability of each word w in proportion to weight(distance from `word` to w)."""
    weights = {output: weight(hamming(word, output)) for output in words(language, len(word))}
    total = math.fsum(weights.values())
    return {output: value / total for output, value in weights.items()}


def distance_counts(language: Language, word: Symbols) -> list[int]:
    """How many words of the language lie at distance 0, 1, …, n from `word`."""
    counts = [0] * (len(word) + 1)
    for output in words(language, len(word)):
        counts[hamming(word, output)] += 1
    return counts


def distances(listed: Sequence[Symbols]) -> NDArray[np.int64]:
    """The distance between any two of the words, all of one length."""
    codes: dict[Any, int] = {}
    table = np.array([[codes.setdefault(symbol, len(codes)) for symbol in word] for word in listed])
    return np.array([(table != row).sum(axis=1) for row in table])


def pair_losses(laws: Sequence[HasLogProb], outputs: Sequence[Symbols]) -> NDArray[np.float64]:
    """For any two output distributions the largest |ln p(w)/p′(w)| over the outputs. Cost: laws² · outputs."""
    logs = np.array([[one.log_prob(output) for output in outputs] for one in laws])
    losses = np.zeros((len(logs), len(logs)))
    with np.errstate(invalid="ignore"):  # −inf − −inf: an output that neither gives tells nothing
        for index, row in enumerate(logs):
            losses[index] = np.nan_to_num(np.abs(logs - row), nan=0.0, posinf=np.inf).max(axis=1)
    return losses


def _extend(language: Language, state: Any, prefix: Symbols, missing: int) -> Iterator[Symbols]:
    if missing:
        for symbol, successor in language.follow(state):
            yield from _extend(language, successor, (*prefix, symbol), missing - 1)
    elif language.is_accepting(state):
        yield prefix


def _rounded(number: int) -> str:
    return str(number) if number < 10**9 else f"about 10^{len(str(number)) - 1}"
