"""Which words have a pattern: detectors that read a word and accept it if it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dpwords.core.scaled import Integers
from dpwords.core.symbols import Alphabet, Codes, symbols_of
from dpwords.errors import InvalidValue
from dpwords.estimate.questions import RunQuestion
from dpwords.estimate.uncertainty import Answered, answered
from dpwords.languages import rules
from dpwords.languages.language import Language
from dpwords.models.hidden import Detector, Hidden
from dpwords.models.population import Model
from dpwords.models.run_evidence import RunEvidence
from dpwords.spaces.graph import Graph


def detector_of(pattern: Any, language: Language) -> Detector:
    """A detector of a pattern: of symbols that follow each other without a gap, or of the words of a rule or Pattern.

    Cost: the states of the pattern, times the symbols of the alphabet.
    """
    if isinstance(pattern, Language):
        return _of_language(pattern.bound_to(language), language.alphabet)
    if not isinstance(pattern, (str, list, tuple)) or not len(pattern):
        raise InvalidValue(
            "a pattern is some symbols in a row, as in 'ab' or ['pay', 'ship'], or a rule or Pattern for whole words"
        )
    symbols = symbols_of(pattern)
    for position, symbol in enumerate(symbols, start=1):
        if symbol not in language.alphabet:
            raise InvalidValue(f"symbol {position} of the pattern is not in the alphabet: use symbols of the alphabet")
    return _of_language(rules.contains(*symbols, alphabet=language.alphabet.symbols), language.alphabet)


def _of_language(pattern: Language, alphabet: Alphabet) -> Detector:
    """The automaton of a language, with a state for what does not belong to it."""
    graph = Graph.of(pattern)
    lost = graph.size
    step = np.full((graph.size + 1, len(alphabet)), lost)
    code = np.array([alphabet.codes.get(symbol, -1) for symbol in graph.alphabet.symbols])[graph.symbol]
    known = code >= 0
    step[graph.sources[known], code[known]] = graph.target[known]
    return Detector(step, np.append(graph.accepting, False))


def answered_pattern(model: Model, pattern: Any) -> Answered:
    """The proportion of true words that have a pattern. Cost: that of `answered`, on states beside those of the
    detector."""
    detector = detector_of(pattern, model.language)
    hidden, edge_was, was = model.evidence.hidden.detected(detector)
    lengths = tuple(
        replace(
            each,
            passes=replace(each.passes, hidden=hidden),
            factor=each.factor[edge_was],
            ending=each.ending[was],
        )
        for each in model.evidence.lengths
    )
    population = model.population.detected(detector)[0]
    question = RunQuestion("last", (pattern,), _marks, np.array([1]), 2)
    return answered(RunEvidence(hidden, lengths), population, question, model.chances)


def _marks(hidden: Hidden) -> Integers:
    assert hidden.marks is not None
    return hidden.marks.astype(np.int64)


def proportion_detected(words: dict[int, Codes], detector: Detector) -> float:
    """The proportion of words, as they are, that have the pattern."""
    found = 0
    for rows in words.values():
        state = np.zeros(len(rows), dtype=np.int64)
        for position in range(rows.shape[1]):
            state = detector.step[state, rows[:, position]]
        found += int(detector.accepting[state].sum())
    return found / sum(map(len, words.values()))
