"""Mechanisms whose releases tell about each place of a word by itself, up to a normaliser of the whole word."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from dpwords.core.encoding import Codes
from dpwords.core.scaled import Floats
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.online import Online
from dpwords.models.hidden import Seen
from dpwords.models.listed import weighted_logs
from dpwords.models.normalisers import Normalisers
from dpwords.models.runs import PlaceEvidence
from dpwords.spaces.choice import graph_of
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.online_favours import favours


class OnlineEvidence(PlaceEvidence):
    """Releases of runs that are drawn symbol by symbol: a released symbol favours some true ones, as it says itself."""

    mechanism: Online

    def seen(self, rows: Codes) -> Seen:
        space = cast("OnlineRuns", self.mechanism._space)
        return Seen(*favours(space, self.mechanism.weights(self.length), rows))

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """A product over places, of a factor that depends on the released word alone and one for favoured symbols."""
        rows, favoured = self.seen(np.asarray(outputs))
        table = np.zeros((len(favoured.first) - 1, len(self.mechanism.language.alphabet)))
        table[np.repeat(np.arange(len(table)), np.diff(favoured.first)), favoured.symbol] = np.log(favoured.times)
        found = np.zeros((len(words), len(outputs)))
        for place in range(words.shape[1]):
            found += table[rows[:, place]][:, words[:, place]].T
        law = self.mechanism._law(words[0])
        return np.asarray(found + np.array([law.log_prob(output) for output in outputs]) - found[0])


class LinearEvidence(PlaceEvidence):
    """Releases of the exponential mechanism with weights e^(−c·distance): the probability is π(w)·e^(−c·d)/Z(x)."""

    mechanism: Exponential

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        return weighted_logs(self.mechanism.weights(self.length), words, outputs)

    @cached_property
    def normalisers(self) -> Normalisers | None:
        language = self.mechanism.language
        if language.alike:
            return None
        return Normalisers(graph_of(language), self.mechanism.weights(self.length), self.mechanism.limits)

    @property
    def steepness(self) -> float:
        """min(c, ε − c), from the promise itself."""
        c = self.mechanism.weights(self.length).rate or Fraction(0)
        return max(float(min(c, Fraction(self.mechanism.epsilon) - c)), 0.0)
