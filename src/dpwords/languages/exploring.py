"""The routine that explores every automaton, and smaller automata for the same words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.errors import TooLarge

State = Hashable
Edge = tuple[Any, Any, Any]  # state, label, state
AllEdges = tuple[Edge, ...]
Follow = Callable[[Any], Iterable[tuple[Any, Any]]]


class Explored(NamedTuple):
    """States with numbers, the start first; the edges of state s are those from first[s] to first[s+1] − 1."""

    states: Sequence[Any]
    first: NDArray[np.int64]
    label: Sequence[Any]
    target: NDArray[np.int64]

    @property
    def sources(self) -> NDArray[np.int64]:
        """The number of the state that each edge leaves."""
        return np.repeat(np.arange(len(self.states)), np.diff(self.first))

    def restricted(self, stays: NDArray[np.bool_], lead: NDArray[np.int64]) -> Explored:
        """Only some states, and their edges to where `lead` sends the old targets: to a state that stays, or to −1."""
        number = np.cumsum(stays) - 1
        target = lead[self.target]
        kept = stays[self.sources] & (target >= 0)
        counts = np.bincount(self.sources[kept], minlength=len(self.states))[stays]
        return Explored(
            [state for state, stay in zip(self.states, stays.tolist(), strict=True) if stay],
            np.concatenate([[0], np.cumsum(counts)]),
            [label for label, keep in zip(self.label, kept.tolist(), strict=True) if keep],
            number[target[kept]],
        )


def explore(starts: Iterable[State], follow: Follow, most: int | None = None) -> tuple[tuple[Any, ...], AllEdges]:
    """All states reachable from `starts`, in breadth-first order, and all edges between them.

    `follow(state)` yields pairs (label, next state). Raises `TooLarge` if there are more than `most` states.
    Cost: one call of `follow` for each state reached.
    """
    found = numbered(starts, follow, most)
    edges = zip(found.sources.tolist(), found.label, found.target.tolist(), strict=True)
    return tuple(found.states), tuple((found.states[s], label, found.states[t]) for s, label, t in edges)


def numbered(starts: Iterable[State], follow: Follow, most: int | None = None) -> Explored:
    """The same with numbers for states, which takes less memory."""
    number = {state: index for index, state in enumerate(dict.fromkeys(starts))}
    states, first, labels, targets = list(number), [0], [], []
    for state in states:  # which grows on the way
        if most is not None and len(states) > most:
            raise TooLarge(f"the language may have at most {most} states here: use a smaller one or shorter words")
        for label, successor in follow(state):
            target = number.get(successor)
            if target is None:
                target = number[successor] = len(states)
                states.append(successor)
            labels.append(label)
            targets.append(target)
        first.append(len(targets))
    return Explored(states, np.array(first, dtype=np.int64), labels, np.array(targets, dtype=np.int64))


def trimmed(found: Explored, is_end: Callable[[Any], bool]) -> Explored:
    """The states from which an end can be reached, and the edges between them, in their order; the start stays.

    Cost: edges · log(edges).
    """
    useful = np.array([is_end(state) for state in found.states], dtype=np.bool_)
    order = np.argsort(found.target, kind="stable")
    into, sources = np.searchsorted(found.target[order], np.arange(len(useful) + 1)), found.sources[order]
    front = np.flatnonzero(useful)
    while len(front):
        sizes = into[front + 1] - into[front]
        begin = np.repeat(into[front] - (np.cumsum(sizes) - sizes), sizes)
        front = np.unique(sources[begin + np.arange(len(begin))])
        front = front[~useful[front]]
        useful[front] = True
    if useful.all():
        return found
    lead = np.where(useful, np.arange(len(useful)), -1)
    useful[0] = True
    return found.restricted(useful, lead)


def minimised(found: Explored, is_end: Callable[[Any], bool]) -> Explored:
    """The least deterministic automaton with the same words; each class of states is represented by its first state.

    The automaton must be trimmed. Cost: edges · log(states), some seconds for a million edges.
    """
    letters: dict[Any, int] = {}
    numbers = [letters.setdefault(label, len(letters)) for label in found.label]
    edges = list(zip(found.sources.tolist(), numbers, found.target.tolist(), strict=True))
    ends = [index for index, state in enumerate(found.states) if is_end(state)]
    _, first, class_of = np.unique(_classes(len(found.states), edges, ends), return_index=True, return_inverse=True)
    lead = first[class_of]
    return found.restricted(lead == np.arange(len(lead)), lead)


def _classes(size: int, edges: Sequence[tuple[int, int, int]], ends: Sequence[int]) -> list[int]:
    """The class of each state; states of one class have the same words ahead.

    This is Valmari's form of Hopcroft's algorithm (Fast brief practical DFA minimization, 2012): states and edges are
    partitioned in turn, and each refinement of one refines the other.
    """
    blocks, cords = _Partition([range(size)]), _Partition(_by_letter(edges))
    into: list[list[int]] = [[] for _ in range(size)]
    for number, (_, _, target) in enumerate(edges):
        into[target].append(number)
    for state in ends:
        blocks.mark(state)
    blocks.split()
    block, cord = 1, 0
    while cord < len(cords.first):
        for number in cords.members(cord):
            blocks.mark(edges[number][0])
        blocks.split()
        cord += 1
        while block < len(blocks.first):
            for state in blocks.members(block):
                for number in into[state]:
                    cords.mark(number)
            cords.split()
            block += 1
    return blocks.set_of


def _by_letter(edges: Sequence[tuple[int, int, int]]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for number, (_, letter, _) in enumerate(edges):
        groups.setdefault(letter, []).append(number)
    return list(groups.values())


class _Partition:
    """A partition of 0, 1, 2, … into sets that can be split: the marked members of a set leave it, or all others do."""

    def __init__(self, sets: Sequence[Sequence[int]]) -> None:
        self.elements = [element for each in sets for element in each]
        self.place, self.set_of = [0] * len(self.elements), [0] * len(self.elements)
        self.first: list[int] = []
        self.past: list[int] = []
        for number, each in enumerate(sets):
            self.first.append(self.past[-1] if self.past else 0)
            self.past.append(self.first[-1] + len(each))
            for element in each:
                self.set_of[element] = number
        for place, element in enumerate(self.elements):
            self.place[element] = place
        self.marked: dict[int, int] = {}  # how many members of a set are marked; they stand first in it

    def members(self, number: int) -> list[int]:
        """The members of a set, as they are now."""
        return self.elements[self.first[number] : self.past[number]]

    def mark(self, element: int) -> None:
        """Mark an element that is not marked."""
        of, place = self.set_of[element], self.place[element]
        there = self.first[of] + self.marked.get(of, 0)
        other = self.elements[there]
        self.elements[place], self.place[other] = other, place
        self.elements[there], self.place[element] = element, there
        self.marked[of] = self.marked.get(of, 0) + 1

    def split(self) -> None:
        """Split each set that has marked and other members; the smaller part becomes a new set."""
        for number, count in self.marked.items():
            first, past = self.first[number], self.past[number]
            middle = first + count
            if middle == past:
                continue
            if count <= past - middle:
                begin, end, self.first[number] = first, middle, middle
            else:
                begin, end, self.past[number] = middle, past, middle
            for element in self.elements[begin:end]:
                self.set_of[element] = len(self.first)
            self.first.append(begin)
            self.past.append(end)
        self.marked = {}
