"""The structure of a picture of an automaton or a system: nodes in columns and rows, and arrows between them.

In an automaton, a column stands for a number of symbols read and a band of rows for a number of errors, so arrows lead
right or down. A system has no such order: cells of a grid and states with coordinates keep their places, others are
spread out such that neighbours are close together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from statistics import fmean
from typing import Any, Literal

from dpwords.core.symbols import Symbol
from dpwords.errors import InvalidValue
from dpwords.languages.automata import ANY, EMPTY, AnyBut, Automaton, LevenshteinAutomaton, Policy
from dpwords.languages.exploring import Edge
from dpwords.languages.language import Language
from dpwords.languages.systems import ANY_START, TransitionSystem, written
from dpwords.plots.places import MOST_STATES, Arrangement, Spot, apart, cells_of, in_cells_or_spread, to_scale

Kind = Literal[
    "match",
    "substitution",
    "insertion",
    "deletion",
    "same errors",
    "more errors",
    "move",
    "symbol",
    "step",
    "unsure step",
    "outside",
]
_PAIRS_A_LINE = 3  # pairs (read, errors) on one line of a label
_LONGEST_NAME = 40  # characters in the name of a symbol or state
_MOST_LISTED = 4  # symbols that are spelled out on one arrow
_LINE_OF_SYMBOLS = 20  # characters on one line of an arrow's label


@dataclass(frozen=True)
class Node:
    """A state: the lines of its label, and its completions V or an empty text."""

    label: tuple[str, ...]
    completions: str
    is_start: bool
    is_accepting: bool
    column: float
    row: float
    is_outside: bool = False  # not a state: where words come from, or where they end


@dataclass(frozen=True)
class Arrow:
    """All edges of one kind between two states: the symbols they read, and the policy μ of each or an empty text."""

    source: int
    target: int
    reads: str
    proportion: str
    kind: Kind
    width: float = 1.0  # in points
    band: float = 0.0  # width of a paler band behind it, in points
    passes: tuple[Spot, ...] = ()  # columns and rows through which it leads, in ranks

    @property
    def thickness(self) -> float:
        """The width of the arrow with its band, in points."""
        return max(self.width, self.band)

    @property
    def lines(self) -> list[str]:
        """The symbols that the arrow reads, on as many lines as a list of long names needs; numbers have their own."""
        if "\n" in self.reads:
            return self.reads.split("\n")
        lines = [""]
        for part in self.reads.split(", "):
            if lines[-1] and len(lines[-1]) + len(part) > _LINE_OF_SYMBOLS:
                lines.append("")
            lines[-1] += f"{part}, "
        return [line.rstrip() for line in [*lines[:-1], lines[-1].removesuffix(", ")]]


@dataclass(frozen=True)
class Diagram:
    """Nodes with their positions, and arrows that refer to nodes by number."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    arranged: Arrangement
    in_product: bool = False  # whether the last line of each label is the state of a system

    @classmethod
    def of(cls, drawn: Automaton | Language) -> Diagram:
        """The diagram of an automaton, a policy, a product, a transition system, or another language.

        Of a language that is not a system, the states from which a word can be completed are drawn. Cost: its edges.
        """
        if isinstance(drawn, Automaton):
            if not drawn.states:
                raise InvalidValue("there is no word at this distance, hence nothing to draw: choose another distance")
            return _of_automaton(drawn)
        if isinstance(drawn, TransitionSystem):
            return _of_system(drawn)
        if isinstance(drawn, Language):
            return _of_language(drawn)
        raise InvalidValue("only an automaton, a policy, a product or a language has a diagram: pass one of them")


def _of_automaton(drawn: Automaton) -> Diagram:
    completions = drawn.completions if isinstance(drawn, Policy) else {}
    shown = {state: _short(number) for state, number in completions.items()}
    places, (read, inside) = _places(drawn), _parts(drawn.start)
    nodes = tuple(
        Node(_label(state), shown.get(state, ""), state == drawn.start, state in drawn.accepting, *places[state])
        for state in drawn.states
    )
    edges = ((edge, _kind(edge, isinstance(read, frozenset))) for edge in drawn.edges)
    arrows = _arrows(drawn.states, drawn.alphabet.symbols, edges, completions)
    return Diagram(nodes, arrows, arranged="layers", in_product=bool(inside))


def _of_system(system: TransitionSystem) -> Diagram:
    states: tuple[Any, ...] = system.states
    edges = [(s, action, target) for s, row in system.transitions.items() for action, target in row.items()]
    arranged: Arrangement = "coordinates"
    places = to_scale(system)
    if places is None:
        arranged, places = in_cells_or_spread(system, MOST_STATES)
    accepting = system.accepting or frozenset()
    nodes = tuple(Node((visible(s),), "", s == system.start, s in accepting, *places[s]) for s in states)
    arrows = _arrows(states, system.alphabet.symbols, ((edge, "move") for edge in edges), {})
    return Diagram(nodes, arrows, arranged)


def _of_language(language: Language) -> Diagram:
    """States of a system under a rule: copies of its states, on a grid one copy of the grid beside the other.

    Other states have numbers. A prime marks the states of the second copy, two primes those of the third, and so on.
    """
    found = language.explored()
    numbers = range(len(found.states))
    pairs = list(zip(found.sources.tolist(), found.target.tolist(), strict=True))
    spots: list[Spot] | None = None
    names = [str(number) for number in numbers]
    if language.system is not None:
        at = [language.place(state) for state in found.states]
        layers: dict[Any, int] = {}
        copy = [layers.setdefault(language.layer(state), len(layers)) for state in found.states]
        names = [visible(place) + "′" * prime for place, prime in zip(at, copy, strict=True)]
        cells = cells_of(language.system)
        if cells is not None and language.system.start is not None:
            width = 2 + max(cell.column for cell in cells.values()) - min(cell.column for cell in cells.values())
            here = [cells[place] for place in at]
            spots = [
                (float(cell.column + width * prime), float(cell.row)) for cell, prime in zip(here, copy, strict=True)
            ]
    arranged: Arrangement = "spread" if spots is None else "cells"
    spots = apart(len(numbers), pairs, 0, MOST_STATES) if spots is None else spots
    ends = [language.is_accepting(state) for state in found.states]
    nodes = tuple(
        Node((names[number],), "", number == 0, ends[number] and not all(ends), *spots[number]) for number in numbers
    )
    edges = ((source, label, target) for (source, target), label in zip(pairs, found.label, strict=True))
    kind: Kind = "symbol" if language.system is None else "move"
    arrows = _arrows(tuple(numbers), language.alphabet.symbols, ((edge, kind) for edge in edges), {})
    return Diagram(nodes, arrows, arranged)


def _places(drawn: Automaton) -> dict[Any, tuple[float, float]]:
    """The column and row of each state.

    States with the same column and number of errors are stacked in the order of their predecessors.
    """
    columns, before = _columns(drawn)
    stacks: dict[tuple[int, int], list[Any]] = {}
    for state in drawn.states:
        stacks.setdefault((columns[state], _errors(state)), []).append(state)
    heights: Counter[int] = Counter()
    for (_, errors), stack in stacks.items():
        heights[errors] = max(heights[errors], len(stack))
    places: dict[Any, tuple[float, float]] = {}
    for (column, errors), stack in sorted(stacks.items(), key=lambda item: item[0]):
        middle = sum(heights[above] for above in range(errors)) + heights[errors] / 2
        stack.sort(key=lambda state: fmean([places[s][1] for s in before[state] if s in places] or [0.0]))
        places |= {s: (float(column), middle + number - (len(stack) - 1) / 2) for number, s in enumerate(stack)}
    return places


def _columns(drawn: Automaton) -> tuple[dict[Any, int], dict[Any, list[Any]]]:
    """The column of each state, and its predecessors.

    The column is the number of symbols of the word that have been read or, if states do not show it, the length of the
    longest path to the state.
    """
    before: dict[Any, list[Any]] = {state: [] for state in drawn.states}
    for source, _, target in drawn.edges:
        before[target].append(source)
    if isinstance(drawn, LevenshteinAutomaton):
        return {state: state[0] for state in drawn.states}, before
    columns: dict[Any, int] = {}
    for state in TopologicalSorter(before).static_order():
        columns[state] = max((columns[source] + 1 for source in before[state]), default=0)
    return columns, before


def _parts(state: Any) -> tuple[Any, tuple[str, ...]]:
    """What a state says about the word, as a pair (read, errors) or a set of such pairs, and the state of a system."""
    if isinstance(state, frozenset) or isinstance(state[0], int):
        return state, ()
    read, places = _parts(state[0])
    return read, places if isinstance(state[0], frozenset) else (*places, visible(state[1]))


def _errors(state: Any) -> int:
    """The least number of errors in a state."""
    read, _ = _parts(state)
    return int(min(errors for _, errors in read) if isinstance(read, frozenset) else read[1])


def _label(state: Any) -> tuple[str, ...]:
    """The lines of a state's label: 1,0 or a set of such pairs; the state of a system has a line of its own."""
    read, places = _parts(state)
    pairs = [f"{read},{errors}" for read, errors in (sorted(read) if isinstance(read, frozenset) else [read])]
    lines = ["  ".join(pairs[at : at + _PAIRS_A_LINE]) for at in range(0, len(pairs), _PAIRS_A_LINE)]
    return (*lines, *places)


def _kind(edge: Edge, by_sets: bool) -> Kind:
    source, label, target = edge
    if label is EMPTY:
        return "deletion"
    if label is ANY:
        return "insertion"
    if by_sets:
        return "more errors" if _errors(target) > _errors(source) else "same errors"
    return "substitution" if _errors(target) > _errors(source) else "match"


def _arrows(
    states: Sequence[Any], symbols: Sequence[Symbol], edges: Iterable[tuple[Edge, Kind]], completions: Mapping[Any, int]
) -> tuple[Arrow, ...]:
    """The arrows of a diagram; edges of the same kind between the same two states become one arrow."""
    numbers = {state: number for number, state in enumerate(states)}
    labels: dict[tuple[Any, Any, Kind], list[Any]] = {}
    for (source, label, target), kind in edges:
        labels.setdefault((source, target, kind), []).append(label)
    arrows = []
    for (source, target, kind), read in labels.items():
        proportion = _proportion(Fraction(completions[target], completions[source])) if completions else ""
        arrows.append(Arrow(numbers[source], numbers[target], _reads(read, symbols), proportion, kind))
    return tuple(arrows)


def _reads(labels: Sequence[Any], symbols: Sequence[Symbol]) -> str:
    """What an arrow reads: * for any symbol, ε for none, ≠a for any except a, otherwise a list, shortened if long."""
    if len(labels) == 1:
        (label,) = labels
        if isinstance(label, AnyBut):
            return f"≠{_symbol(label.symbol)}"
        return "*" if label is ANY else "ε" if label is EMPTY else _symbol(label)
    if len(labels) == len(symbols):
        return "*"
    if len(labels) <= _MOST_LISTED:
        return ", ".join(map(_symbol, labels))
    others = [symbol for symbol in symbols if symbol not in set(labels)]
    if len(others) <= _MOST_LISTED:
        return "≠" + ", ".join(map(_symbol, others))
    return ", ".join(map(_symbol, labels[: _MOST_LISTED - 1])) + f", … ({len(labels)})"


def _symbol(symbol: Symbol) -> str:
    """A symbol on an arrow, in quotes if it looks like a sign of the legend."""
    text = visible(symbol)
    return f"'{text}'" if text[:1] in ("*", "ε", "≠") else text


def visible(symbol: Symbol) -> str:
    """A symbol or state as text, with visible blanks, shortened if it is long."""
    text = "start" if symbol is ANY_START else written(symbol)
    if len(text) > _LONGEST_NAME:
        text = text[: _LONGEST_NAME - 1] + "…"
    return "".join("␣" if character == " " else character if character.isprintable() else "�" for character in text)


def _short(number: int) -> str:
    return str(number) if number < 10**7 else f"{number:.3g}" if number < 10**300 else "> 1e300"


def _proportion(proportion: Fraction) -> str:
    return str(proportion) if proportion.denominator < 1000 else f"{float(proportion):.3g}"
