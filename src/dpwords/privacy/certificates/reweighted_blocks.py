"""How much the normalising constant of reweighted words of states can change with the word (docs/theory.md, section
9)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.scaled import Floats
from dpwords.privacy.certificates.reweighted_blocks_boxes import Bounds, Boxes, PrefixLayer, WordLengths
from dpwords.privacy.certificates.reweighted_system import ReweightedSystem
from dpwords.privacy.certificates.rounding import ALL_OF_IT, ULP, margin, price
from dpwords.privacy.certificates.tuning import COMPLETIONS, COPIES, LAYERS

AHEAD = 4  # own states after a prefix that closings know
SHORTEST = 4  # symbols of the words that a certificate for all lengths can cover; shorter ones have one of their own
LONGEST = 10**6  # and the most
Tick = Callable[[], None]


@dataclass(frozen=True)
class Cover:
    """How the certificate for all lengths divides the positions of words. Any numbers are sound."""

    layers: int = LAYERS
    completions: int = COMPLETIONS
    shortest: int = SHORTEST


COVER = Cover()


@dataclass(frozen=True)
class Group:
    """Positions with some number of symbols before them and after them; the last number is None where there is no
    end."""

    before: int
    most_before: int | None
    after: int
    most_after: int | None

    @property
    def longest(self) -> float:
        """The largest number of symbols that a word with such a position has."""
        if self.most_before is None or self.most_after is None:
            return math.inf
        return self.most_before + 1 + self.most_after


class _Found:
    """The largest change of ln Z for each position that differs, and that of closings by the number of symbols
    before."""

    def __init__(self, layers: int) -> None:
        self.worst, self.closing = 0.0, np.zeros(layers)

    def add(self, group: Group, most: Floats) -> None:
        self.worst = max(self.worst, _worst(most))
        last = len(self.closing) if group.most_before is None else group.most_before + 1
        self.closing[group.before : last] = np.maximum(self.closing[group.before : last], most[2])


class ReweightedBlocks:
    """The bound for reweighted words of states, from boxes around every own run.

    Cost of an evaluation: paths of four steps from a prefix · nodes in a box, for each group of positions that is
    evaluated; memory: 16 bytes · prefixes · nodes in a box for each layer that is kept.
    """

    def __init__(self, system: ReweightedSystem, cover: Cover = COVER) -> None:
        self.system, self.cover = system, cover

    def excess(self, length: int, c: float, tick: Tick = lambda: None) -> float:
        """A bound on |ln Z(x′)/Z(x)| / d(x, x′) over all pairs of words of one length.

        `tick` is called after each position.
        """
        if c > ALL_OF_IT:
            return margin(length)
        boxes = Boxes(self.system, WordLengths(self.system.graph, length, length), price(c))
        completions = boxes.completions(length - AHEAD)
        if completions is None:
            return math.inf
        opening, growth, seen = np.zeros(length + 2), np.zeros(length + 2), _Found(length)
        layer = boxes.one_symbol()
        for before in range(length):
            next_layer = layer if before < 2 else boxes.after(layer, before)
            if next_layer is None:
                return math.inf
            layer = next_layer
            opening[before], growth[before] = layer.opening, layer.growth
            after = length - 1 - before
            group = Group(before, before, after, after)
            seen.add(group, self._most(boxes, group, layer, completions[max(after - AHEAD + 1, 0)]))
            tick()
        closing = np.concatenate([[0.0], seen.closing, [0.0]])
        return max(seen.worst, longer_blocks(opening, growth, closing)) + margin(length)

    def excess_of_all(self, c: float, target: float, most: int, tick: Tick = lambda: None) -> tuple[float, int]:
        """The same for all words of at least some length, and that length, which is at most `most`.

        Groups of positions are evaluated together, and split where their bound is above the target. If the target
        cannot be reached, the result is some number above it.
        """
        if c > ALL_OF_IT:
            return margin(LONGEST), self.cover.shortest
        every = self._every_position(c)
        if every is None:
            return math.inf, most
        back, least = self.system.detail.back, self.cover.shortest
        single, short = [(before, before) for before in range(back)], [(after, after) for after in range(AHEAD - 1)]
        begins, ends = [(back, None), *single], [(AHEAD - 1, None), *reversed(short)]  # quick ones last: taken first
        todo = [Group(*begin, *end) for begin in begins for end in ends]
        seen, tails = _Found(len(every.layers)), set[Group]()
        while todo:
            group = todo.pop()
            if group.longest < least:
                continue
            changes = self._changes(every, group)
            tick()
            if _worst(changes) <= target:
                seen.add(group, changes)
                continue
            parts, tail = every.split(group), every.tail(group)
            if parts and tail not in tails:  # if that is too large, the other parts need not be looked at
                tails.add(tail)
                changes = self._changes(every, tail)
                if _worst(changes) <= target:
                    todo += parts
                    continue
            elif parts:
                todo += parts
                continue
            if group.longest >= most:
                return _worst(changes), most
            least = int(group.longest) + 1
        return max(seen.worst, every.longer_blocks(seen.closing)) + margin(LONGEST), least

    def usual_excess(self, c: float) -> float:
        """The change in one position or two that most words have: a guess at `excess_of_all`, and quicker."""
        every = self._every_position(c)
        if every is None:
            return math.inf
        before, after = len(every.layers) - 1, len(every.completions) - 1
        groups = [Group(first, first, after + AHEAD - 1, None) for first in range(self.system.detail.back)]
        groups += [Group(before, None, after + AHEAD - 1, None), Group(before, None, 0, 0)]
        return max(_worst(self._changes(every, group)) for group in groups)

    def _every_position(self, c: float) -> _EveryPosition | None:
        lengths = WordLengths(self.system.graph, self.cover.shortest, None)
        return _EveryPosition.of(Boxes(self.system, lengths, price(c)), self.cover)

    def _changes(self, every: _EveryPosition, group: Group) -> Floats:
        return self._most(every.boxes, group, every.prefixes(group), every.completions_of(group))

    def _most(self, boxes: Boxes, group: Group, layer: PrefixLayer, after: Bounds) -> Floats:
        """The largest change in one position, in two, and between closings, at the positions of a group."""
        system, lengths, kernels = self.system, boxes.lengths, kernel("reweighted_blocks")
        back, most = system.detail.back, np.zeros(3)

        def begun(steps: int) -> Any:
            return lengths.begun(group.before + steps, _plus(group.most_before, steps))

        def ended(steps: int) -> Any:
            return lengths.ended(group.after - steps, _plus(group.most_after, -steps))

        known = system.prefixes_between(min(group.before, back), begun(-back), ended(-1))
        if not known.any():
            return most
        if (known[:-1] & ~boxes.filled(layer.bounds)[:-1]).any():  # nothing is known of some prefix: cannot happen
            return np.full(3, math.inf)
        live = np.stack([begun(step)[system.src] & ended(step)[system.tgt] for step in range(AHEAD)])
        steps = min(AHEAD, group.after + 1)
        paths = system.paths(min(steps, 2), known, live)
        labels = boxes.live_labels(group.after - AHEAD + 1, _plus(group.most_after, 1 - AHEAD))
        ahead = kernels.Completions(*system.labels[1:3], labels, after.lo, after.hi, float(after.outside[0]))
        proportions = boxes.proportions(layer.bounds)
        kernels.closings(
            boxes.z,
            steps,
            boxes.at_price,
            boxes.ends,
            boxes.prefixes,
            proportions,
            paths,
            live[2:],
            ahead,
            layer.turns,
            most,
        )
        return most


@dataclass(frozen=True, eq=False)
class _EveryPosition:
    """Bounds for all numbers of symbols: the last layer, and the last completions, are for that many and all more."""

    boxes: Boxes
    layers: list[PrefixLayer]
    completions: list[Bounds]

    @classmethod
    def of(cls, boxes: Boxes, cover: Cover) -> _EveryPosition | None:
        """None if there is no invariant, or if none was found."""
        completions = boxes.completions(cover.completions)
        if completions is None:
            return None
        settled = boxes.invariant_completions(completions[-1], cover.completions)
        if settled is None:
            return None
        layers = [boxes.one_symbol()] * 2
        last = boxes.system.detail.back + cover.layers
        for symbols in range(2, last + 1):
            layer = boxes.after(layers[-1], symbols)
            if layer is None:
                return None
            layers.append(layer)
        rest = boxes.invariant(layers[-1], last)
        return None if rest is None else cls(boxes, [*layers[:-1], rest], [*completions[:-1], settled])

    def prefixes(self, group: Group) -> PrefixLayer:
        return self.layers[group.before] if group.most_before is not None else self._layers_from[group.before]

    def completions_of(self, group: Group) -> Bounds:
        after = max(group.after - AHEAD + 1, 0)
        return self.completions[after] if group.most_after is not None else self._completions_from[after]

    def split(self, group: Group) -> list[Group]:
        """Two groups that have all positions of one, or none if it cannot be split."""
        before, after = group.before, group.after
        by_before = group.most_before is None and before < len(self.layers) - 1
        by_after = group.most_after is None and after - AHEAD + 1 < len(self.completions) - 1
        if by_before and by_after:
            by_before = before - self.boxes.system.detail.back <= after - AHEAD + 1
        if by_before:
            return [replace(group, before=before + 1), replace(group, most_before=before)]
        return [replace(group, after=after + 1), replace(group, most_after=after)] if by_after else []

    def tail(self, group: Group) -> Group:
        """The part of a group that cannot be split: the most symbols before and after that are distinguished, or
        more."""
        before = len(self.layers) - 1 if group.most_before is None else group.before
        after = len(self.completions) + AHEAD - 2 if group.most_after is None else group.after
        return replace(group, before=before, after=after)

    def longer_blocks(self, closing: Floats) -> float:
        """The bound for blocks of three positions or more.

        Further positions between the first and the last one bring the mean of a block nearer to the largest growth, so
        that a few of them are enough.
        """
        last = [self.layers[-1]] * COPIES
        opening = [layer.opening for layer in self.layers + last]
        growth = [layer.growth for layer in self.layers + last]
        closings = [0.0, *closing, *[closing[-1]] * (COPIES - 1)]
        found = longer_blocks(*(np.array([*each, 0.0]) for each in (opening, growth, closings)))
        return max(found, growth[-1])

    @cached_property
    def _layers_from(self) -> list[PrefixLayer]:
        """For each layer, the union of it and all later ones."""
        return [*accumulate(reversed(self.layers), lambda later, layer: layer.hull(later))][::-1]

    @cached_property
    def _completions_from(self) -> list[Bounds]:
        return [*accumulate(reversed(self.completions), lambda later, bounds: bounds.hull(later))][::-1]


def longer_blocks(opening: Floats, growth: Floats, closing: Floats) -> float:
    """The largest bound for a block of three positions or more, for each position of it, rounded up. Cost: length².

    Adding up n numbers is off by less than n ulp of the sum of their absolute values.
    """
    length, total = len(opening) - 2, np.cumsum(growth)
    most = 0.0
    for last in range(3, length + 1):
        first = np.arange(1, last - 1)
        change = opening[first] - total[first] + total[last - 1] + closing[last]
        most = max(most, float((change / (last - first + 1)).max()))
    size = np.abs(opening).max() + 2 * math.fsum(np.abs(growth)) + np.abs(closing).max()
    return most + (length + 8) * ULP * float(size)


def _worst(changes: Floats) -> float:
    """The largest change of ln Z for each position that differs."""
    return float(max(changes[0], changes[1] / 2))


def _plus(most: int | None, steps: int) -> int | None:
    return None if most is None else most + steps
