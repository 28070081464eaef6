"""The view of words: releases of one word, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Any

from rapidfuzz.distance import Levenshtein

from dpwords import accuracy
from dpwords.accuracy import Target
from dpwords.core.symbols import PromisedDistance, Word
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.languages.language import Language
from dpwords.languages.systems import written
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.mechanisms.private import Private
from dpwords.recipes.notation import Notation
from dpwords.recipes.recipe import Recipe
from dpwords.web.messages import labelled
from dpwords.web.questions import QUICK, RECIPE, Field, Values, answers, mechanism_of, number, of, read, whole

LONGEST = 400  # symbols of a word on the page
TEXT = of(str, 8_000)  # of a word
_MOST_DISTANCES = 1_000  # entries of a distribution; that of the edit channel can be much longer
_NOTHING = 1e-9  # a probability that no chart shows
_PERTURBED = 3  # words that the paper's formula draws
_PARTS = 100  # an ε that is solved for is rounded up to a hundredth
_TARGET = {"distance": number(None), "probability": number(None), "at_most": whole(0, LONGEST, default=1)}
_CHANGES = {"equal": "same", "replace": "changed", "insert": "inserted"}


@answers(
    recipe=RECIPE,
    word=TEXT,
    draws=whole(1, 24, default=12),
    target=Field(lambda name, value: Target(**read(value, _TARGET, name)), None),
)
def release(recipe: Recipe, word: str, draws: int, target: Target | None) -> Values:
    """Several releases of a word with their changes marked, the public figures for its length, and the promise.

    With a target instead of an ε, such as {"distance": 2} or {"probability": 0.9, "at_most": 2}, ε is the least one
    that reaches it.
    """
    private = read_word(recipe, word, "the word")
    if target is not None:
        recipe = recipe.changed({"epsilon": _solved(recipe, target, len(private))})
    chosen = mechanism_of(recipe, QUICK)
    summary, length = chosen.summary(len(private)), len(private)
    distribution = chosen.distance_distribution(length=length, at_most=_MOST_DISTANCES)
    last = max(number for number, probability in enumerate(distribution) if probability > _NOTHING)
    return {
        "epsilon": chosen.epsilon,
        "length": length,
        "expected": chosen.expected_distance(length=length),
        "distribution": distribution[: last + 1],
        "edits_made": chosen.edits_made,
        "of_100": None if summary.within_k is None else summary.within_k.of_100,
        "promise": [line for line in labelled(summary.message).splitlines()[1:] if not line.startswith("warning: ")],
        "warnings": [*summary.warnings, *([] if chosen.warning is None else [chosen.warning])],
        "between": "" if isinstance(private, str) else " ",
        "releases": [
            marked(private, each, chosen.distance, chosen.language) for each in chosen.release_all([private] * draws)
        ],
        "literal": _literal(chosen, private) if chosen.distance == "hamming" else None,
    }


def read_word(recipe: Recipe, text: str, name: str) -> str | list[Any]:
    """The word of the language that a text stands for. Messages call it by `name` and show nothing of it."""
    public = recipe.language()
    notation = Notation(public, recipe.separator)
    word = notation.read(text if recipe.separator is None else recipe.separator.join(_names(text, public.letters)))
    if not word:
        raise InvalidValue(f"{name} is empty: type at least one symbol")
    if len(word) > LONGEST:
        raise InvalidValue(f"{name} may have at most {LONGEST} symbols here: use the command line for more")
    fault = public.fault(tuple(word))
    if fault is not None:
        remedy = "choose an alphabet that has all its symbols" if public.every_word else "change it, or the grid"
        raise NotInLanguage(f"{name} is not in the language ({fault}): {remedy}")
    return word


def _names(text: str, known: Container[object]) -> list[str]:
    """The names in a text, with white space between them, or commas; what is not a name is divided at commas.

    >>> _names("0,1 0,2", ["0,1", "0,2"]), _names("order, pay,ship", ["order", "pay", "ship"])
    (['0,1', '0,2'], ['order', 'pay', 'ship'])
    """
    divided = ([part] if part in known else [name for name in part.split(",") if name] for part in text.split())
    return [name for names in divided for name in names]


def _solved(recipe: Recipe, target: Target, length: int) -> float:
    """The least ε that reaches the target, rounded up."""
    lowest = accuracy.lowest_epsilon(recipe.k, "all" if recipe.edits == "all" else "substitutions")
    some = mechanism_of(recipe.changed({"epsilon": max(1.0, lowest)}), QUICK)
    found = accuracy.least_epsilon(lambda epsilon: some.like(epsilon=epsilon), target, length, lowest)
    if math.isnan(found):
        raise InvalidValue("no ε reaches that: allow more changes, or a lower probability")
    if found <= lowest:
        raise InvalidValue(_reached_anyway(some.like(epsilon=lowest), target, length))
    return math.ceil(found * _PARTS) / _PARTS


def _reached_anyway(least: Private, target: Target, length: int) -> str:
    """Why a target says nothing about ε: the least ε, which leaves next to nothing of the word, reaches it, too."""
    found = f"any ε reaches that: even at ε = {least.epsilon:.2g}"
    if target.distance is not None:
        return f"{found}, {least.expected_distance(length=length):.3g} changes are made on average; ask for fewer"
    probability = math.fsum(least.distance_distribution(length=length, at_most=target.at_most))
    return f"{found}, the probability of at most {target.at_most} is {min(probability, 1.0):.0%}; ask for a higher one"


def marked(
    private: Word, released: Word, distance: PromisedDistance, language: Language | None = None
) -> list[list[str]]:
    """The symbols of a released word, each with what became of it; deleted ones are those of the private word.

    Where words are written in other symbols than those of their language, a change of these is marked.
    Under Levenshtein distance, changes are those of a shortest edit script. Cost: the length, or then its square.

    >>> marked("abc", "adc", "hamming")
    [['a', 'same'], ['d', 'changed'], ['c', 'same']]
    >>> [change for symbol, change in marked("abc", "bcd", "levenshtein")]
    ['deleted', 'same', 'same', 'inserted']
    """
    if distance == "hamming":
        words = (tuple(word) if language is None else language.read(tuple(word)) for word in (private, released))
        changes = ["same" if old == new else "changed" for old, new in zip(*words, strict=True)]
        return [[written(letter), change] for letter, change in zip(released, changes, strict=True)]
    found: list[list[str]] = []
    for step in Levenshtein.opcodes(private, released):
        old, new = private[step.src_start : step.src_end], released[step.dest_start : step.dest_end]
        found += [[written(symbol), "deleted"] for symbol in old] if step.tag == "delete" else []
        found += [[written(symbol), _CHANGES[step.tag]] for symbol in new]
    return found


def _literal(chosen: Private, word: Any) -> Values:
    """The same for the paper's formula, with the ε that it claims and the one that it really has."""
    literal = PaperLiteral(chosen.language, chosen.epsilon, chosen.k)
    return {
        "expected": literal.expected_distance(length=len(word)),
        "distribution": literal.distance_distribution(length=len(word)),
        "claimed": chosen.epsilon,
        "true": literal.guarantee.true_epsilon(len(word)),
        "reason": literal.guarantee.reason,
        "words": [
            marked(word, each, literal.distance, literal.language) for each in literal.simulate(word, _PERTURBED)
        ],
    }
