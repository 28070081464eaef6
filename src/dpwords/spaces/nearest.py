"""The word of a language that is nearest to a given word by Levenshtein distance.

Of several nearest words, it is the first in lexicographic order, with symbols in the order of the alphabet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from dpwords.core.compiled import kernel_for
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.scaled import Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.languages.lexicon import Lexicon
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.lists import codes_of, distances, text_of

_BYTES = 4  # size of one stored number of edits


def nearest_in(language: Language, limits: Limits = DEFAULTS) -> Callable[[Codes], Codes]:
    """The function that maps a word to the nearest word of a language, both given as codes.

    The code −1 stands for a symbol that the language does not have. Cost: `Words` and `Lexicon` need no preparation;
    a nearest word then takes time linear in the length for `Words`, and one distance for each word of a `Lexicon`. Any
    other language is explored first; a nearest word then costs what `Nearest` says.
    """
    if isinstance(language, Words):
        return partial(_nearest_free, language.max_length)
    if isinstance(language, Lexicon):
        return partial(_nearest_listed, language)
    return Nearest(Graph.of(language), limits)


class Nearest:
    """The nearest word of any language, by dynamic programming over its states.

    Cost for a word of n symbols whose nearest word is d edits away: n · edges for the distances, then up to
    (n + d) · d · branching for the word. Memory: 4 bytes · n · states; raises `TooLarge` before allocating.
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

    def __call__(self, codes: Codes) -> Integers:
        """The codes of the nearest word; the code −1 stands for a symbol that the language does not have."""
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
        found: Integers = loops.first_nearest(cost, codes, *edges, self._accepting, self._start)
        return found


def _nearest_free(max_length: int | None, codes: Codes) -> Codes:
    """The nearest of all words of at most `max_length` symbols. Cost: the length.

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


def _nearest_listed(lexicon: Lexicon, codes: Codes) -> Codes:
    """The nearest word of a lexicon, whose table is in lexicographic order. Cost: one distance for each word."""
    text = text_of(np.where(codes < 0, len(lexicon.alphabet), codes))
    apart = distances([text], lexicon.table, "levenshtein", longest=max(len(text), *lexicon.lengths))
    return codes_of(lexicon.table[int(apart[0].argmin())])


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
