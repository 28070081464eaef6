"""Releases that keep the length of words, as evidence about the population of hidden runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpwords.core import threads
from dpwords.core.encoding import Codes
from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.mechanisms.private import Private
from dpwords.models.evidence import evidence_of
from dpwords.models.hidden import Expected, Hidden, Pass
from dpwords.models.normalising_constants import NormalisingConstants


@dataclass(frozen=True, eq=False, kw_only=True)
class SameLength(Pass):
    """Distinct released words of one length, and how often each of them was released."""

    times: Floats

    def thinned(self, share: int) -> SameLength:
        """One of so many of the words, spread evenly over all of them."""
        rows = np.ascontiguousarray(self.seen.rows[::share])
        return replace(self, seen=self.seen._replace(rows=rows), times=self.times[::share])

    def total(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected uses of each edge."""
        found: list[tuple[float, Floats]] = [(0.0, np.zeros(0))] * len(self.parts)

        def work(numbers: slice) -> None:
            for number in range(numbers.start, numbers.stop):
                part = self.parts[number]
                one = self.expected(part, chances)
                found[number] = float(self.times[part] @ one.log_likelihood), one.uses @ self.times[part]

        cost = len(self.layers.order) * (self.parts[0].stop if self.parts else 1)
        threads.in_parts(work, len(self.parts), cost=cost, most=self.limits.threads)
        return float(sum(value for value, _ in found)), np.sum([uses for _, uses in found], axis=0)


class Part(NamedTuple):
    """What is expected of some released words of one length."""

    length: int
    times: Floats
    found: Expected


@dataclass(frozen=True, eq=False)
class RunEvidence:
    """Released words of several lengths, all seen as hidden runs of one population."""

    hidden: Hidden
    lengths: tuple[SameLength, ...]

    @classmethod
    def of(cls, mechanism: Private, words: dict[int, Codes], hidden: Hidden, distinct: bool = True) -> RunEvidence:
        """Releases of each length, with normalising constants taken as equal, each distinct one once, or one by one.

        Cost: the symbols of the releases.
        """
        return cls(hidden, tuple(_same_length(mechanism, rows, hidden, distinct) for rows in words.values()))

    @property
    def groups(self) -> Integers:
        """For each parameter, the number of its state."""
        return self.hidden.groups

    @property
    def limits(self) -> Limits:
        """The limits of the computation."""
        return self.lengths[0].limits

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all releases, and the expected number of uses of each parameter."""
        likelihood, uses = 0.0, np.zeros(len(self.hidden.source))
        for each in self.lengths:
            one, used = each.total(chances)
            likelihood, uses = likelihood + one, uses + used
        return likelihood, np.bincount(self.hidden.parameter, uses, len(self.groups)).astype(np.float64)

    def each(self, chances: Floats, every_place: bool = False) -> Iterator[Part]:
        """What is expected of each released word, a part of the words at a time."""
        for each in self.lengths:
            for part in each.parts:
                yield Part(each.length, each.times[part], each.expected(part, chances, every_place))

    def sample(self, number: int) -> RunEvidence:
        """About so many of the released words, spread evenly over all of them."""
        share = max(int(sum(len(each.times) for each in self.lengths) / number), 1)
        return replace(self, lengths=tuple(each.thinned(share) for each in self.lengths))


def _same_length(mechanism: Private, rows: Codes, hidden: Hidden, distinct: bool) -> SameLength:
    number = np.ones(len(rows), dtype=np.int64)
    if distinct:
        rows, number = np.unique(rows, axis=0, return_counts=True)
    seen = evidence_of(mechanism, rows.shape[1]).seen(rows)
    return SameLength(hidden, seen, mechanism.limits, times=number.astype(np.float64))


def varying_constants(mechanism: Private, lengths: Iterable[int]) -> list[NormalisingConstants | None] | None:
    """The normalising constants of each length, or None where they are the same for all words; None if that is so
    everywhere."""
    found = [evidence_of(mechanism, length).uneven() for length in lengths]
    return None if all(each is None for each in found) else found
