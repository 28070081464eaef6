"""Release symbol by symbol: for streams, where there is no word yet to look at."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import is_hashable
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language, checked_language
from dpwords.languages.spelling import IMPOSSIBLE
from dpwords.mechanisms.private import Weighted
from dpwords.mechanisms.summary import InForce
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.spaces.choice import online_space_of
from dpwords.spaces.graph import Graph
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.space import Weights

_SLACK = 2.0**-49  # more than rounding costs, for each position that differs


class Online(Weighted):
    """Release each symbol as it arrives: the true one, or another after which the word can still be completed.

    Suppose that D symbols are possible in the state reached by the released symbols. Then the true symbol has
    probability e^c/(e^c + D − 1) and each other one 1/(e^c + D − 1), with c = ε/k: nothing is spent on a
    normalising constant. If the true symbol is not possible there, then in words of states the possible state nearest
    to it takes its part, so that the output finds its way back; in words of moves each symbol has 1/D. Where runs may
    start anywhere, the first state is one of several from which the true run can soon be met. On words of states
    `Exponential` is usually nearer, because it looks ahead; at small ε `Online` is better. Cost: the branching for each
    symbol, and the edges of the system once for each state that has to be searched for.

    >>> from dpwords import GridWorld, Online
    >>> stream = Online(GridWorld(5, 5), epsilon=3).stream()
    >>> stream.push("E") in ("E", "S")
    True
    """

    _kind = ("online",)

    def __init__(self, language: Language, epsilon: float, k: int = 1, *, limits: Limits = DEFAULTS) -> None:
        super().__init__(language, online_space_of(checked_language(language), limits), k, limits=limits)
        self.epsilon = checked_epsilon(epsilon)
        rate = Fraction(self.epsilon) / self.k - Fraction(_SLACK)
        if rate <= 0:
            raise InvalidValue("epsilon is no larger than what rounding may cost: take a larger epsilon")
        self._rate = rate

    def __repr__(self) -> str:
        return f"Online({self.language!r}, epsilon={self.epsilon:g}, k={self.k})"

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "hamming", self.k, _SLACK, "online", proof=10))

    def stream(self, length: int | None = None) -> OnlineStream:
        """A stream that releases a word of this length symbol by symbol.

        The length may be left out where no run can get stuck and every run may end. The pushed symbols need not form a
        word of the language; the released ones do. Moves of plans have to be those of a run.
        """
        space = OnlineRuns(Graph.of(self.language), self.limits)
        graph = space.graph
        positions = None if length is None else self._checked_length(whole_number(length, "length", 1))
        if positions is None and not (graph.accepting.all() and np.diff(graph.first).all()):
            raise InvalidValue("runs of this system can get stuck, or may not end everywhere: pass stream(length=...)")
        if positions is not None and not graph.useful(positions)[0, graph.start]:
            raise InvalidValue(f"the language has no word of length {positions}: choose another length")
        return OnlineStream(self, space, positions)

    def _in_force(self, length: int) -> InForce:
        return InForce(
            "online mechanism: each symbol is drawn with ε/k of its own, and nothing has to be calibrated",
            drawn="symbol by symbol, each with probabilities that favour the true symbol (online mechanism)",
        )

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)(self.language, epsilon, k, limits=self.limits)

    def weights(self, length: int) -> Weights:
        """The weights of the outputs at words of this length, of which each position takes its proportion."""
        return _weights(self._rate, length)


@lru_cache(maxsize=64)
def _weights(rate: Fraction, length: int) -> Weights:
    return Weights.linear(rate, length)


class OnlineStream:
    """One word that is being released. Memory: constant, or one flag for each state and position if the length is
    given.

    Each push draws fresh bits. No generator is kept between pushes, so copies of a stream (in forked processes, or
    unpickled) never repeat each other's draws.
    """

    def __init__(self, mechanism: Online, space: OnlineRuns, length: int | None) -> None:
        graph, spelling = space.graph, mechanism.language.spelling
        self._alphabet, self._space, self._spelling = mechanism.language.alphabet, space, spelling
        self._ends = (None, None) if spelling is None else (spelling.start, spelling.start)  # of true and released runs
        self._preferences = space.preferences(mechanism.weights(1).z, length)
        self._useful = np.ones((1, graph.size), dtype=np.bool_) if length is None else graph.useful(length)[1:]
        self._length, self._pushed, self._state = length, 0, graph.start
        self._source = mechanism._source

    def push(self, symbol: Any) -> Any:
        """Take the next true symbol and return the next released one. Cost: that of `Online`, for one symbol."""
        if self._length is not None and self._pushed == self._length:
            raise InvalidValue(f"this stream was opened for {self._length} symbols: open another one")
        true, released = self._ends
        if self._spelling is not None:
            (symbol,) = self._spelling.read([symbol], true)
        if symbol is IMPOSSIBLE:
            raise InvalidValue(f"symbol {self._pushed + 1} cannot follow the ones before it: push the moves of a run")
        if not is_hashable(symbol) or symbol not in self._alphabet:
            raise InvalidValue(f"symbol {self._pushed + 1} is not in the alphabet: push symbols of the alphabet")
        useful = self._useful[0 if self._length is None else self._pushed]
        state, own = np.array([self._state]), np.array([self._alphabet.codes[symbol]])
        (taken,) = self._space.step(useful, state, own, self._preferences, self._source.open())
        self._state, self._pushed = int(self._space.graph.target[taken]), self._pushed + 1
        drawn = self._alphabet.symbols[int(self._space.graph.symbol[taken])]
        if self._spelling is None:
            return drawn
        self._ends = symbol, drawn
        return self._spelling.spell([drawn], released)[0]
