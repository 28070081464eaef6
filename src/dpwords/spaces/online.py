"""Words that are drawn symbol by symbol, without a look at the symbols to come.

A symbol is *open* if the word can still be completed after it, otherwise it is *closed*. At each position the true
symbol is preferred; where it is closed, and symbols name states, the open symbols nearest to it are preferred instead,
so that an output which has left the true run finds its way back. Where runs may start in many states, the first symbol
prefers a fixed number of states from which the true run can soon be met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.compiled import in_parts, kernel_for
from dpwords.core.randomness import Stream
from dpwords.core.scaled import ZERO_EXPONENT, Floats, Integers, Scaled
from dpwords.core.symbols import Codes, Rows
from dpwords.spaces.graph import Flags
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Distances, Weights, batches
from dpwords.spaces.tuning import CACHED_PREFERENCES, LEVELS, LOST, MANY_STARTS, OPEN_LENGTH, SAMPLED_STARTS, WRONG


class Choices(NamedTuple):
    """What can be released next, a row for each state: its edges, padded to equal width."""

    edges: Integers
    open_to: Flags  # which of them are open; padding is closed
    preferred: Flags
    shared: bool  # whether the preferred ones of a row share the place of one


class Nearness(NamedTuple):
    """What is preferred where the true symbol is closed, in the form that kernels take."""

    z: float
    shared: Floats  # for t = 0, 1, 2, …, the weight of each of t symbols that are equally near; 1 for t = 0
    row_of: Integers  # for each symbol, its row in `steps`, −1 for none
    steps: NDArray[np.int32]  # the least number of steps from each state to the one that a symbol names


class Preferences:
    """The weights of the open symbols of a state: 1 shared by the preferred ones, and z for each other one.

    If t symbols are preferred, one of them is chosen at random, and it has weight 1 and all others z. So each of the t
    has weight (1 + (t − 1)·z)/t, and the sum of all weights is the same whatever is preferred. If none is preferred,
    all open symbols have weight 1. At the first position of a run that may start in many states, `starts` of them are
    preferred, the same number for every true symbol, and each has weight 1.
    """

    def __init__(self, z: Scaled, space: OnlineRuns, length: int | None) -> None:
        (exact,) = z.exact()
        self.starts = space.best_starts(float(exact), length or OPEN_LENGTH)
        tied = range(1, space.most_tied + 1)
        self._shared = scaled.from_fractions([Fraction(1), *((1 + (t - 1) * exact) / t for t in tied)])
        self.z = z

    def plain(self) -> tuple[float, Floats]:
        """As floats: z, and for t = 0, 1, 2, … the weight of each of t symbols that are preferred together."""
        none = np.zeros(1, dtype=np.int64)
        return float(self.z.relative_to(none)[0]), self._shared.relative_to(none)

    def weights(self, choices: Choices) -> Scaled:
        """The stored weights of the edges of each row; 0 for closed ones."""
        _, open_to, preferred, shared = choices
        number = np.count_nonzero(preferred, axis=-1)[:, None]
        number = number if shared else np.minimum(number, 1)
        high, low = np.broadcast_to(preferred | (number == 0), open_to.shape) & open_to, open_to & ~preferred
        mantissa = np.where(high, self._shared.mantissa[number], np.where(low, self.z.mantissa, 0.0))
        exponent = np.where(high, self._shared.exponent[number], np.where(low, self.z.exponent, ZERO_EXPONENT))
        return Scaled(mantissa, exponent)


@dataclass(frozen=True, eq=False)
class OnlineRuns(Runs):
    """The words of a graph, each drawn symbol by symbol.

    Cost: length · edges for each law or batch, then length · branching for each word, and the edges once for each true
    symbol that is met where it is closed.
    """

    _steps_to: dict[int, Integers] = field(default_factory=dict, init=False, repr=False)  # by symbol
    _preferences: dict[Any, Preferences] = field(default_factory=dict, init=False, repr=False)  # by z and length

    def __getstate__(self) -> dict[str, Any]:
        """Without the steps that were computed so far: they show which symbols private words had."""
        return {**vars(self), "_steps_to": {}}

    @property
    def slack(self) -> float:
        """Only e^(−rate) and the proportions of symbols that are equally near are rounded, each once."""
        return 2.0**-49

    def law(self, codes: Codes, weights: Weights) -> OnlineLaw:
        return OnlineLaw(codes, self, weights)

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Codes:
        """One word for each row; all rows are drawn together."""
        graph, length = self.graph, rows.shape[1]
        useful, preferences, words = graph.useful(length), self.preferences(weights.z, length), np.empty_like(rows)
        for part in batches(len(rows), max(length, graph.branching), self.limits):
            own, mine = rows[part], stream.of(part)
            states = np.full(len(own), graph.start)
            for position in range(length):
                taken = self.step(useful[position + 1], states, own[:, position], preferences, mine)
                words[part, position], states = graph.symbol[taken], graph.target[taken]
        return words

    def preferences(self, z: Scaled, length: int | None) -> Preferences:
        """The weights of choices where a symbol that differs costs z, prepared once for each z and length."""
        key = (float(z.mantissa[0]), int(z.exponent[0]), length)
        found = self._preferences.get(key)
        if found is None:
            if len(self._preferences) >= CACHED_PREFERENCES:
                self._preferences.clear()
            found = self._preferences[key] = Preferences(z, self, length)
        return found

    def distances(self, rows: Rows, weights: Weights, width: int | None) -> Distances:
        """One pass over each word gives everything, for all words together, on all cores.

        Cost: reachable edges of all layers · (1 + width) for each word, and `steps_to` once for each symbol.
        """
        words = np.asarray(rows, dtype=np.int64)
        length, preferences = words.shape[1], self.preferences(weights.z, words.shape[1])
        columns, useful = 1 + (length + 1 if width is None else width), self.graph.useful(length)
        steps, reach = self.graph.visited(length) * columns, self.graph.reach(length)
        loops = kernel_for("online", len(words) * steps)
        means, proportions = np.zeros(len(words)), np.zeros((len(words), columns - 1))
        for part in batches(len(words), self.graph.size * (columns + length), self.limits):
            group, mean = words[part], means[part]
            begin, reached = self._begun(useful[1], group, preferences, columns, mean)
            near = self._nearness(group, preferences)

            def advance(rows: slice) -> None:
                job = (self.graph.edges, useful, reach, near, group[rows], begin, reached[rows], mean[rows])  # noqa: B023
                loops.distances_each(*job)

            in_parts(advance, len(group), cost=steps, most=self.limits.threads)
            proportions[part] = reached[:, :, 1:].sum(axis=1)
        return Distances(means, proportions)

    def _begun(
        self, useful: Flags, rows: Codes, preferences: Preferences, columns: int, means: Floats
    ) -> tuple[int, Floats]:
        """Where the pass over some words begins: the position, and what kernels call `reached` there.

        If runs may start in many states, it is the second position, and `means` receives the mean distances at the
        first.
        """
        graph, reached = self.graph, np.zeros((len(rows), self.graph.size, columns))
        if not self.has_many_starts:
            reached[:, graph.start, :2] = 1.0
            return 0, reached
        codes, number = np.unique(rows[:, 0], return_inverse=True)
        choices = self.choices(useful, np.full(len(codes), graph.start), codes, preferences.starts)
        for index, proportion in enumerate(_proportions(preferences.weights(choices))):
            mine, edges = np.flatnonzero(number == index), choices.edges[index]
            differs = graph.symbol[edges] != codes[index]
            for column, at_distance in enumerate((proportion, proportion * ~differs, proportion * differs)[:columns]):
                reached[mine[:, None], graph.target[edges], column] = at_distance
            means[mine] = proportion[differs].sum()
        return 1, reached

    def _nearness(self, rows: Codes, preferences: Preferences) -> Nearness:
        """What is preferred where a symbol of these words is closed."""
        row_of = np.full(len(self.graph.alphabet), -1)
        steps: list[NDArray[np.int32]] = []
        for code in np.unique(rows).tolist() if self.graph.state_named is not None else ():
            found = self.steps_to(code)
            if found is not None:
                row_of[code] = len(steps)
                steps.append(found.astype(np.int32))
        table = np.array(steps, dtype=np.int32).reshape(len(steps), self.graph.size)
        return Nearness(*preferences.plain(), row_of, table)

    @cached_property
    def most_tied(self) -> int:
        """The most symbols of a state that can be equally near to a closed one."""
        degrees = np.diff(self.graph.first)
        return int(np.delete(degrees, self.graph.start).max() if self.has_many_starts else degrees.max())

    def steps_to(self, code: int) -> Integers | None:
        """The least number of steps from each state to the one that a symbol names; None if it names none."""
        named = self.graph.state_named
        if named is None or named[code] < 0:
            return None
        found = self._steps_to.get(code)
        if found is None:
            if len(self._steps_to) * self.graph.size > self.limits.batch:
                self._steps_to.clear()
            found = self._steps_to[code] = self.graph.steps_to(named[[code]])
        return found

    @cached_property
    def has_many_starts(self) -> bool:
        """Whether runs begin with the choice of one of many states: the root of the graph is then never entered."""
        graph = self.graph
        degree = int(graph.first[graph.start + 1] - graph.first[graph.start])
        return graph.state_named is not None and degree >= MANY_STARTS and graph.start not in graph.target

    def levels(self, state: int, most: int) -> Integers:
        """For each state the least m such that a run from it and one from `state` can be in one state after m steps.

        It is found up to the level at which there are `most` states, and is larger than every level beyond. Cost: the
        square of that level, times the edges.
        """
        graph = self.graph
        found = np.full(graph.size, LEVELS + 1)
        found[state] = 0
        ahead = np.zeros(graph.size, dtype=np.bool_)
        ahead[state] = True
        for level in range(1, LEVELS + 1):
            if np.count_nonzero(found <= LEVELS) >= most:
                break
            ahead = _flags(graph.target[ahead[graph.sources]], graph.size)
            back = ahead
            for _ in range(level):
                back = _flags(graph.sources[back[graph.target]], graph.size)
            back[graph.start] = False  # no run begins there
            found[back & (found > level)] = level
        return found

    def best_starts(self, z: float, length: int) -> int:
        """The number of preferred first states with the least expected number of wrong positions, by a public
        estimate."""
        if not self.has_many_starts:
            return 1
        mean = self._mean_levels
        number = np.arange(1, len(mean) + 1)
        met = number / (number + (len(mean) - number) * z)
        return int(np.argmin((1 - met) * LOST * length + met * WRONG * mean)) + 1

    @cached_property
    def _mean_levels(self) -> Floats:
        """For t = 1, 2, 3, …, the mean level of the t nearest states, averaged over some true first states."""
        graph = self.graph
        states = np.unique(graph.target[graph.first[graph.start] : graph.first[graph.start + 1]])
        sample = states[np.linspace(0, len(states) - 1, SAMPLED_STARTS).astype(np.int64)]
        ordered = np.sort(np.array([self.levels(int(state), graph.size)[states] for state in sample]), axis=1)
        return np.asarray(np.cumsum(ordered.mean(axis=0)) / np.arange(1, len(states) + 1))

    def choices(self, useful: Flags, states: Integers, own: Codes, starts: int) -> Choices:
        """What can be released next from each state, where `own` is the true symbol of each row.

        `useful` flags the states after this position from which a word can be completed; `starts` states are preferred
        at the first position of a run that may start in many. Cost: rows · branching, and `steps_to` for each true
        symbol that is closed.
        """
        graph = self.graph
        begin, end = graph.first[states], graph.first[states + 1]
        edges = begin[:, None] + np.arange(int((end - begin).max()))
        there = edges < end[:, None]
        edges[~there] = 0
        open_to = there & useful[graph.target[edges]]
        if self.has_many_starts and states[0] == graph.start:
            return Choices(edges, open_to, self._near_starts(edges, open_to, own, starts), False)
        preferred = open_to & (graph.symbol[edges] == own[:, None])
        lost = np.flatnonzero(~preferred.any(axis=1))
        for code in np.unique(own[lost]).tolist():
            steps = self.steps_to(code)
            if steps is not None:
                rows = lost[own[lost] == code]
                away = np.where(open_to[rows], steps[graph.target[edges[rows]]], graph.size)
                nearest = away.min(axis=1, keepdims=True)
                preferred[rows] = (away == nearest) & (nearest < graph.size)
        return Choices(edges, open_to, preferred, True)

    def _near_starts(self, edges: Integers, open_to: Flags, own: Codes, starts: int) -> Flags:
        """For each true first symbol, the open ones from which its run is met soonest: `starts` of them, or all.

        There are none where the true symbol itself is closed.
        """
        named = self.graph.state_named
        preferred = np.zeros(open_to.shape, dtype=np.bool_)
        number = min(starts, int(open_to[0].sum()))
        for code in np.unique(own).tolist():
            rows = np.flatnonzero(own == code)
            mine = self.graph.symbol[edges[rows[0]]] == code
            if named is None or not (mine & open_to[rows[0]]).any():
                continue
            level = self.levels(int(named[code]), number)[self.graph.target[edges[rows[0]]]]
            order = np.argsort(np.where(open_to[rows[0]], level, self.graph.size), kind="stable")
            preferred[np.ix_(rows, order[:number])] = True
        return preferred

    def step(self, useful: Flags, states: Integers, own: Codes, preferences: Preferences, stream: Stream) -> Integers:
        """For each state and true symbol, the edge that is drawn; see `choices`."""
        choices = self.choices(useful, states, own, preferences.starts)
        picked = sampling.choose_each(preferences.weights(choices), stream)
        return np.asarray(choices.edges[np.arange(len(states)), picked])


class OnlineLaw:
    """The output distribution at one word. Cost: length · edges."""

    def __init__(self, codes: Codes, space: OnlineRuns, weights: Weights) -> None:
        self.codes, self.space, self.weights = codes, space, weights

    def log_prob(self, codes: Codes) -> float:
        total = 0.0
        for weights, picked in self._steps(codes):
            logs = weights.logs()
            top = float(logs.max())
            total += float(logs[picked]) - top - float(np.log(np.exp(logs - top).sum()))
        return total

    def exact(self, codes: Codes) -> Fraction:
        return math.prod(
            (sampling.probabilities(weights)[picked] for weights, picked in self._steps(codes)), start=Fraction(1)
        )

    def draw(self, count: int, stream: Stream) -> Codes:
        rows = np.broadcast_to(self.codes.astype(np.int64), (count, len(self.codes)))
        return self.space.draw_each(rows, self.weights, stream)

    def distance_distribution(self) -> Floats:
        return self.space.distances(self.codes[None], self.weights, None).proportions.reshape(-1)

    def expected_distance(self) -> float:
        return float(self.space.distances(self.codes[None], self.weights, 0).means[0])

    @cached_property
    def _useful(self) -> Flags:
        return self.space.graph.useful(len(self.codes))

    def _steps(self, codes: Codes) -> Iterator[tuple[Scaled, int]]:
        """For each position of an output, the weights of the choices there, and the index of the one that it takes."""
        graph, state = self.space.graph, self.space.graph.start
        preferences = self.space.preferences(self.weights.z, len(self.codes))
        for position, edge in enumerate(graph.taken(codes)):
            own = self.codes[position : position + 1]
            choices = self.space.choices(self._useful[position + 1], np.array([state]), own, preferences.starts)
            yield preferences.weights(choices).take(0), edge - int(graph.first[state])
            state = int(graph.target[edge])


def _proportions(weights: Scaled) -> Floats:
    """The probabilities of choices, a row for each state."""
    relative = weights.relative_to(weights.exponent.max(axis=1, keepdims=True))
    return np.asarray(relative / relative.sum(axis=1, keepdims=True))


def _flags(states: Integers, size: int) -> Flags:
    flags = np.zeros(size, dtype=np.bool_)
    flags[states] = True
    return flags
