"""Which space belongs to a language: the one place that knows the kinds of languages."""

from __future__ import annotations

from functools import lru_cache

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language, why_empty
from dpwords.languages.lexicon import Lexicon
from dpwords.spaces.edit_counts import CountedWords
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.graph import Graph
from dpwords.spaces.lists import ListedWords
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Space

_CACHED = 8  # languages whose spaces are cached, since mechanisms at several ε share what is known of them


@lru_cache(maxsize=_CACHED)
def space_of(language: Language, distance: Distance = "hamming", limits: Limits = DEFAULTS) -> Space:
    """The words of a language under a distance. Cost: for a system its edges, for a lexicon nothing until it is used.

    A new kind of language needs a line here only if it has a quicker space than that of its automaton.
    """
    if isinstance(language, Lexicon):
        return ListedWords(language, distance, limits)
    if distance == "levenshtein":
        return CountedWords(language, limits)
    if isinstance(language, Words):
        return FreeWords(len(language.alphabet), language.max_length, limits)
    return Runs(graph_of(language), limits)


@lru_cache(maxsize=_CACHED)
def online_space_of(language: Language, limits: Limits = DEFAULTS) -> Space:
    """The words of a language, each drawn symbol by symbol. Cost: the edges of the language."""
    if isinstance(language, Words):
        return space_of(language, "hamming", limits)  # symbols of free words are independent of each other
    return OnlineRuns(graph_of(language), limits)


@lru_cache(maxsize=_CACHED)
def graph_of(language: Language) -> Graph:
    """The automaton of a language as arrays, cached for its next use; raises if it has no words."""
    graph = Graph.of(language)
    if not len(graph.target):
        raise InvalidValue(why_empty(language))
    return graph
