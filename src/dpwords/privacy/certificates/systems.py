"""Certificates for transition systems: how large the rate c may be (docs/theory.md, section 9).

Several methods bound how much the normaliser Z can change from word to word; the best one is used:

- *listed*, languages of at most 1,024 words: the exact value, over all pairs;
- *blocks*, words of states: places that differ form blocks, which can be changed one at a time;
- *listed, balanced*: the same where words have public weights that make Z as equal as possible;
- *blocks, levelled*: the same where words have the weights of `levelling`, which are public;
- *range*, any words: the largest and the least value of Z;
- *textbook*: ln Z(x′)/Z(x) ≤ c·d always holds, so c = ε/2 is always allowed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache

from dpwords.core.limits import Limits
from dpwords.errors import TooLarge
from dpwords.privacy.certificates.blocks import Blocks
from dpwords.privacy.certificates.certificate import (
    TRIES,
    Certificate,
    Certified,
    Certifier,
    Excess,
    Method,
    ShareDone,
    largest_rate,
)
from dpwords.privacy.certificates.graph_facts import accepts_every_word
from dpwords.privacy.certificates.levelled_blocks import LevelledBlocks
from dpwords.privacy.certificates.normaliser_range import range_of_normalisers
from dpwords.privacy.certificates.small_languages import Listed
from dpwords.privacy.guarantees import Budget
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.graph import Graph
from dpwords.spaces.levelling import Levelling
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Weights, none_of_length
from dpwords.spaces.weighted_words import WeightedWords

NEARLY = 1 - 2e-5  # of ε: where normalisers are equal except for rounding, such a rate passes at the first try
_SHORT = 10  # symbols; the search for longer words starts where it ended for these


class FreeCertifier(Certifier):
    """Free words: Z is the same for all of them, so the normaliser reveals nothing."""

    _space: FreeWords

    def _methods(self, reach: int, progress: ShareDone | None = None) -> dict[Method, Excess]:
        if self._textbook_only:
            return {"textbook": lambda c: c}
        epsilon = self._epsilon(reach)
        return {"every word": lambda c: 0.0 if c == epsilon else math.inf}  # draws spend all of it

    def _best(self, reach: int, progress: ShareDone | None = None) -> Certificate:
        epsilon, system = self._epsilon(reach), self._space.identity
        if self._textbook_only:
            return Certificate(epsilon / 2, epsilon, "textbook", epsilon, reach, system)
        return Certificate(epsilon, epsilon, "every word", epsilon, reach, system)


class SystemCertifier(Certifier):
    """Runs of a system.

    Cost of a certificate: a few evaluations of `LevelledBlocks.excess` for words of states, and of
    `range_of_normalisers` for other words.
    """

    _space: Runs

    def __init__(self, space: Runs, budget: Budget, textbook_only: bool = False) -> None:
        super().__init__(space, budget, textbook_only)
        self._graph, self._limits = space.graph, space.limits

    def _methods(self, reach: int, progress: ShareDone | None = None) -> dict[Method, Excess]:
        methods: dict[Method, Excess] = {"textbook": lambda c: c}
        graph = self._graph
        self._refuse(reach)
        if self._textbook_only:
            return methods
        if accepts_every_word(graph):
            return methods | {"every word": lambda _: 0.0}
        listed = self._listed(reach)
        if listed is not None:  # nothing else can be better
            return methods | {"listed": listed.excess, "listed, balanced": listed.balanced_excess}
        methods["range"] = lambda c: range_of_normalisers(graph, reach, c)
        if graph.state_named is not None:
            blocks = Blocks.of(graph, reach, self._epsilon(reach), self._limits)
            if blocks is not None:
                methods["blocks"] = blocks.excess
            levelling = self._levelling
            levelled = None if levelling is None else LevelledBlocks.of(graph, reach, levelling, self._limits)
            if levelled is not None:
                methods["blocks, levelled"] = levelled.excess
        return methods

    def _best(self, reach: int, progress: ShareDone | None = None) -> Certificate:
        epsilon = self._epsilon(reach)
        methods = self._methods(reach)
        found: list[Certificate] = []
        short = self._short if reach > _SHORT else None
        for method, excess in methods.items():
            good = max((each.c for each in found), default=0.0) >= self._limits.good_enough * epsilon
            if method == "blocks, levelled" and (good or (short is not None and short.method == "blocks")):
                continue  # it takes longer and would hardly be better
            tries = 0 if "blocks" in method or "balanced" in method else TRIES
            start = epsilon if short is None else min(short.c, epsilon)
            c, bound = largest_rate(epsilon, excess, start * NEARLY if method == "listed, balanced" else start, tries)
            found.append(Certificate(c, bound, method, epsilon, reach, self._space.identity))
        listed = None if "listed" not in methods else self._listed(reach)
        if listed is None:
            return max(found, key=lambda each: each.c)
        return min(found, key=lambda each: (listed.mean_distance(each.c, each.method == "listed, balanced"), -each.c))

    def _prepared(self, certificate: Certificate) -> Certified:
        """The certificate with its public weights, which are computed once and kept."""
        rate = Fraction(certificate.c)
        base: Graph | WeightedWords | None = None
        if certificate.method == "listed, balanced" and (listed := self._listed(certificate.length)) is not None:
            base = listed.weighted(certificate.c)
        elif certificate.method == "blocks, levelled" and self._levelling is not None:
            base = self._levelling.weighted(rate)
        return Certified(certificate, Weights.linear(rate, certificate.length, base))

    def _refuse(self, length: int) -> None:
        graph, most = self._graph, self._limits.certificate_size
        if graph.size * length > most:
            raise TooLarge(f"certificates are for up to {most} states · symbols: take shorter words")
        if length < 1 or not graph.useful(length)[0, graph.start]:
            raise none_of_length(length)

    def _listed(self, length: int) -> Listed | None:
        return _listed(self._graph, length, self._limits)

    @cached_property
    def _short(self) -> Certificate | None:
        """The certificate for short words of a fixed length, at whose rate the search for longer words starts.

        It does not depend on what was asked for before, so a system, a length and an ε always give the same rate.
        """
        graph = self._graph
        return self._best(_SHORT) if graph.useful(_SHORT)[0, graph.start] else None

    @cached_property
    def _levelling(self) -> Levelling | None:
        """The public weights of words of states; None for other words."""
        return Levelling.of(self._graph, self._limits) if self._graph.state_named is not None else None


@lru_cache(maxsize=2)  # all methods of one length share it
def _listed(graph: Graph, length: int, limits: Limits) -> Listed | None:
    return Listed.of(graph, length, limits)
