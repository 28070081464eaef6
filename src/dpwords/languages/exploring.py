"""The routine that explores every automaton, and smaller automata for the same words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from dpwords.errors import TooLarge

State = Hashable
Edge = tuple[Any, Any, Any]  # state, label, state
Explored = tuple[tuple[Any, ...], tuple[Edge, ...]]  # states, the start first, and edges, ordered by their source
Follow = Callable[[Any], Iterable[tuple[Any, Any]]]


def explore(starts: Iterable[State], follow: Follow, most: int | None = None) -> Explored:
    """All states reachable from `starts`, in breadth-first order, and all edges between them.

    `follow(state)` yields pairs (label, next state). Raises `TooLarge` if there are more than `most` states.
    Cost: one call of `follow` for each state reached.
    """
    found = dict.fromkeys(starts)
    waiting, edges = deque(found), []
    while waiting:
        state = waiting.popleft()
        if most is not None and len(found) > most:
            raise TooLarge(f"the language may have at most {most} states here: use a smaller one or shorter words")
        for label, successor in follow(state):
            edges.append((state, label, successor))
            if successor not in found:
                found[successor] = None
                waiting.append(successor)
    return tuple(found), tuple(edges)


def trimmed(explored: Explored, is_end: Callable[[Any], bool]) -> Explored:
    """The states from which an end can be reached, and the edges between them, in their order; the start stays.

    Cost: edges.
    """
    states, edges = explored
    back: dict[Any, list[Any]] = {}
    for source, _, target in edges:
        back.setdefault(target, []).append(source)
    waiting = [state for state in states if is_end(state)]
    useful = set(waiting)
    while waiting:
        for source in back.get(waiting.pop(), ()):
            if source not in useful:
                useful.add(source)
                waiting.append(source)
    if len(useful) == len(states):
        return explored
    kept = tuple(state for number, state in enumerate(states) if number == 0 or state in useful)
    return kept, tuple(edge for edge in edges if edge[0] in useful and edge[2] in useful)


def minimised(explored: Explored, is_end: Callable[[Any], bool]) -> Explored:
    """The least deterministic automaton with the same words; each class of states is represented by its first state.

    The automaton must be trimmed. Cost: edges · log(states), some seconds for a million edges.
    """
    states, edges = explored
    number = {state: index for index, state in enumerate(states)}
    letters: dict[Any, int] = {}
    numbered = [(number[s], letters.setdefault(label, len(letters)), number[t]) for s, label, t in edges]
    class_of = _classes(len(states), numbered, [index for index, state in enumerate(states) if is_end(state)])
    first: dict[int, int] = {}
    for index, of in enumerate(class_of):
        first.setdefault(of, index)
    if len(first) == len(states):
        return explored
    stays = {states[index] for index in first.values()}
    lead = {state: states[first[class_of[index]]] for state, index in number.items()}
    kept = tuple(state for state in states if state in stays)
    return kept, tuple((s, label, lead[t]) for s, label, t in edges if s in stays)


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
