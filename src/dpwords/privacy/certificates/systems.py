"""Certificates for transition systems: how large the rate c may be (docs/theory.md, section 9).

Several methods bound how much the normalising constant Z can change from word to word; the best one is used:

- *listed*, languages of at most 10,000 words: the exact value, over all pairs;
- *listed, balanced*: the same where words have public weights that make Z as equal as possible;
- *blocks, levelled*, words of states with the weights of `reweighting`, which are public: positions that differ form
  blocks, which can be changed one at a time;
- *pairs*, any words: sweeps from both ends discard all pairs of words that are proven to be within the limit;
- *pairs, fitted*: the same with public weights of edges, which lower what the worst pairs lose;
- *range*, any words: the largest and the least value of Z;
- *textbook*: ln Z(x′)/Z(x) ≤ c·d always holds, so c = ε/2 is always allowed.

For k > 1 there are staircases, too. With weights e^(−c·ceil((d − j)/k)) the rate c, ε and the bound of a certificate
are for each k positions that differ. The proofs are those of linear weights, with ceil(d/k), which is a distance too,
in the place of d.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial

import numpy as np

from dpwords.core.elementary import index_of_least
from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue, TooLarge
from dpwords.privacy.certificates.certificate import Certificate, Certified, Excess, FractionDone
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.constant_range import ranges_of_constants, seconds_of_ranges
from dpwords.privacy.certificates.pair_weights import fit, weighted_pairs
from dpwords.privacy.certificates.pairs import PairProofs
from dpwords.privacy.certificates.reweighted_blocks import LONGEST, SHORTEST
from dpwords.privacy.certificates.reweighted_search import ReweightedSearch, progress_of
from dpwords.privacy.certificates.rounding import ULP, price
from dpwords.privacy.certificates.small_languages import Listed
from dpwords.privacy.certificates.tuning import (
    ENOUGH,
    GUESS,
    HALF,
    HOPELESS,
    LENGTHS_TOGETHER,
    QUICK,
    QUICKER,
    SPREAD_EDGES,
    STAGES,
    USUAL_SWEEPS,
)
from dpwords.privacy.guarantees import Budget
from dpwords.privacy.methods import Method
from dpwords.privacy.utilities import Staircase
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import WeightedWords, Weights, none_of_length


class FreeCertifier(Certifier):
    """Free words: Z is the same for all of them, so the normalising constant reveals nothing."""

    section = 3
    _space: FreeWords

    def _methods(self, reach: int, progress: FractionDone | None = None) -> dict[Method, Excess]:
        if self._textbook_only:
            return {Method.TEXTBOOK: lambda c: c}
        epsilon = self._epsilon(reach)
        return {Method.EVERY_WORD: lambda c: 0.0 if c == epsilon else math.inf}  # draws spend all of it

    def _of_all_lengths(self, progress: FractionDone | None = None) -> Certificate | None:
        return replace(self._best(LONGEST), length=1, longest=LONGEST)


class SystemCertifier(Certifier):
    """Runs of a system.

    Words of states have one certificate for all lengths from a few symbols on, if it reaches a fixed proportion of ε;
    otherwise, and for shorter words and other words, each length has its own. Cost of a certificate: a few evaluations
    of `ReweightedBlocks` for words of states, and of `ranges_of_constants` for other words.
    """

    section = 9
    _space: Runs

    def __init__(self, space: Runs, budget: Budget, textbook_only: bool = False) -> None:
        super().__init__(space, budget, textbook_only)
        self._graph, self._limits = space.graph, space.limits
        self._ranges: dict[float, Floats] = {}  # of ln Z, by rate; entries are replaced as a whole

    def _methods(self, reach: int, progress: FractionDone | None = None) -> dict[Method, Excess]:
        methods: dict[Method, Excess] = {Method.TEXTBOOK: lambda c: c}
        self._refuse(reach)
        if self._textbook_only:
            return methods
        if self._every_word:
            return methods | {Method.EVERY_WORD: lambda _: 0.0}
        listed = self._listed(reach)
        if listed is not None:  # nothing else can be better
            return methods | {Method.LISTED: listed.excess, Method.BALANCED: listed.balanced_excess}
        least = self._space.least_distance(reach).value or 1
        return methods | {Method.RANGE: partial(self._range_excess, reach, least)}

    def _range_excess(self, reach: int, least: int, c: float) -> float:
        """The excess if Z may differ by its range, or by c·d, between words at every distance d from the least one."""
        longest = -(-reach // LENGTHS_TOGETHER) * LENGTHS_TOGETHER
        if (known := self._ranges.get(c)) is None or len(known) <= reach:
            known = ranges_of_constants(self._graph, longest, c, self._step, self._first, self._limits)
            self._ranges[c] = known
        return self._excess_of_range(reach, least, c, known[reach])

    def _excess_of_range(self, reach: int, least: int, c: float, widest: float) -> float:
        apart, k = np.arange(least, reach + 1), self._budget.k
        rates = c * -(-apart // self._step)
        losses = (rates + np.minimum(rates, widest)) / (-(-apart // k) * k / self._step)
        return max(float(losses.max()) * (1 + 4 * ULP) - c, 0.0)

    def _may_have_range(self, reach: int) -> bool:
        """Whether a range could be enough for more than ε/2: some words show at once if it is too wide.

        That is seen at ε/2 and at ε: as far as is known, it is widest at one rate, and becomes less on both sides.
        """
        if self._step > 1 or reach * len(self._graph.symbol) > SPREAD_EDGES:
            return True
        half, pairs = self._epsilon(reach) / 2, PairProofs(self._graph, reach, self._limits)
        least = self._space.least_distance(reach).value or 1
        spread = min(pairs.spread(price(half)), pairs.spread(price(2 * half)))
        return self._excess_of_range(reach, least, half, spread) < half

    def _best(self, reach: int, progress: FractionDone | None = None) -> Certificate:
        self._refuse(reach)
        epsilon, listed = self._epsilon(reach), self._listed(reach)
        search = None if self._search is None or listed is not None else self._search.within(reach)
        covering = self._of_all_lengths(progress) if search is not None and self._waits_for_all(search, reach) else None
        if covering is not None and covering.covers(reach) and covering.c >= ENOUGH * epsilon:
            return covering
        methods = self._methods(reach)
        by_range = methods.pop(Method.RANGE, None)
        found = self._proven(reach, methods)
        if covering is not None and covering.covers(reach):
            found.insert(0, covering)
        best = max(each.c for each in found)
        if search is not None and best < self._limits.good_enough * epsilon:
            guess = GUESS * epsilon
            if covering is not None and covering.method is Method.REWEIGHTED:
                guess = covering.c
            found += self._reweighted(search, reach, epsilon, guess, progress)
        if by_range is not None and max(each.c for each in found) < ENOUGH * epsilon and self._may_have_range(reach):
            found += self._proven(reach, {Method.RANGE: by_range})
        best = max(each.c for each in found)
        pairs = self._pairs(reach) if best < (ENOUGH if search is None else HALF) * epsilon else None
        if pairs is not None:
            tick = progress_of(progress, USUAL_SWEEPS)
            c, largest = pairs.rate(epsilon, best, tick)
            found.append(Certificate(c, epsilon, Method.PAIRS, epsilon, reach, self._space.identity))
            fitted = fit(pairs, epsilon, c, tick) if largest and c < ENOUGH * epsilon else None
            if fitted is not None:
                found.append(replace(found[-1], c=fitted.c, method=Method.FITTED, detail=fitted.weights))
        if listed is None:
            return max(found, key=lambda each: each.c)
        return min(found, key=lambda each: (listed.mean_distance(each.c, each.method is Method.BALANCED), -each.c))

    def seconds(self, length: int) -> tuple[float, float]:
        if length in self._known or any(each.covers(length) for each in self._for_all) or self._textbook_only:
            return 0.0, 0.0
        if self._every_word or self._listed(length) is not None:
            return 0.0, 0.0
        search, own = self._search, None if self._search is None else self._search.within(length)
        if search is None or own is None:
            by_range = 0.0
            if self._may_have_range(length):
                by_range = seconds_of_ranges(self._graph, length, self._step, self._limits)
            return by_range, by_range + (0.0 if self._pairs(length) is None else self._limits.certificate_time)
        if not self._waits_for_all(own, length):
            return own.first_seconds(length), own.first_seconds(length)
        found = [search.seconds(detail, None) for _, detail in search.attempts(None)]
        return found[0], math.fsum(found)

    def _pairs(self, length: int) -> PairProofs | None:
        """All pairs of words of one length, where sweeps over them can be tried."""
        if self._textbook_only or self._every_word or self._step > 1 or self._listed(length) is not None:
            return None
        pairs = PairProofs(self._graph, length, self._limits)
        return pairs if pairs.fits else None

    def _waits_for_all(self, own: ReweightedSearch, length: int) -> bool:
        """Whether words of this length wait for a certificate for all lengths: where it is quick, or their own is not.

        In a large system, few states may be within reach.
        """
        for_all = 0.0 if self._search is None else self._search.first_seconds(None)
        return for_all > 0.0 and (for_all <= QUICK or not 0.0 < own.first_seconds(length) < QUICKER * for_all)

    def _of_all_lengths(self, progress: FractionDone | None = None) -> Certificate | None:
        if not self._for_all:
            try:
                epsilon = self._epsilon(LONGEST)
            except InvalidValue:  # rounding may cost more than ε in words of that length
                return None
            made = self._cached_or_made(None, lambda: self._best_for_all(epsilon, progress), progress)
            self._for_all[:] = [made]
        return self._for_all[0]

    def _best_for_all(self, epsilon: float, progress: FractionDone | None) -> Certificate:
        rest = epsilon, 1, self._space.identity, self._step, self._first, LONGEST
        found = [
            Certificate(epsilon / (1 + excess), epsilon, method, *rest) for method, excess in self._everywhere.items()
        ]
        if self._search is not None:
            found += self._reweighted(self._search, None, epsilon, epsilon, progress)
        return max(found, key=lambda each: each.c)

    def _reweighted(
        self, search: ReweightedSearch, reach: int | None, epsilon: float, guess: float, progress: FractionDone | None
    ) -> Iterator[Certificate]:
        """Reweighted certificates for one length, or for all, each with more detail, until one is good enough."""
        for stage, detail in search.attempts(reach):
            tick = progress_of(progress, search.parts(reach))
            if reach is None:
                found = search.rate_for_all(stage, detail, epsilon, tick)
            else:
                found = search.rate(stage, detail, reach, epsilon, guess, tick)
            if found.c > epsilon / 2:
                yield Certificate(
                    found.c, found.bound, Method.REWEIGHTED, epsilon, found.least, self._space.identity,
                    longest=LONGEST if reach is None else None, detail=(detail.back, detail.ahead, detail.radius),
                )  # fmt: skip
            hopeless = stage.box > STAGES[0].box and found.at_first > HOPELESS * epsilon
            if found.c >= stage.enough * epsilon or hopeless:
                return

    def _bound(self, found: Certificate, progress: FractionDone | None = None) -> float:
        if not found.epsilon / 2 <= found.c <= found.epsilon or found.longest not in (None, LONGEST):
            return math.inf
        if found.method is Method.REWEIGHTED:
            return found.c + self._reweighted_excess(found, progress)
        if found.method in (Method.PAIRS, Method.FITTED):
            self._refuse(found.length)
            pairs = self._pairs(found.length) if found.longest is None else None
            if pairs is not None and found.method is Method.FITTED:
                graph = weighted_pairs(self._graph, found.length, found.detail)
                pairs = None if graph is None else replace(pairs, graph=graph)
            tick = progress_of(progress, USUAL_SWEEPS)
            return found.epsilon if pairs is not None and pairs.hold(found.c, found.epsilon, tick) else math.inf
        if found.longest is None:
            return super()._bound(found, progress)
        return found.c * (1 + self._everywhere.get(found.method, math.inf)) if found.length > 0 else math.inf

    def _reweighted_excess(self, found: Certificate, progress: FractionDone | None) -> float:
        """The excess of reweighted words for the rate, lengths and detail of a certificate; ∞ if nothing is proven."""
        search, length = self._search, found.length if found.longest is None else None
        if search is not None and length is not None:
            self._refuse(length)
            search = search.within(length)
        detail = None if search is None else search.detail(found.detail)
        if search is None or detail is None or not search.fits(detail, length):
            return math.inf
        blocks, tick = search.blocks(detail), progress_of(progress, search.parts(length))
        if length is not None:
            return blocks.excess(length, found.c, tick)
        more, least = blocks.excess_of_all(found.c, found.epsilon - found.c, max(found.length, SHORTEST), tick)
        return more if least <= found.length else math.inf

    def _prepared(self, certificate: Certificate, reach: int) -> Certified:
        """The certificate with its public weights, which are computed once and cached."""
        rate = Fraction(certificate.c)
        base: Graph | WeightedWords | None = None
        if certificate.method is Method.BALANCED and (listed := self._listed(reach)) is not None:
            base = listed.weighted(certificate.c, certificate.epsilon)
        elif certificate.method is Method.REWEIGHTED and self._reweighting is not None:
            base = _weighted(self._reweighting, rate)
        elif certificate.method is Method.FITTED:
            base = weighted_pairs(self._graph, reach, certificate.detail)
        return Certified(certificate, self._weights(rate, reach, base))

    def _weights(self, rate: Fraction, reach: int, base: Graph | WeightedWords | None) -> Weights:
        return Weights.linear(rate, reach, base)

    def _refuse(self, length: int) -> None:
        graph, most = self._graph, self._limits.certificate_size
        if graph.size * length > most:
            raise TooLarge(f"certificates are for up to {most} states · symbols: take shorter words")
        if length < 1 or not graph.useful(length)[0, graph.start]:
            raise none_of_length(length)

    def _listed(self, length: int) -> Listed | None:
        return _listed(self._graph, length, self._limits, self._step, self._first, self._budget.k)

    @cached_property
    def _everywhere(self) -> dict[Method, int]:
        """The methods that hold for words of any length: the excess of a rate c is so many times c."""
        found: dict[Method, int] = {Method.TEXTBOOK: 1}
        return found | {Method.EVERY_WORD: 0} if self._every_word and not self._textbook_only else found

    @cached_property
    def _every_word(self) -> bool:
        """Whether every state has every symbol and accepts: then Z is the same for all words."""
        full = np.all(np.diff(self._graph.first) == len(self._graph.alphabet))
        return bool(full and self._graph.accepting.all())

    @cached_property
    def _search(self) -> ReweightedSearch | None:
        """The reweighted certificates that can be tried; None if there are none."""
        if self._textbook_only or self._every_word or self._reweighting is None:
            return None
        return ReweightedSearch(self._graph, self._reweighting, self._limits)

    @cached_property
    def _reweighting(self) -> Reweighting | None:
        """The public weights of words of states; None for other words."""
        return Reweighting.of(self._graph, self._limits) if self._graph.state_named is not None else None


class StaircaseCertifier(SystemCertifier):
    """Runs of a system, under a staircase. Cost of a certificate: some evaluations of `ranges_of_constants`."""

    def __init__(self, space: Runs, budget: Budget, staircase: Staircase) -> None:
        super().__init__(space, budget)
        staircase.values(1, budget.k)  # refuses a first step of k or more
        self._staircase, self._step, self._first = staircase, budget.k, staircase.first_step or 0

    @cached_property
    def _search(self) -> ReweightedSearch | None:
        return None  # reweighted certificates are about linear weights

    def _weights(self, rate: Fraction, reach: int, base: Graph | WeightedWords | None) -> Weights:
        if self._step == 1:  # which is linear
            return super()._weights(rate, reach, base)
        assert not isinstance(base, Graph)  # such weights belong to linear ones
        return Weights.by_distance(tuple(-rate * value for value in self._staircase.values(reach, self._step)), base)

    def _epsilon(self, reach: int) -> float:
        """ε for each step, less what rounding may cost."""
        return math.nextafter(float(self._budget.rest(reach)), 0.0)


class EitherCertifier(SystemCertifier):
    """Runs of a system, for k > 1: linear weights or a staircase, whichever has the smaller public expected distance.

    Cost: both certificates, and the expected distances at a few words.
    """

    def __init__(self, space: Runs, budget: Budget) -> None:
        super().__init__(space, budget)
        self._linear = SystemCertifier(space, budget)
        self._stairs = StaircaseCertifier(space, budget, Staircase())

    def _best(self, reach: int, progress: FractionDone | None = None) -> Certificate:
        linear, stairs = self._linear._certified(reach, progress), self._stairs._certified(reach)
        if stairs.certificate.method is Method.TEXTBOOK:
            return linear.certificate  # a staircase at half of ε is worse, except where more than half can be proven
        try:
            means = [self._mean_distance(each.weights, reach) for each in (stairs, linear)]
            return (stairs, linear)[index_of_least(means)].certificate
        except TooLarge:  # words cannot be counted by their distance here
            return linear.certificate

    def seconds(self, length: int) -> tuple[float, float]:
        least, most = zip(self._linear.seconds(length), self._stairs.seconds(length), strict=True)
        return (0.0, 0.0) if length in self._known else (sum(least), sum(most))

    def _of_all_lengths(self, progress: FractionDone | None = None) -> Certificate | None:
        return self._linear._of_all_lengths(progress)

    def _mean_distance(self, weights: Weights, reach: int) -> float:
        """The expected distance, averaged over typical words."""
        words, times = self._space.typical(reach, steps=reach)
        laws = (self._space.law(codes, weights) for codes in words)
        means = [count * law.expected_distance() for law, count in zip(laws, times.tolist(), strict=True)]
        return math.fsum(means) / int(times.sum())

    def _prepared(self, certificate: Certificate, reach: int) -> Certified:
        maker = self._maker(certificate)
        assert maker is not None
        return maker._prepared(certificate, reach)

    def _maker(self, certificate: Certificate) -> Certifier | None:
        return self._linear._maker(certificate) or self._stairs._maker(certificate)


_weighted = lru_cache(maxsize=4)(Reweighting.weighted)  # all lengths share it
_listed = lru_cache(maxsize=2)(Listed.of)  # all methods of one length share it
