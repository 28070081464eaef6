"""What is known of private words by whoever has seen releases of them, where words are too many to be listed."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from dpwords.core.encoding import Codes
from dpwords.core.scaled import Floats
from dpwords.errors import TooLarge

SPREAD = 3.0  # probabilities between 0 and 1 that were corrected by up to 1 are between −1 and 2


class Known(NamedTuple):
    """What releases of one word tell: the probabilities of the symbols (columns) at each place (row), a likely word."""

    places: Floats
    word: Codes
    probability: float
    error: float = 0.0  # standard error of every probability, at most; 0 if they are exact


class Simulated(NamedTuple):
    """For each simulated word, what guesses get right: by a guess that is known, and by the best one at most.

    Hits are the mean over the places. Where the distribution given the releases is known exactly, both are the same.
    """

    hits_by_place: Floats  # mean over the words
    hits: Floats
    hits_at_most: Floats
    whole: Floats
    whole_at_most: Floats
    hits_spread: float  # of the range of hits
    whole_spread: float


class Posteriors(ABC):
    """Words of one length with a prior, seen through some releases of each."""

    too_large: ClassVar[str] = "the system is too large to simulate what can be guessed: use a shorter length"

    @property
    def gain(self) -> float:
        """How many times as likely a guess of the whole word can become by a release."""
        return math.inf

    @abstractmethod
    def cost(self) -> int:
        """About the number of additions for each simulated word."""

    @abstractmethod
    def simulated(self, samples: int) -> Simulated:
        """Draw words and releases with fixed seeds, and guess each of them. Cost: samples · `cost`."""

    def known(self, outputs: list[Codes]) -> Known | None:
        """What the releases of one word tell; None if no word that the prior allows can have led to them."""
        raise TooLarge("of a single word nothing is known without listing all words: use a shorter length")
