"""Bounds on the masses around own runs, position by position or for all positions at once (docs/theory.md, section 9).

A *layer* holds bounds for all prefixes of so many symbols. An *invariant* holds them for all prefixes of that many
symbols or more: it contains the layer where it begins, and one step from any masses within it stays within it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.elementary import logs
from dpwords.core.scaled import Floats, Integers
from dpwords.privacy.certificates.reweighted_system import ReweightedSystem
from dpwords.privacy.certificates.rounding import outward
from dpwords.privacy.certificates.tuning import INVARIANT_ROUNDS, NEARLY_NONE, WIDER
from dpwords.spaces.graph import Flags, Graph

_HOPELESS = 1e20  # a bound beyond which nothing is proven; no product of them overflows


class WordLengths:
    """Which states words can be in, where the number of symbols before or after is in a range.

    A range is (first, last), both included; `last` is None where it has no end. Cost of a range: its length · edges, or
    the number of steps until no new state is found · edges.
    """

    def __init__(self, graph: Graph, least: int, most: int | None) -> None:
        self.least, self.most = least, most
        start = np.arange(graph.size) == graph.start
        begun = partial(_found, [start], graph.sources, graph.target)
        ended = partial(_found, [graph.accepting.astype(np.bool_)], graph.target, graph.sources)
        self.begun = lru_cache(None)(begun)  # the states that a number of symbols in this range can lead to,
        self.ended = lru_cache(None)(ended)  # and those from which it can lead to an accepting one

    def left(self, symbols: int) -> tuple[int, int | None]:
        """The range of what is left of a word after so many of its symbols."""
        return self.least - symbols, None if self.most is None else self.most - symbols


@dataclass(frozen=True, eq=False)
class Bounds:
    """Boxes: intervals, one after another (from ∞ to 0 where there is no prefix or label), and what is outside."""

    lo: Floats
    hi: Floats
    outside: Floats

    @property
    def useful(self) -> bool:
        return bool(self.hi.max(initial=0.0) < _HOPELESS and self.outside.max() < _HOPELESS)

    def hull(self, other: Bounds) -> Bounds:
        """The least bounds that contain both."""
        outside = np.maximum(self.outside, other.outside)
        return Bounds(np.minimum(self.lo, other.lo), np.maximum(self.hi, other.hi), outside)

    def contains(self, other: Bounds) -> bool:
        inside = (self.lo <= other.lo).all() and (other.hi <= self.hi).all()
        return bool(inside and (other.outside <= self.outside).all())

    def wider(self) -> Bounds:
        lo = np.where(self.lo < NEARLY_NONE, 0.0, self.lo * (1 - WIDER))
        return Bounds(lo, self.hi * (1 + WIDER), self.outside * (1 + WIDER))

    def rows(self, begins: Any) -> Flags:
        """Which rows, that begin at these positions and are not empty, hold bounds."""
        return np.asarray(np.isfinite(self.lo[begins]))


@dataclass(frozen=True, eq=False)
class PrefixLayer:
    """Bounds after so many symbols (or more), and the largest differences of ln growth in the last step before."""

    bounds: Bounds
    turns: Floats  # between two nodes that follow the same prefix, as the kernels need them
    opening: float  # the largest of these
    growth: float  # between any two nodes

    def hull(self, other: PrefixLayer) -> PrefixLayer:
        return PrefixLayer(
            self.bounds.hull(other.bounds), np.maximum(self.turns, other.turns),
            max(self.opening, other.opening), max(self.growth, other.growth),
        )  # fmt: skip


class Boxes:
    """Layers of prefixes and of completions at one price z, for words of some lengths."""

    def __init__(self, system: ReweightedSystem, lengths: WordLengths, z: float) -> None:
        self.system, self.lengths, self.z = system, lengths, z
        self._kernels = kernel("reweighted_blocks")
        self.at_price, self.ends = system.at_price(z), system.ends(z)
        self.prefixes, self.labels = self._kernels.Prefixes(*system.prefixes), self._kernels.Labels(*system.labels)

    def proportions(self, bounds: Bounds) -> Any:
        return self._kernels.Proportions(self.system.bf, bounds.lo, bounds.hi, bounds.outside[0], bounds.outside[1:])

    def one_symbol(self) -> PrefixLayer:
        """Proportions after one symbol: 1 for the own node, z for the others. Both ends are exact.

        The layer of no symbols is the same: the empty prefix has no box, and goes on to those of one symbol.
        """
        system, z = self.system, self.z
        proportions, up = self._no_proportions(), outward().factors(1)[1]
        lo, hi, outside = proportions.lo, proportions.hi, proportions.outside
        nf, ns = system.near[:2]
        for prefix in np.flatnonzero(system.symbols == 1).tolist():
            own, box = system.state[prefix], slice(*system.bf[prefix : prefix + 2])
            nodes = ns[nf[own] : nf[own + 1]]
            near = np.isin(nodes, system.first)
            lo[box] = hi[box] = np.where(nodes == system.last[prefix], 1.0, z * near)
            outside[1 + prefix] = z * (len(system.first) - near.sum()) * up
        outside[0] = z if outside.any() else 0.0
        return PrefixLayer(proportions, np.zeros(system.turns), 0.0, 0.0)

    def after(self, layer: PrefixLayer, symbols: int) -> PrefixLayer | None:
        """The layer of prefixes of so many symbols, from the layer before; None if its bounds are of no use."""
        back = self.system.detail.back
        begun = self.lengths.begun(symbols - back, symbols - back)
        new = self.system.prefixes_between(min(symbols, back), begun, self.lengths.ended(*self.lengths.left(symbols)))
        return self._step(layer.bounds, new)

    def invariant(self, layer: PrefixLayer, symbols: int) -> PrefixLayer | None:
        """Bounds for all prefixes of so many symbols or more, from the layer of so many; None if none are found."""
        back = self.system.detail.back
        new = self.system.prefixes_between(back, self.lengths.begun(0, None), self.lengths.ended(0, None))
        bounds = _settled(layer.bounds, lambda bounds: self._forward(bounds, new)[0])
        found = None if bounds is None else self._step(bounds, new)
        return None if bounds is None or found is None else replace(layer.hull(found), bounds=bounds)

    def last_completions(self) -> Bounds:
        """Completions where the word ends."""
        system, ends = self.system, self.ends
        live = self.live_labels(0, 0)
        lo, hi = np.full(system.af[-1], np.inf), np.zeros(system.af[-1])
        down, up = outward().factors(1)  # one division
        nf, ns = system.near[:2]
        first = system.labels[0]
        for label in np.flatnonzero(live).tolist():
            own, box = system.tgt[first[label]], slice(*system.af[label : label + 2])
            some = ends[ns[nf[own] : nf[own + 1]]] / ends[first[label]]
            lo[box], hi[box] = some * down, some * up
        return Bounds(lo, hi, np.array([up / ends[first[live]].min() if live.any() else 1.0]))

    def completions(self, most: int) -> list[Bounds] | None:
        """Completions of no symbol, of one, and so on; None if some bounds are of no use."""
        found = [self.last_completions()]
        for symbols in range(1, most + 1):
            before = self._step_back(found[-1], self.live_labels(symbols, symbols))
            if before is None:
                return None
            found.append(before)
        return found

    def invariant_completions(self, bounds: Bounds, symbols: int) -> Bounds | None:
        """Completions of so many symbols or more, from those of so many; None if none are found."""
        live = self.live_labels(symbols, None)
        return _settled(bounds, lambda after: self._step_back(after, live))

    def live_labels(self, first: int, last: int | None) -> Flags:
        """The labels of words with a number of symbols to go after their first node that is in this range."""
        system, live = self.system, np.ones(len(self.system.label_nodes), dtype=np.bool_)
        for step, node in enumerate(system.label_nodes.T):
            if first >= step:  # else the word may end before
                ended = self.lengths.ended(first - step, None if last is None else last - step)
                reached = (
                    self.lengths.begun(0, None)
                    if last is None
                    else self.lengths.begun(*self.lengths.left(last - step + 1))
                )
                live &= (node >= 0) & reached[system.src[node]] & ended[system.tgt[node]]
        return live

    def _no_proportions(self) -> Bounds:
        numbers = self.system.bf[-1]
        return Bounds(np.full(numbers, np.inf), np.zeros(numbers), np.zeros(1 + len(self.system.last)))

    def filled(self, bounds: Bounds) -> Flags:
        """The prefixes that have bounds."""
        return np.append(bounds.rows(self.system.bf[:-2]), False)

    def _step(self, bounds: Bounds, new: Flags) -> PrefixLayer | None:
        """The layer of these prefixes from the layer before, with the largest differences of ln growth between."""
        after, grown = self._forward(bounds, new)
        if after is None:
            return None
        system, (low, high) = self.system, logs(grown)
        used = self.filled(bounds)[system.follows] & new[self.prefixes.child[: len(system.follows)]]
        one, other, number = system.pairs[:, used[system.pairs[:2]].all(axis=0)]
        turns, change = np.zeros(system.turns), high[other] - low[one]
        np.maximum.at(turns, number, change)
        growth = high[used].max(initial=-np.inf) - low[used].min(initial=np.inf)  # no prefix, no difference
        return PrefixLayer(after, turns, float(change.max(initial=0.0)), max(float(growth), 0.0))

    def _forward(self, bounds: Bounds, new: Flags) -> tuple[Bounds | None, Floats]:
        """Bounds one step later, None if of no use; and the growth to each node that follows."""
        system, after = self.system, self._no_proportions()
        grown = np.ones((2, len(system.follows)))
        known = np.flatnonzero(self.filled(bounds))
        known = known[np.argsort(system.state[known], kind="stable")]
        wf = np.searchsorted(system.state[known], np.arange(system.graph.size + 1))
        after.outside[0] = self._kernels.forward(
            self.z, self.at_price, self.prefixes, wf, known, new, self.proportions(bounds), *grown, after.lo, after.hi,
            after.outside[1:],
        )  # fmt: skip
        return after if after.useful else None, grown

    def _step_back(self, after: Bounds, live: Flags) -> Bounds | None:
        lo, hi = np.full_like(after.lo, np.inf), np.zeros_like(after.hi)
        filled = after.rows(self.system.af[:-1])
        far = self._kernels.backward(
            self.z, self.at_price, self.labels, live, filled, after.lo, after.hi, after.outside[0], lo, hi
        )
        found = Bounds(lo, hi, np.array([far]))
        return found if found.useful else None


def _settled(bounds: Bounds, step: Callable[[Bounds], Bounds | None]) -> Bounds | None:
    """Bounds that contain the given ones, and that a step leads back into; None if none were found.

    A step is sound for all masses within the bounds it starts from, and its result is rounded outward. So the last test
    is a proof by induction on the number of steps, however the bounds were found.
    """
    for _ in range(INVARIANT_ROUNDS):
        after = step(bounds)
        if after is None:
            return None
        if bounds.contains(after):
            return bounds
        bounds = bounds.hull(after.wider())
    return None


def _found(steps: list[Flags], source: Integers, target: Integers, first: int, last: int | None) -> Flags:
    """The states that so many steps along these edges lead to; `steps` has those found so far, by their number."""
    first = max(first, 0)
    while len(steps) <= max(first, last or 0):
        steps.append(_after(steps[-1], source, target))
    if last is not None:
        return np.asarray(np.logical_or.reduce([np.zeros_like(steps[0]), *steps[first : max(last, -1) + 1]]))
    found = steps[first]
    while True:
        more = found | _after(found, source, target)
        if (more == found).all():
            return found
        found = more


def _after(states: Flags, source: Integers, target: Integers) -> Flags:
    found = np.zeros_like(states)
    found[target[states[source]]] = True
    return found
