"""Models of a population: Markov chains whose steps depend on more than the state.

Each of them is a chain on *refined* runs, the runs of a language with more states, so that every pass over hidden runs
serves it as it is. A chain by position has a copy of each state for each position, counted from the start of a word,
from its end, or for each length by itself; one with two steps of memory has the steps as states. Rows of chances with
few uses are shrunk to those of the homogeneous chain: `tied` tells, for each parameter, which one of the homogeneous
chain it is a finer version of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Integers
from dpwords.errors import TooLarge
from dpwords.models.hidden import Hidden, Places


class ModelKind(StrEnum):
    """What a step of a population depends on. A value is equal to, and shown as, the text that users pass and read."""

    __repr__ = str.__repr__

    CHAIN = "chain"  # the state alone
    BY_PLACE = "by place"  # the state and the position, from the start or from the end of the word
    TWO_STEPS = "two steps"  # the state and the step before


class Counted(StrEnum):
    """How the positions of words of several lengths are compared: the end of the name of a model."""

    FROM_START = ""
    FROM_END = ", from the end"
    OF_LENGTH = ", for each length"  # not at all


@dataclass(frozen=True, eq=False)
class Refined:
    """Refined runs, the coarser runs that they are copies of, and for each edge and state the one that it was there."""

    hidden: Hidden
    tied: Integers  # for each parameter, that of the homogeneous chain
    coarse: Hidden
    edge_was: Integers
    state_was: Integers

    @classmethod
    def itself(cls, hidden: Hidden, tied: Integers) -> Refined:
        """Runs without coarser ones."""
        return cls(hidden, tied, hidden, np.arange(len(hidden.source)), np.arange(hidden.size))


@dataclass(frozen=True, eq=False)
class ModelShape:
    """A kind of model of the words of some lengths of a language, without its chances."""

    base: Hidden
    kind: ModelKind = ModelKind.CHAIN
    lengths: tuple[int, ...] = ()  # that words can have, if steps depend on the position
    counted: Counted = Counted.FROM_START
    limits: Limits = DEFAULTS

    def runs(self, paired: bool = False) -> Refined:
        """The runs as this kind of model has them; with `paired`, states are steps in any case.

        Raises `TooLarge` where they are too many. Cost: edges · lengths · longest length by position, otherwise pairs
        of consecutive edges.
        """
        if self.kind is ModelKind.TWO_STEPS:
            return _two_steps(self.base, self.limits)
        coarse = self.base.paired(self.limits) if paired else self.base
        if self.kind is ModelKind.CHAIN:
            return Refined.itself(coarse, np.arange(len(coarse.groups)))
        return _by_place(coarse, self)

    def __str__(self) -> str:
        return f"{self.kind}{self.counted}"

    @property
    def places(self) -> Places:
        """Which place each position of a word is."""
        lengths = sorted(self.lengths)
        if self.counted is Counted.FROM_START:
            return Places({length: length - 1 for length in lengths}, 1)
        if self.counted is Counted.FROM_END:
            return Places(dict.fromkeys(lengths, 0), -1)
        return Places(dict(zip(lengths, (np.cumsum(lengths) - 1).tolist(), strict=True)), 1)


def _two_steps(base: Hidden, limits: Limits) -> Refined:
    """Steps as states, with a row of chances for each step before."""
    pairs = base.paired(limits)
    before = np.where(pairs.source == 0, -1, base.parameter[np.maximum(pairs.source - 1, 0)])
    return Refined.itself(*_renumbered(pairs, before))


def _by_place(hidden: Hidden, shape: ModelShape) -> Refined:
    """A copy of each state for each position at which words of these lengths can be in it.

    Unless positions are counted from the start, that leads to places of words of all lengths: which of these steps a
    word takes, its length decides.
    """
    places, limits, number = shape.places, shape.limits, len(hidden.source)
    live = np.unique(np.concatenate([_edges_at_places(hidden, length, places) for length in shape.lengths]))
    if len(live) > limits.chain_edges or 64 * len(live) * max(shape.lengths) > limits.memory:
        raise TooLarge(
            f"steps at {max(shape.lengths)} positions are too many for a chain by place: choose another model, or use "
            "shorter words"
        )
    place, edge = np.divmod(live, number)
    into = place * hidden.size + hidden.target[edge]  # states are numbered by the position of the step that enters them
    out_of = np.where(hidden.source[edge] == 0, -1, (place - places.step) * hidden.size)
    out_of += np.where(hidden.source[edge] == 0, 0, hidden.source[edge])
    states = np.concatenate([[-1], np.unique(into)])
    source, target = np.searchsorted(states, out_of), np.searchsorted(states, into)
    order = np.argsort(source, kind="stable")
    was = np.where(states < 0, 0, states % hidden.size)
    accepting = hidden.accepting[was] & np.isin(states // hidden.size, list(places.last.values()))
    beside = hidden.refined(was, edge[order], source[order], target[order])
    placed = replace(beside, accepting=accepting, place=states // hidden.size, places=places)
    found, tied = _renumbered(placed, place[order])
    return Refined(found, tied, hidden, edge[order], was)


def _edges_at_places(hidden: Hidden, length: int, places: Places) -> Integers:
    """The places and edges of words of one length, as place · number of edges + edge."""
    layers = hidden.layers(length)
    at = np.array([places.at(position, length) for position in range(length)])
    return np.repeat(at, np.diff(layers.begin)) * len(hidden.source) + layers.order


def _renumbered(hidden: Hidden, condition: Integers) -> tuple[Hidden, Integers]:
    """The same runs with a parameter of its own for each condition of an edge, and the parameters that these were."""
    shift = condition - condition.min(initial=0)
    known, parameter = np.unique(shift * len(hidden.groups) + hidden.parameter, return_inverse=True)
    tied = known % len(hidden.groups)
    groups = (known // len(hidden.groups)) * (hidden.groups.max() + 1) + hidden.groups[tied]
    return replace(hidden, parameter=parameter.ravel(), groups=np.unique(groups, return_inverse=True)[1].ravel()), tied
