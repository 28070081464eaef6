"""Releases that keep the length of words, as evidence about the population of hidden runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.mechanisms.private import Private
from dpwords.models.evidence import evidence_of
from dpwords.models.hidden import Emissions, Expected, Hidden, Pass
from dpwords.models.normalising_constants import NormalisingConstants


@dataclass(frozen=True, eq=False)
class SameLength:
    """Distinct released words of one length: passes over them, and how often each of them was released.

    `factor` and `ending` multiply the weight of each edge, and of each state at the end of a run.
    """

    passes: Pass
    times: Floats
    factor: Floats
    ending: Floats

    @property
    def length(self) -> int:
        """The length of the words."""
        return int(self.passes.seen.rows.shape[1])


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
        return self.lengths[0].passes.limits

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all releases, and the expected number of uses of each parameter."""
        chance, likelihood, uses = chances[self.hidden.parameter], 0.0, np.zeros(len(self.hidden.source))
        for each in self.lengths:
            one, used = each.passes.total(chance * each.factor, each.ending, each.times)
            likelihood, uses = likelihood + one, uses + used
        return likelihood, self.by_parameter(uses)

    def each(self, chances: Floats, every_position: bool = False) -> Iterator[Part]:
        """What is expected of each released word, a part of the words at a time."""
        chance = chances[self.hidden.parameter]
        for each in self.lengths:
            for part in each.passes.parts:
                found = each.passes.expected(part, chance * each.factor, each.ending, every_position)
                yield Part(each.length, each.times[part], found)

    def by_parameter(self, uses: Floats) -> Floats:
        """The uses of parameters, from those of edges."""
        return np.bincount(self.hidden.parameter, uses, len(self.groups)).astype(np.float64)

    def sample(self, number: int) -> RunEvidence:
        """About so many of the released words, spread evenly over all of them."""
        proportion = max(int(sum(len(each.times) for each in self.lengths) / number), 1)
        return replace(self, lengths=tuple(_thinned(each, proportion) for each in self.lengths))


def _thinned(words: SameLength, proportion: int) -> SameLength:
    passes, kept = words.passes, slice(0, None, proportion)
    seen = Emissions(np.ascontiguousarray(passes.seen.rows[kept]), passes.seen.ratios)
    return replace(words, passes=replace(passes, seen=seen), times=words.times[kept])


def _same_length(mechanism: Private, rows: Codes, hidden: Hidden, distinct: bool) -> SameLength:
    number = np.ones(len(rows), dtype=np.int64)
    if distinct:
        rows, number = np.unique(rows, axis=0, return_counts=True)
    passes = Pass(hidden, evidence_of(mechanism, rows.shape[1]).seen(rows), mechanism.limits)
    ending = hidden.accepting.astype(np.float64)
    return SameLength(passes, number.astype(np.float64), np.ones(len(hidden.source)), ending)


def varying_constants(mechanism: Private, lengths: Iterable[int]) -> list[NormalisingConstants | None] | None:
    """The normalising constants of each length, or None where they are the same for all words; None if that is so
    everywhere."""
    found = [evidence_of(mechanism, length).uneven() for length in lengths]
    return None if all(each is None for each in found) else found
