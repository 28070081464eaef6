"""The words of a language that are nearest to a given word by Levenshtein distance, one of which is drawn.

All nearest words are equally likely, but for the rounding of sums. Where there are so many that counting them would
take too much memory, it is the first of them in lexicographic order, with symbols in the order of the alphabet.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpwords.core.compiled import kernel_for
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.randomness import Stream, uint64
from dpwords.core.scaled import Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.tuning import FEW_EDGES

_BYTES = 4  # size of one stored number of edits


def nearest_in(language: Language, limits: Limits = DEFAULTS) -> Callable[[Codes, Stream], Codes]:
    """The function that draws one of the nearest words of a language, both given as codes.

    The code −1 stands for a symbol that the language does not have. Cost: the language is explored first; a nearest
    word then costs what `Nearest` says. `Words` is explored only if it has few edges: otherwise a nearest word takes
    time linear in the length, and it is the first one.
    """
    if not isinstance(language, Words):
        return Nearest(Graph.of(language), limits)
    edges = len(language.alphabet) * (language.max_length or 1)
    return NearestFree(language.max_length, Nearest(Graph.of(language), limits) if edges <= FEW_EDGES else None)


class Nearest:
    """The nearest words of any language, by dynamic programming over its states.

    What matters about the beginning of a nearest word is its state, and the positions of the input that an optimal
    alignment can have reached. So pairs of both are the states of a deterministic automaton that has exactly the
    nearest words; they are counted on it, and one is drawn. If all pairs have more than `limits.tied_positions`
    positions, which takes many edits, the first of the nearest words is taken instead.

    Cost for a word of n symbols whose nearest word is d edits away: n · edges for the distances, then the positions of
    all pairs · branching for the word. Memory: 4 bytes · n · states; raises `TooLarge` before allocating.
    """

    def __init__(self, graph: Graph, limits: Limits = DEFAULTS) -> None:
        self._limits = limits
        steps = graph.steps_to(np.flatnonzero(graph.accepting))
        useful: Flags = steps < graph.size
        if not useful[graph.start]:
            raise InvalidValue("the language has no word at all: make an accepting state reachable from its start")
        part = graph.only(useful)
        order = np.lexsort((part.symbol, part.sources))
        self._symbol, self._target, self._first = part.symbol[order], part.target[order], part.first
        self._before, self._steps = part.reversed, steps[useful].astype(np.int32)
        self._accepting, self._start, self._size = part.accepting, part.start, part.size

    def __call__(self, codes: Codes, stream: Stream) -> Integers:
        """The codes of one of the nearest words; the code −1 stands for a symbol that the language does not have."""
        needed = _BYTES * self._size * (len(codes) + 1)
        most = self._limits.memory
        if needed > most:
            raise TooLarge(
                f"the table for {self._size} states and {len(codes)} symbols would take {needed / 2**30:.1f} GiB, and "
                f"the limit is {most / 2**30:.0f} GiB: use a shorter word or a smaller system"
            )
        check_memory(needed)
        loops, edges = kernel_for("nearest", len(codes) * len(self._target)), (self._symbol, self._target, self._first)
        cost = loops.costs(codes, *edges, *self._before, self._steps)
        where = (cost, codes, *edges, self._accepting, self._start)
        edits, found = int(cost[0, self._start]), np.zeros(0, dtype=np.int64)
        if edits:
            found, known = loops.any_nearest(*where, uint64(stream, (len(codes) + edits,)), self._limits.tied_positions)
            if known:
                return np.asarray(found)
        return np.asarray(loops.first_nearest(*where))


class NearestFree:
    """The nearest of all words of at most `max_length` symbols; `nearest` draws one of them, if the table is small."""

    def __init__(self, max_length: int | None, nearest: Nearest | None) -> None:
        self._max_length, self._nearest = max_length, nearest

    def __call__(self, codes: Codes, stream: Stream) -> Codes:
        if (codes >= 0).all() and (self._max_length is None or len(codes) <= self._max_length):
            return codes
        return _first_free(self._max_length, codes) if self._nearest is None else self._nearest(codes, stream)


def _first_free(max_length: int | None, codes: Codes) -> Codes:
    """The first of the nearest words of at most `max_length` symbols. Cost: the length.

    Each unknown symbol costs an edit, and so does each symbol beyond `max_length`; one deletion can serve both. If the
    known symbols alone are too many, all edits are deletions: of all unknown symbols and of some known ones. Otherwise
    all known symbols stay, and each unknown one is deleted or, while there is room, replaced. The first symbol of the
    alphabet as a replacement gives a lexicographically smaller word than a deletion, unless no known symbol other than
    that first one follows.
    """
    known = codes >= 0
    spare = (len(codes) if max_length is None else max_length) - int(known.sum())
    if spare < 0:
        return _first_subsequence(codes[known], len(codes[known]) + spare)
    last = int(np.max(np.flatnonzero(codes > 0), initial=0))
    kept = known.copy()
    kept[np.flatnonzero(~known[:last])[:spare]] = True
    return np.maximum(codes, 0)[kept]


def _first_subsequence(codes: Integers, length: int) -> Integers:
    """The lexicographically first subsequence of this length. Cost: the number of codes."""
    found: list[int] = []
    spare = len(codes) - length
    for code in codes.tolist():
        while found and spare and found[-1] > code:
            found.pop()
            spare -= 1
        found.append(code)
    return np.array(found[:length], dtype=np.int64)
