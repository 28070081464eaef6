"""The paper's automata: those that accept the words near a given word, their products with a system, and policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from graphlib import TopologicalSorter
from typing import Any, Literal

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Alphabet, Symbol, Word, symbols_of
from dpwords.errors import InvalidValue
from dpwords.languages.exploring import Edge, State, explore
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language


@dataclass(frozen=True)
class AnyBut:
    """A label that matches every symbol of the alphabet except one."""

    symbol: Symbol

    def __str__(self) -> str:
        return f"any but {self.symbol}"


@dataclass(frozen=True)
class _Marker:
    name: str

    def __str__(self) -> str:
        return self.name


ANY = _Marker("any")  # a label that matches every symbol of the alphabet
EMPTY = _Marker("empty")  # the label of an edge that reads nothing


@dataclass(eq=False, repr=False)
class Automaton:
    """A finite automaton that records, for each accepting state, the distance of the words that end there.

    An edge is (state, label, state); a label is a symbol, `AnyBut`, `ANY` or `EMPTY`.
    """

    alphabet: Alphabet
    start: State
    states: tuple[Any, ...]
    edges: tuple[Edge, ...]
    distances: Mapping[Any, int]
    k: int

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.states)} states, {len(self.edges)} edges>"

    @property
    def accepting(self) -> frozenset[Any]:
        """The states in which accepted words end."""
        return frozenset(self.distances)

    @property
    def is_deterministic(self) -> bool:
        """Whether every edge reads a symbol, and no two edges that leave a state read the same one.

        An automaton for all kinds of edits is not deterministic: it has `ANY` and `EMPTY` edges.
        """
        return not any(label in (ANY, EMPTY) for _, label, _ in self.edges)

    def accepts(self, word: Word) -> bool:
        """Whether some run of the word ends in an accepting state. Cost: at most length · edges."""
        now = self._closure([self.start])
        for symbol in symbols_of(word):
            now = self._read(now, symbol)
        return not now.isdisjoint(self.distances)

    def exactly(self, distance: int) -> Policy:
        """The part that accepts the words at exactly this distance, with its completions and policy (Algorithm 2)."""
        if whole_number(distance, "a distance", 0) > self.k:
            raise InvalidValue(f"this automaton allows at most {self.k} edits: ask for a distance from 0 to {self.k}")
        if not self.is_deterministic:
            return self._determinised.exactly(distance)
        return Policy(self, [state for state, spent in self.distances.items() if spent == distance])

    def product(self, system: Language) -> Automaton:
        """The synchronous product: the automaton of the words that both this automaton and the system accept.

        Its states are pairs (state of this automaton, state of the system); each of its edges reads a single symbol.
        Cost: the number of its edges.
        """
        if not self.is_deterministic:
            raise InvalidValue("only a deterministic automaton has a product: use edits='substitutions' or of_length()")
        if not isinstance(system, Language):
            raise InvalidValue("a product needs a language: pass a TransitionSystem, a GridWorld, …")

        moves = cache(lambda at: dict(system.follow(at)))
        reads = cache(lambda near: [(a, to) for label, to in self._out.get(near, ()) for a in self._symbols(label)])

        def follow(pair: tuple[Any, Any]) -> list[tuple[Symbol, tuple[Any, Any]]]:
            near, at = pair
            onward = moves(at)
            return [(symbol, (to, onward[symbol])) for symbol, to in reads(near) if symbol in onward]

        start = (self.start, system.initial)
        explored = explore([start], follow)
        ends = {(q, s): self.distances[q] for q, s in explored[0] if q in self.distances and system.is_accepting(s)}
        return Automaton(self.alphabet, start, *explored, ends, self.k)

    @cached_property
    def _out(self) -> dict[Any, list[tuple[Any, Any]]]:
        out: dict[Any, list[tuple[Any, Any]]] = {}
        for source, label, target in self.edges:
            out.setdefault(source, []).append((label, target))
        return out

    def _symbols(self, label: Any) -> tuple[Symbol, ...]:
        """The symbols that a label reads."""
        if isinstance(label, AnyBut):
            return tuple(symbol for symbol in self.alphabet.symbols if symbol != label.symbol)
        if label is ANY:
            return self.alphabet.symbols
        return () if label is EMPTY else (label,)

    def _closure(self, states: Iterable[Any]) -> frozenset[Any]:
        """These states, and all states that can be reached from them without reading a symbol."""
        reached, _ = explore(states, lambda state: (edge for edge in self._out.get(state, ()) if edge[0] is EMPTY))
        return frozenset(reached)

    def _read(self, states: frozenset[Any], symbol: Any) -> frozenset[Any]:
        """The states that can be reached from any of these by reading the symbol."""
        if symbol not in self.alphabet:
            return frozenset()
        return self._closure(
            target
            for state in states
            for label, target in self._out.get(state, ())
            if label is ANY
            or (label.symbol != symbol if isinstance(label, AnyBut) else label is not EMPTY and label == symbol)
        )

    @cached_property
    def _determinised(self) -> Automaton:
        """The result of the subset construction, in which a word has one distance: its least number of edits."""

        def follow(states: frozenset[Any]) -> Iterator[tuple[Symbol, frozenset[Any]]]:
            for symbol in self.alphabet.symbols:
                successor = self._read(states, symbol)
                if successor:
                    yield symbol, successor

        start = self._closure([self.start])
        explored = explore([start], follow)
        spent = ((subset, [self.distances[s] for s in subset if s in self.distances]) for subset in explored[0])
        ends = {subset: min(distances) for subset, distances in spent if distances}
        return Automaton(self.alphabet, start, *explored, ends, self.k)

    def _leading_to(self, ends: Iterable[Any]) -> tuple[tuple[Any, ...], tuple[Edge, ...]]:
        """The states from which one of `ends` can be reached, and the edges between them."""
        back: dict[Any, list[tuple[Any, Any]]] = {}
        for source, label, target in self.edges:
            back.setdefault(target, []).append((label, source))
        useful = set(explore(ends, lambda state: back.get(state, ()))[0])
        return tuple(s for s in self.states if s in useful), tuple(e for e in self.edges if e[2] in useful)


class LevenshteinAutomaton(Automaton):
    """The automaton of all words within `k` edits of a word (Algorithm 1, corrected).

    In state (i, e), i symbols of the word have been read and e edits spent. `edits="all"` allows insertions, deletions
    and substitutions; `edits="substitutions"` allows only the last.

    >>> near = LevenshteinAutomaton("abc", k=2, alphabet="abc", edits="substitutions")
    >>> near.accepts("acb"), near.accepts("cab")
    (True, False)
    >>> near.exactly(2).completions[(0, 0)]
    12
    """

    def __init__(
        self, word: Word, k: int, alphabet: Iterable[Symbol], edits: Literal["all", "substitutions"] = "all"
    ) -> None:
        if edits not in ("all", "substitutions"):
            raise InvalidValue("edits must be 'all' or 'substitutions'")
        symbols, letters = symbols_of(word), Alphabet(alphabet)
        for position, symbol in enumerate(symbols, start=1):
            if symbol not in letters:
                raise InvalidValue(
                    f"symbol {position} of {len(symbols)} is not in the alphabet: add it to the alphabet"
                )
        most = whole_number(k, "k", 0)
        self.word, self.edits = symbols, edits

        def follow(state: tuple[int, int]) -> Iterator[tuple[Any, tuple[int, int]]]:
            read, spent = state
            if read < len(symbols):
                yield symbols[read], (read + 1, spent)
            if spent < most:
                if read < len(symbols) and len(letters) > 1:
                    yield AnyBut(symbols[read]), (read + 1, spent + 1)
                if edits == "all":
                    yield ANY, (read, spent + 1)
                    if read < len(symbols):
                        yield EMPTY, (read + 1, spent + 1)

        explored = explore([(0, 0)], follow)
        ends = {(read, spent): spent for read, spent in explored[0] if read == len(symbols)}
        super().__init__(letters, (0, 0), *explored, ends, most)

    def of_length(self) -> Automaton:
        """The deterministic automaton of those accepted words that are as long as the given word.

        For `edits="substitutions"` this is the automaton itself; for `edits="all"` its states are pairs (set of states,
        symbols read).
        """
        if self.edits == "substitutions":
            return self
        length = len(self.word)
        layered = self._determinised.product(Words(self.alphabet.symbols, max_length=length))
        ends = {state: distance for state, distance in layered.distances.items() if state[1] == length}
        return Automaton(self.alphabet, layered.start, *layered._leading_to(ends), ends, self.k)


class Policy(Automaton):
    """An automaton restricted to given end states, with completions V and the policy μ that draws its words uniformly.

    `completions[state]` is the number of words that lead from the state to one of the end states;
    `policy[state, symbol]` is the fraction of them that begin with the symbol. Both are exact. Cost: edges, each
    counted once for every symbol that it reads.
    """

    def __init__(self, automaton: Automaton, ends: Iterable[Any]) -> None:
        distances = {state: automaton.distances[state] for state in ends}
        leading = automaton._leading_to(distances)
        super().__init__(automaton.alphabet, automaton.start, *leading, distances, automaton.k)
        self.completions: dict[Any, int] = {self.start: 0}
        for state in TopologicalSorter({s: [t for _, t in self._out.get(s, ())] for s in self.states}).static_order():
            onward = sum(len(self._symbols(label)) * self.completions[t] for label, t in self._out.get(state, ()))
            self.completions[state] = onward + (state in distances)
        self.policy: dict[tuple[Any, Symbol], Fraction] = {
            (source, symbol): Fraction(self.completions[target], self.completions[source])
            for source, label, target in self.edges
            for symbol in self._symbols(label)
        }
