"""Languages as deterministic automata, and how they combine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Literal

from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.symbols import Alphabet, Symbol, Word, symbols_of
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.languages.exploring import Explored, State, minimised, numbered, trimmed
from dpwords.languages.spelling import IMPOSSIBLE, Written

Sign = Literal["&", "|", "-"]


class Language(Written, ABC):
    """A public set of words, given as a deterministic automaton: each word has at most one run.

    Languages are immutable. They combine: `a & b` has the words of both, `a | b` those of either, `a - b` those of `a`
    alone, and `~a` all other words over the alphabet of `a`. Nothing is computed before the result is used.

    >>> from dpwords import Words
    >>> (Words("ab") - Words("a")).count(3)
    7
    """

    max_length: int | None = None  # the largest length of a word, if the language declares one
    every_word = False  # whether every word over the alphabet belongs to the language
    alike = False  # whether all words of the same length have equally many words at each distance
    listed = False  # whether the language is given as a list of words
    dead_ends = False  # whether there may be states from which no word can be completed
    symbols_are = "symbols"  # what messages call the symbols
    adapts = False  # whether this is a rule, which takes the alphabet of the language that it meets
    unbound = False  # whether it has no alphabet before that
    conditions: tuple[Language, Language] | None = None  # two languages to both of which a word has to belong, if known
    within: Language | None = None  # a language to which all words are known to belong

    @property
    @abstractmethod
    def initial(self) -> State:
        """The state before the first symbol."""

    @abstractmethod
    def step(self, state: Any, symbol: Any) -> Any:
        """The state after reading a symbol of the alphabet, or None if it cannot be read there."""

    @abstractmethod
    def is_accepting(self, state: Any) -> bool:
        """Whether a word may end in this state."""

    def follow(self, state: Any) -> Iterator[tuple[Symbol, Any]]:
        """The symbols that can be read in a state, each with the state it leads to."""
        for symbol in self.alphabet.symbols:
            successor = self.step(state, symbol)
            if successor is not None:
                yield symbol, successor

    def accepts(self, word: Word) -> bool:
        """Whether the word may be released; False for unknown symbols too. Cost: the word's length."""
        return self.fault(symbols_of(word)) is None

    def fault(self, letters: tuple[Any, ...]) -> str | None:
        """Why the word is not in the language, in a text without any symbol of the word; None if it is in it."""
        return self.fault_of(self.read(letters))

    def fault_of(self, symbols: tuple[Any, ...]) -> str | None:
        """The same for the symbols of a word."""
        state, size = self.initial, len(symbols)
        for place, symbol in enumerate(symbols, start=1):
            if symbol is not IMPOSSIBLE and symbol not in self.alphabet:
                return f"symbol {place} of {size} is not in the alphabet"
            state = None if symbol is IMPOSSIBLE else self.step(state, symbol)
            if state is None:
                return f"symbol {place} of {size} cannot follow the ones before it"
        return None if self.is_accepting(state) else "it ends where no word of the language may end"

    def explored(self, most: int | None = None) -> Explored:
        """The states that can be reached, the start first, and the edges between them.

        If there may be dead ends, only the states from which a word can be completed; they are then minimised, except
        for runs of a system. Raises `TooLarge` beyond `most` states, and `InvalidValue` if there is no word. Cost: the
        edges of all states that can be reached.
        """
        if not self.dead_ends:
            return numbered([self.initial], self.follow, most)
        found = numbered([self.initial], self.follow, DEFAULTS.combined_states if most is None else most)
        found = trimmed(found, self.is_accepting)
        if not found.label and not self.is_accepting(self.initial):
            raise InvalidValue(why_empty(self))
        if self.system is not None or len(found.label) > DEFAULTS.minimised_edges:
            return found
        return minimised(found, self.is_accepting)

    @property
    def system(self) -> Any:
        """The transition system whose runs the words are; None for other words."""
        return None

    def place(self, state: Any) -> Any:
        """The state of `system` that a run has reached when the language is in `state`."""
        return state

    def layer(self, state: Any) -> Any:
        """What a state remembers besides its place: the states of rules."""
        return None if self.system is not None else state

    def run(self, moves: Word) -> list[Any]:
        """The states of `system` that a word enters, one after the other, without the start.

        A word of states enters its own symbols; with `start=None` the first of them is the first state. Raises
        `NotInLanguage` for a word outside the language. Cost: the length of the word.

        >>> from dpwords import GridWorld
        >>> GridWorld(15, 15).run("EESS")
        [(0, 1), (0, 2), (1, 2), (2, 2)]
        """
        self._its_system()
        symbols = symbols_of(moves)
        fault = self.fault(symbols)
        if fault is not None:
            raise NotInLanguage(f"the word is not in the language ({fault}): only words of the language can be run")
        return [self.place(state) for state in accumulate(self.read(symbols), self.step, initial=self.initial)][1:]

    def moves(self, states: Word) -> list[Any]:
        """The word that enters these states of `system` one after the other, if it is unique: the inverse of `run`.

        Raises `NotInLanguage` if there is none, and `InvalidValue` if there are several.
        """
        word: list[Any] = self._its_system().moves(states)
        if not self.accepts(word):
            raise NotInLanguage("the run of these states is not in the language: only runs of the language have moves")
        return word

    def count(self, length: int) -> int:
        """The exact number of words of this length. Cost: length · edges, in integers of arbitrary size."""
        ways: dict[Any, int] = {self.initial: 1}
        for _ in range(whole_number(length, "a length", 0)):
            ahead: Counter[Any] = Counter()
            for state, number in ways.items():
                for _, successor in self.follow(state):
                    ahead[successor] += number
            ways = ahead
        return sum(number for state, number in ways.items() if self.is_accepting(state))

    def _its_system(self) -> Any:
        if self.system is None:
            raise InvalidValue(
                "only words of a transition system have runs: combine a system with rules, system & rule"
            )
        return self.system

    def bound_to(self, language: Language) -> Language:
        """This language; a rule becomes one over the alphabet of the language that it meets."""
        return self

    def __and__(self, other: Language) -> Language:
        """The words that belong to both languages."""
        return combined("&", self, other) if isinstance(other, Language) else NotImplemented

    def __or__(self, other: Language) -> Language:
        """The words that belong to one of the languages, or to both."""
        return combined("|", self, other) if isinstance(other, Language) else NotImplemented

    def __sub__(self, other: Language) -> Language:
        """The words of this language that do not belong to the other."""
        return combined("-", self, other) if isinstance(other, Language) else NotImplemented

    def __invert__(self) -> Language:
        """The words over the same alphabet that do not belong to this language."""
        return Combination("-", Everything(None if self.adapts else self.alphabet), self)

    def up_to(self, max_length: int) -> Language:
        """The words of at most this length.

        >>> from dpwords import Words
        >>> Words("ab").up_to(3).accepts("abab")
        False
        """
        return _UpTo(self, whole_number(max_length, "max_length", 0))


class Derived(Language):
    """A language that is made from others, or a rule; a rule may have no alphabet before it meets a language."""

    _alphabet: Alphabet | None
    dead_ends = True

    @property
    def alphabet(self) -> Alphabet:  # type: ignore[override]
        if self._alphabet is None:
            raise InvalidValue(
                f"the rule {self!r} has no alphabet yet: combine it with a language, as in Words('abc') & rule, or "
                "pass alphabet="
            )
        return self._alphabet

    @property
    def initial(self) -> State:
        return 0


class Everything(Derived):
    """Every word over an alphabet, or those of at most `max_length` symbols.

    Without an alphabet, it takes that of the language that it meets.
    """

    dead_ends = False

    def __init__(self, alphabet: Alphabet | None, max_length: int | None = None) -> None:
        self._alphabet, self.max_length = alphabet, max_length
        self.unbound = self.adapts = alphabet is None

    def __repr__(self) -> str:
        return "everything"

    def step(self, state: int, symbol: Any) -> int | None:
        """The next state: the number of symbols read if the length is bounded, otherwise always 0."""
        if self.max_length is None:
            return 0
        return state + 1 if state < self.max_length else None

    def is_accepting(self, state: int) -> bool:
        return True

    def bound_to(self, language: Language) -> Language:
        return Everything(language.alphabet) if self.adapts else self


class Combination(Derived):
    """The words that two languages have in common (&), that either has (|), or that only the left one has (-).

    States are pairs of states, with None once a language can no longer be followed. They are followed as they are
    needed, so `accepts` costs the length of the word, whatever the size of the languages. What needs all states, such
    as a mechanism, keeps those from which a word can be completed; the automaton is then minimised, except for runs of
    a system, whose states are places that pictures and certificates refer to.

    The alphabet consists of the common symbols (&), of the symbols of both (|), or of those of the left one (-), in the
    order of the left language.
    """

    def __init__(self, sign: Sign, left: Language, right: Language, alphabet: Alphabet | None = None) -> None:
        self.sign, self.left, self.right = sign, left, right
        self.conditions = (left, right) if sign == "&" else None
        self.unbound, self.adapts = left.unbound or right.unbound, left.adapts and right.adapts
        self._alphabet = None if self.unbound else alphabet or _alphabet_of(sign, left, right)
        self._alike = not self.unbound and left.alphabet.symbols == right.alphabet.symbols
        bounds = [side.max_length for side in (left, right)]
        known = [bound for bound in bounds if bound is not None]
        if sign == "-":
            self.max_length = left.max_length
        elif sign == "&":
            self.max_length = min(known, default=None)
        else:
            self.max_length = max(known) if len(known) == len(bounds) else None
        shared = sign != "|" or left.system is right.system
        candidates = [left] if sign == "-" else [left, right] if shared else []
        self._runs = next((side for side in candidates if side.system is not None), None)  # the side with the system
        self._lead = int(sign == "&" and self._runs is right)  # which side is followed: a system has fewer edges
        self.symbols_are = left.symbols_are if left.symbols_are == right.symbols_are else "symbols"
        if self.system is not None:
            self.symbols_are = self.system.symbols_are
        self.spelling = None if self._runs is None else self._runs.spelling
        if self.spelling is None and (left.spelling or right.spelling) is not None:
            raise InvalidValue(
                "not all of these words are plans of one system, so they cannot be written as moves: combine words of "
                "states, by_states()"
            )

    def __repr__(self) -> str:
        if self.sign == "-" and type(self.left) is Everything:
            return f"~{_in_brackets(self.right, '~')}"
        return f"{_in_brackets(self.left, self.sign)} {self.sign} {_in_brackets(self.right, '')}"

    @property
    def initial(self) -> tuple[Any, Any]:
        return self.left.initial, self.right.initial

    def follow(self, state: tuple[Any, Any]) -> Iterator[tuple[Symbol, Any]]:
        lead, sides = self._lead, (self.left, self.right)
        if state[lead] is not None:
            for symbol, onward in sides[lead].follow(state[lead]):
                also = self._after(sides[1 - lead], state[1 - lead], symbol)
                if also is not None or self.sign != "&":
                    yield symbol, ((also, onward) if lead else (onward, also))
        if self.sign == "|" and state[1] is not None:
            for symbol, onward in self.right.follow(state[1]):
                if self._after(self.left, state[0], symbol) is None:
                    yield symbol, (None, onward)

    def step(self, state: tuple[Any, Any], symbol: Any) -> Any:
        onward = self._after(self.left, state[0], symbol), self._after(self.right, state[1], symbol)
        ends = [each is None for each in onward]
        over = any(ends) if self.sign == "&" else all(ends) if self.sign == "|" else ends[0]
        return None if over else onward

    def is_accepting(self, state: tuple[Any, Any]) -> bool:
        one = state[0] is not None and self.left.is_accepting(state[0])
        other = state[1] is not None and self.right.is_accepting(state[1])
        return one and other if self.sign == "&" else one or other if self.sign == "|" else one and not other

    @property
    def system(self) -> Any:
        return None if self._runs is None else self._runs.system

    def place(self, state: tuple[Any, Any]) -> Any:
        is_right = self._lead or state[0] is None
        return self.right.place(state[1]) if is_right else self.left.place(state[0])

    def layer(self, state: tuple[Any, Any]) -> Any:
        sides = zip((self.left, self.right), state, strict=True)
        return tuple(None if at is None else (side.layer(at),) for side, at in sides)

    def bound_to(self, language: Language) -> Language:
        sides = self.left.bound_to(language), self.right.bound_to(language)
        return self if sides == (self.left, self.right) else Combination(self.sign, *sides)

    def _after(self, side: Language, state: Any, symbol: Any) -> Any:
        """The state of one side after a symbol of the other, or None."""
        unknown = state is None or not (self._alike or symbol in side.alphabet)
        return None if unknown else side.step(state, symbol)


class _UpTo(Combination):
    """The words of a language with at most `max_length` symbols; states are pairs (state of the language, length)."""

    bound_to = Language.bound_to

    def __init__(self, language: Language, max_length: int) -> None:
        super().__init__("&", language, Everything(language.alphabet, max_length))
        self.max_length, self.symbols_are, self.conditions = max_length, language.symbols_are, None

    def __repr__(self) -> str:
        return f"<{self.left!r} up to {self.max_length} symbols>"


def combined(sign: Sign, left: Language, right: Language) -> Language:
    """Two languages as one; a rule takes the alphabet of the language that it meets."""
    if right.unbound or (right.adapts and not left.adapts and sign != "|"):
        right = right if left.unbound else right.bound_to(left)
    elif left.unbound or (left.adapts and not right.adapts and sign != "|"):
        left = left.bound_to(right)
    if sign == "&" and left.within is right:
        return left
    return right if sign == "&" and right.within is left else Combination(sign, left, right)


def why_empty(language: Language) -> str:
    """Why a language has no word, or only the empty one: the rule that leaves none, if it is known."""
    only = language.is_accepting(language.initial)
    if language.conditions is not None:
        for side in language.conditions:
            if not side.explored().label:  # there was none before
                return why_empty(side)
        one, other = language.conditions
        return f"{other!r} leaves {'only the empty word' if only else 'no word'} of {one!r}: relax one of them"
    if only:
        return f"{language!r} has only the empty word, which has nothing to hide: allow longer words"
    return f"{language!r} has no word at all: make an accepting state reachable from its start, or relax a rule"


def _in_brackets(language: Language, sign: str) -> str:
    """The text of an operand; that of another operation has brackets around it."""
    inner = type(language) is Combination and language.sign != sign and not repr(language).startswith("~")
    return f"({language!r})" if inner else repr(language)


def _alphabet_of(sign: Sign, left: Language, right: Language) -> Alphabet:
    one, other = left.alphabet, right.alphabet
    if one.symbols == other.symbols:
        return one
    common = [symbol for symbol in one.symbols if symbol in other]
    if sign == "|":
        return Alphabet([*one.symbols, *other.symbols])
    if not common:
        raise InvalidValue(
            f"{left!r} and {right!r} have no symbol in common: combine languages over the same alphabet, and words of "
            "states with words of states"
        )
    return Alphabet(common) if sign == "&" else one


def checked_language(language: object) -> Language:
    """The argument itself, if it is a language with an initial state; raises `InvalidValue` otherwise.

    Mechanisms call this on construction, so that a wrong argument is reported there and not at the first release.
    """
    if not isinstance(language, Language):
        raise InvalidValue("the language must be a Words, a TransitionSystem, …: pass for example Words('abc')")
    _ = language.alphabet, language.initial  # a rule needs an alphabet, and words of moves need a start
    return language
