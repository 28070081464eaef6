"""What is known of runs through weights that depend on the distance in any way, if all words are equally likely.

Given one release w, the distribution q of the private word, without its normalising constant, is that of the releases
of w. Its probabilities of symbols are sums over runs that are counted by their distance from w. What the normalising
constants change is found by proposing runs from q (`posteriors.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np

from dpwords.core.compiled import in_parts, kernel
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, named
from dpwords.mechanisms.exponential import Exponential
from dpwords.models.chains import PriorWords
from dpwords.models.hidden import uniform_numbers
from dpwords.models.posteriors import SPREAD, Evidence, Posteriors, Simulated, corrections, weighted_logs
from dpwords.models.state_ratios import Emissions
from dpwords.models.tuning import PROPOSED, TOGETHER
from dpwords.spaces.choice import graph_of, space_of
from dpwords.spaces.graph import Graph


class DistanceEvidence(Evidence):
    """Releases of the exponential mechanism with weights that are no power of a single number."""

    mechanism: Exponential

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        return weighted_logs(self.mechanism.weights(self.length), words, outputs)

    def posteriors(self, prior: PriorWords, releases: int) -> DistancePosteriors | None:
        """For equally likely words of a system, and one release."""
        if releases > 1 or not prior.is_uniform or self.mechanism.language.alike:
            return None
        return DistancePosteriors(self, prior) if self.mechanism.weights(self.length).base is None else None

    def uneven(self) -> None:
        if not self.mechanism.language.alike:
            self._refuse()

    def seen(self, rows: Codes) -> Emissions:
        self._refuse()

    def _refuse(self) -> NoReturn:
        refused = self.mechanism.no_estimates(self.length)
        if refused is not None:
            raise InvalidValue(refused)
        fewer = f" or {named('k', 1)}" if self.mechanism.k > 1 else ""
        raise InvalidValue(
            "a model can be fitted where weights fall linearly in the exponent, and those of these releases do not: "
            f"ask for symbols, pairs or variants, which need none, and leave out {named('method')} and "
            f"{named('model')}; or release with a linear utility ({named('utility', 'linear')}){fewer}"
        )


@dataclass(frozen=True, eq=False)
class DistancePosteriors(Posteriors):
    """Equally likely words, each seen through one release."""

    evidence: DistanceEvidence

    @cached_property
    def graph(self) -> Graph:
        """The runs."""
        return graph_of(self.mechanism.language)

    @cached_property
    def logs(self) -> Floats:
        """Natural logarithms of the weights of the distances."""
        return self.evidence.mechanism.weights(self.length).logs

    def cost(self) -> int:
        """The number of edges that are visited for each simulated word, by distance."""
        return len(self.graph.target) * self.length**2 * (2 + PROPOSED)

    @property
    def gain(self) -> float:
        """The largest weight divided by the least.

        All words of the length have at least the least weight, so no output is more likely than this for any word,
        divided by their number.
        """
        return float(np.exp(min(self.logs.max() - self.logs.min(), 700.0)))

    def simulated(self, samples: int) -> Simulated:
        source = SeededSource("runs that an adversary guesses")
        space = space_of(self.mechanism.language, "hamming", self.mechanism.limits)
        words = np.asarray(space.uniform(self.length, samples, source.open()))
        released = np.asarray(self.evidence.drawn(words, 1)[0])
        stretches = [slice(begin, begin + TOGETHER) for begin in range(0, samples, TOGETHER)]
        parts = (self._guessed(words[stretch], released[stretch], source) for stretch in stretches)
        return Simulated.joined(parts, SPREAD)

    def _guessed(self, words: Codes, released: Codes, source: SeededSource) -> tuple[Floats, ...]:
        proportions, stream = self.proportions(released).transpose(1, 2, 0), source.open()
        runs = np.stack([np.asarray(self.mechanism._law(codes).draw(PROPOSED, stream)) for codes in released])
        logs = self.log_totals(np.concatenate([words, released, *runs]))
        own, of_released, proposed = np.split(logs, [len(words), 2 * len(words)])
        proposed, chance = proposed.reshape(-1, PROPOSED), np.exp(self.logs)[0] * np.exp(-of_released)
        uniform = uniform_numbers(stream, proposed.shape)
        wrong = corrections(words, runs, own, proposed, uniform, released, proportions.shape[1])
        return *wrong.hits(proportions), chance + wrong.guess, chance + wrong.largest

    def log_totals(self, words: Codes) -> Floats:
        """For each word, ln of the sum over all runs of the weight of their distance from it.

        Cost: words · edges · length² / 2.
        """
        logs = np.empty(len(words))
        self._passed("log_totals", words, logs)
        return logs

    def proportions(self, words: Codes) -> Floats:
        """[word, position, symbol]: the proportion that runs with a symbol at a position have in that sum.

        Cost: words · edges · length².
        """
        found = np.empty((*words.shape, len(self.graph.alphabet)))
        self._passed("proportions", words, found)
        return found

    def _passed(self, name: str, words: Codes, found: Floats) -> None:
        """Fill an array that has an entry for each word."""
        loop, codes = getattr(kernel("by_distance"), name), np.ascontiguousarray(words, dtype=np.int64)
        graph = (self.graph.edges, self.graph.start, self.graph.accepting, np.exp(self.logs))

        def fill(part: slice) -> None:
            loop(codes[part], *graph, found[part])

        steps = len(self.graph.target) * words.shape[1] ** 2
        in_parts(fill, len(words), cost=steps, most=self.mechanism.limits.threads)
