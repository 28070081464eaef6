"""Measured ε against claimed ε."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpwords import exhaustive
from dpwords.automata import Language
from dpwords.exhaustive import HasLogProb, Symbols
from dpwords.privacy import Guarantee, NotPrivate

_TOLERANCE = 1e-9  # of the measurement itself: logarithms of probabilities in floating point


class Audited(Protocol):
    """Anything that has a public language and says how likely an output is at a word."""

    @property
    def language(self) -> Language: ...
    @property
    def guarantee(self) -> Guarantee: ...
    @property
    def given(self) -> Callable[[Any], HasLogProb]: ...


class Worst(NamedTuple):
    """The pair of words that one output tells apart most, per ceil(distance/k)."""

    word: Symbols
    neighbour: Symbols
    output: Symbols
    distance: int
    loss: float


@dataclass(frozen=True)
class ExactAudit:
    """What an exhaustive audit found."""

    epsilon: float
    claimed: float
    holds: bool
    worst: Worst | None
    words: int

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        return f"measured ε = {self.epsilon:.6g} over {self.words} words, claimed {self.claimed:.6g}: {verdict}"


def exact(mechanism: Audited, length: int) -> ExactAudit:
    """Measure ε over every pair of words of one length and every output.

    The measured ε is the largest |ln p(w;x)/p(w;x′)| / ceil(d(x, x′)/k): the promise for every pair, not only for
    neighbours. It holds if that is at most the claim (for a `NotPrivate` one, the ε that was asked for).
    Cost: words³; at most 1,024 words.

    >>> from dpwords import Exponential, Words
    >>> exact(Exponential(Words("ab"), epsilon=1.5), length=3).holds
    True
    """
    listed = exhaustive.words(mechanism.language, length, limit=exhaustive.PAIRS_LIMIT)
    laws = [mechanism.given(word) for word in listed]
    guarantee = mechanism.guarantee
    claimed = guarantee.nominal if isinstance(guarantee, NotPrivate) else guarantee.epsilon
    apart = exhaustive.distances(listed) if listed else np.zeros((0, 0), dtype=np.int64)
    losses = exhaustive.pair_losses(laws, listed)
    rates = losses / np.maximum(np.ceil(apart / guarantee.k), 1)
    measured = float(rates.max(initial=0.0))
    worst = None
    if len(listed) > 1:
        one, other = np.unravel_index(int(rates.argmax()), rates.shape)
        output = max(listed, key=lambda w: _difference(laws[one].log_prob(w), laws[other].log_prob(w)))
        worst = Worst(listed[one], listed[other], output, int(apart[one, other]), float(losses[one, other]))
    holds = measured <= claimed + _TOLERANCE * max(1.0, claimed)
    return ExactAudit(measured, claimed, holds, worst, len(listed))


def _difference(one: float, other: float) -> float:
    return 0.0 if one == other == -math.inf else abs(one - other)
