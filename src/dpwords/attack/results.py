"""What an adversary guesses, as numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from dpwords.models.priors import UNIFORM

GuessMethod = Literal["formula", "every output", "simulation", "bound"]
_HOW = {
    "formula": "computed by a formula",
    "every output": "computed over every word and every output",
    "bound": "bounds that follow from the promise alone",
}
_LARGEST_CROWD = 10**12  # words of which some are guessed; a smaller chance is not written out


class Success(NamedTuple):
    """How often guesses are right: the expected number of positions, and the probability of the whole word."""

    hits: float
    whole: float


@dataclass(frozen=True)
class Guess:
    """What an adversary expects to guess, who knows the mechanism and how likely each word is. Everything is public.

    `hits` is the expected number of positions that the best guess for each position gets right, `hits_by_place` its
    proportion for each position, and `whole` the probability that the best guess of the whole word is right. `without`
    (and `without_by_place`) is the same for somebody who sees nothing. If `exact`, these are the figures, up to
    rounding. Otherwise the true ones lie between `low` and `high`, each with the probability `confidence` where they
    were simulated, and `hits` and `whole` are estimates; with the method "bound" nothing but `high` is known.
    `promised` is what the promise alone allows, for any mechanism, or None where no such bound is known. `assumed` says
    which prior the figures rest on: somebody who knows more guesses more. `str(guess)` is a short text for people.
    """

    length: int
    releases: int
    hits_by_place: tuple[float, ...]
    whole: float
    low: Success
    high: Success
    without: Success
    without_by_place: tuple[float, ...]
    promised: Success | None
    method: GuessMethod
    samples: int = 0  # simulated words, if any
    confidence: float = 1.0
    assumed: str = UNIFORM

    @property
    def hits(self) -> float:
        """The expected number of positions that are guessed."""
        return math.fsum(self.hits_by_place)

    @property
    def exact(self) -> bool:
        """Whether the figures are exact, up to rounding."""
        return self.method in ("formula", "every output")

    @property
    def of_100(self) -> str:
        """In words: of 100 such words, at most so many are guessed as a whole if the prior is right."""
        return f"{in_a_crowd(self.high.whole)} guessed as a whole if {self.assumed}"

    def __str__(self) -> str:
        seen = "one release" if self.releases == 1 else f"{self.releases} releases"
        most = "" if self.exact else "at most "
        hits = self.hits if self.exact else self.high.hits
        return "\n".join(
            [
                f"words of length {self.length}, seen through {seen}",
                self.of_100,
                f"(without any release, {in_a_crowd(self.without.whole)})",
                f"{most}{upward(hits)} of {self.length} positions are guessed, on average (without any release, "
                f"{upward(self.without.hits)})",
                f"({self.how})",
            ]
        )

    @property
    def how(self) -> str:
        """How the figures were found, in words."""
        if self.method != "simulation":
            return _HOW[self.method]
        return f"upper ends of {self.confidence:g} intervals, from {self.samples:,} simulated words"


@dataclass(frozen=True)
class ReleasedGuess:
    """What an adversary expects to guess of the words behind a released file, each seen through its one release.

    `informed` is for somebody whose prior is a chain, usually the one that fits the released words best, and `uniform`
    for somebody to whom all words are equally likely: the mean number of positions of a word that are guessed, `hits`,
    and the proportion of whole words, `whole`. `without` and `uniform_without` are the same for somebody who sees the
    lengths only. `lengths` has how many of the released words have each length. All of it is computed from the
    releases, so it costs no privacy.

    The figures are what is expected if the prior, described in `assumed`, is right; of the released words, `samples`
    were guessed for them. A chain that was fitted to the releases believes too much, and `informed` is corrected for
    that: `rehearsed` words are drawn from it, released anew, and guessed with a chain that is fitted to these releases,
    which shows how much less is guessed than such a chain expects. `error` has the standard errors of `informed`, as
    far as they come from sampling words; how far the fitted prior is from the population is not part of them. `fits` is
    False where the releases contradict it. If not `exact`, normalising constants that differ between words were
    averaged over drawn runs.
    """

    lengths: dict[int, int]
    informed: Success
    uniform: Success
    without: Success
    uniform_without: Success
    assumed: str
    samples: int
    error: Success
    exact: bool
    rehearsed: int = 0
    contradicted: str = ""

    @property
    def fits(self) -> bool:
        """Whether the releases do not contradict the fitted prior."""
        return not self.contradicted

    @property
    def words(self) -> int:
        """The number of released words."""
        return sum(self.lengths.values())

    @property
    def length(self) -> float:
        """The mean length of the words."""
        return sum(size * number for size, number in self.lengths.items()) / self.words

    @property
    def hits(self) -> float:
        """The positions of a word that are expected to be guessed with the informed prior."""
        return self.informed.hits

    @property
    def whole(self) -> float:
        """The proportion of whole words that are expected to be guessed with the informed prior."""
        return self.informed.whole

    @property
    def of_100(self) -> str:
        """In words: of 100 such words, about so many are guessed as a whole if the prior is right."""
        return f"{in_a_crowd(self.whole, 'about')} guessed as a whole if {self.assumed}"

    @property
    def doubt(self) -> str:
        """Why the figures may be off, in words; empty if nothing contradicts the fitted prior."""
        return (
            f"the fitted prior does not fit, so its figures may be off: {self.contradicted}"
            if self.contradicted
            else ""
        )

    @property
    def how(self) -> str:
        """How the figures were found, in words."""
        how = (
            "from each released word" if self.samples == self.words else f"from {self.samples:,} of the released words"
        )
        if self.rehearsed:
            how += f"; a fitted prior believes too much, which {self.rehearsed:,} words drawn from it correct"
        return how if self.exact else f"{how}; normalising constants averaged over drawn runs"

    def __str__(self) -> str:
        size = next(iter(self.lengths)) if len(self.lengths) == 1 else f"{min(self.lengths)} to {max(self.lengths)}"
        lines = [f"{self.words:,} released words of length {size}, each seen through its one release"]
        for found, known in ((self.uniform, UNIFORM), (self.informed, self.assumed)):
            lines.append(f"if {known}: {in_a_crowd(found.whole, 'about')} guessed as a whole")
            lines.append(f"  and {found.hits:.3g} of {self.length:.3g} positions, on average")
        return "\n".join([*lines, f"({self.how})", *([f"({self.doubt})"] if self.doubt else [])])


@dataclass(frozen=True)
class Posterior:
    """What is known of one private word by whoever has seen its releases: probabilities, not a release.

    `places` has {symbol: probability} for each position; `word` is the most likely word of all, with its
    `probability`, and `best_by_place` the most likely symbol of each position, which need not be a word of the
    language. If not `exact`, the normalising constant of the mechanism differs between words and was averaged over runs
    that were drawn: the standard error of every probability is then at most `error`, and `word` is the most likely one
    of those that were drawn. If words that go through the edit channel are too many to be listed, `word` is found
    symbol by symbol: its probability is exact, but another word may have a larger one.
    """

    places: tuple[dict[Any, float], ...]
    word: tuple[Any, ...]
    probability: float
    error: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the probabilities are exact, up to rounding."""
        return self.error == 0.0

    @property
    def best_by_place(self) -> tuple[Any, ...]:
        """The most likely symbol of each position."""
        return tuple(max(proportions, key=lambda symbol: proportions[symbol]) for proportions in self.places)

    @property
    def hits(self) -> float:
        """The expected number of positions in which `best_by_place` is right."""
        return math.fsum(max(proportions.values()) for proportions in self.places)


def in_a_crowd(chance: float, about: Literal["at most", "about"] = "at most") -> str:
    """A chance in words: of 100 such words at most 3 are …, rounded up, or about 3; of more words if it is smaller."""
    crowd = 100
    while crowd < _LARGEST_CROWD and crowd * chance < 1:
        crowd *= 10
    number = math.ceil(crowd * chance - 1e-9) if about == "at most" else round(crowd * chance)
    return f"of {crowd:,} such words, {about} {max(number, 1)} {'is' if number <= 1 else 'are'}"


def upward(value: float) -> str:
    """A number with three digits, rounded up."""
    if value <= 0:
        return "0"
    scale = 10.0 ** (2 - math.floor(math.log10(value)))
    return f"{math.ceil(value * scale - 1e-9) / scale:g}"
