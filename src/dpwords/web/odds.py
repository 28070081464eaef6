"""The view of odds: what is promised about two words, whether it holds, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, cast

from dpwords import accuracy
from dpwords.attack import Guess, Prior, guess
from dpwords.audit import ExactAudit, exact, small_instance
from dpwords.core.limits import Limits
from dpwords.core.symbols import Distance, Word
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.languages.language import Language
from dpwords.mechanisms import choice
from dpwords.mechanisms.choice import Edits
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.privacy.guarantees import NotPrivate, Odds
from dpwords.recipes.notation import Notation
from dpwords.recipes.recipe import Recipe
from dpwords.web.messages import finite, picked
from dpwords.web.questions import DRAWN, QUICK, SAMPLES, Field, Values, answers, of, whole
from dpwords.web.words import LONGEST, TEXT, read_word
from dpwords.web.workers import ShowProgress

LITERAL = choice.Title.LITERAL
BEST = "best"
CAREFUL = Limits(certificate_time=3.0, attacked_steps=2 * 10**9)  # proofs and attacks of seconds
_COMPARED = {"free": 256, "edits": 32, "system": 64}  # words of one length in an audit: about a second
_CACHED = 256  # rows of curves


def _promised(name: str, value: Any) -> Recipe:
    recipe: Recipe = DRAWN.check(name, value)
    if recipe.epsilon is None:
        raise InvalidValue(f"{named('epsilon')} is missing: say how much may be revealed")
    return recipe


_ASKED = {"recipe": Field(_promised), "title": of(str, 100, default="")}  # the title is that of a mechanism
_PUBLIC = _ASKED | {"length": whole(1, LONGEST)}  # a question about no word in particular


@answers(**_ASKED, one=TEXT, other=TEXT)
def explain(recipe: Recipe, title: str, one: str, other: str) -> Values:
    """Distance, loss and odds of two words, in words too, and the mechanisms that can be chosen."""
    public = recipe.language()
    first, second = read_word(recipe, one, "the first"), read_word(recipe, other, "the second")
    if recipe.edits == "substitutions" and recipe.k > len(first):
        raise InvalidValue(f"k is at most the words' length, and k = {recipe.k} is beyond it: take a smaller k")
    chosen = _Choice.of(public, recipe, title, QUICK)
    made = chosen.made
    odds = made.guarantee.explain(first, second)
    shown = _truly(made, odds, len(first)) or odds
    return picked(shown, "distance", "cases", "of_100") | {
        "loss": finite(shown.loss),
        "ratio": finite(shown.ratio),
        "certainty": None if math.isinf(shown.loss) else shown.certainty,
        "text": str(odds),
        "is_private": not isinstance(made.guarantee, NotPrivate),
        "promise": str(made.guarantee),
        "mechanisms": [_titled(each) for each in chosen.makers],
        "title": chosen.title,
        "length": len(first),
        "runs": _runs(public, first, second) if isinstance(recipe.system, str) else None,
    }


@answers(**_PUBLIC)
def audit(recipe: Recipe, title: str, length: int, progress: ShowProgress) -> Values:
    """The measured ε against the claimed one, over all words of a small instance, and that of the paper's formula."""
    public = recipe.language()
    distance: Distance = "levenshtein" if recipe.edits == "all" else "hamming"
    kind = "edits" if recipe.edits == "all" else "free" if public.every_word else "system"
    small = small_instance(public, length, recipe.k, distance, _COMPARED[kind])
    chosen = _Choice.of(small.language, recipe, title, CAREFUL)
    found = []
    for name in dict.fromkeys((chosen.title, LITERAL) if LITERAL in chosen.makers else (chosen.title,)):
        made = chosen.makers[name](recipe.epsilon)
        audited = made if distance == "hamming" else made.without_projection()
        found.append(_titled(name) | _audited(public, exact(audited, small.length)))
        progress(len(found) / 2)
    return {
        "audits": found,
        "length": small.length,
        "shorter": distance == "levenshtein",
        "symbols": None if small.symbols == len(public.alphabet) else small.symbols,
    }


@answers(**_PUBLIC)
def curve(recipe: Recipe, title: str, length: int, progress: ShowProgress) -> Values:
    """What every mechanism costs at one ε, and what is guessed through it: a row of the curves, cached for later."""
    progress(0.0)
    return _row(recipe, length)


@answers(**_PUBLIC)
def guessed(recipe: Recipe, title: str, length: int, progress: ShowProgress) -> Values:
    """What is expected to be guessed of words of one length through the chosen mechanism, and without a release.

    Words are equally likely; `informed` is for somebody who knows a population in which they are not.
    """
    progress(0.0)
    chosen = _Choice.of(recipe.language(), recipe, title, CAREFUL)
    found = _guesses(chosen.made, length)
    progress(0.5)
    informed = _guesses(chosen.made, length, "predictable")
    shown = found and picked(found, "exact", "of_100", "how") | {
        "hits": found.hits if found.exact else found.high.hits,
        "whole": found.high.whole,
        "positions": [min(probability, 1.0) for probability in found.hits_by_place],
        "positions_without": list(found.without_by_place),
        "without": found.without._asdict(),
    }
    return {
        "title": chosen.title,
        "length": length,
        "found": shown,
        "informed": informed and picked(informed, "of_100", "how") | {"whole": informed.high.whole},
    }


@lru_cache(_CACHED)
def _row(recipe: Recipe, length: int) -> Values:
    public, edits, epsilon = recipe.language(), cast("Edits", recipe.edits), cast("float", recipe.epsilon)
    first, *others = choice.offers(public, recipe.k, edits, CAREFUL).items()
    optimal = choice.first_is_optimal(public, edits)
    points: list[Values] = [
        _proportions(make(epsilon), length)
        | _titled(title)
        | {
            "distance": finite(accuracy.expected_distance(make, epsilon, length)),
            "optimal": optimal and title == first[0],
        }
        for title, make in (first, *others)
    ]
    literal = None  # the paper's formula at its true ε, where that is known at once
    if public.alike and edits != "all":
        made = PaperLiteral(public, epsilon, recipe.k)
        literal = _proportions(made, length) | {
            "epsilon": made.guarantee.true_epsilon(length),
            "distance": made.expected_distance(length=length),
        }
    return {"epsilon": epsilon, "points": points, "literal": literal}


def _proportions(made: Mechanism, length: int) -> Values:
    """The most positions and whole words that are guessed, as proportions; None where they are too large to compute."""
    found = _guesses(made, length)
    return {"hits": found and found.high.hits / length, "whole": found and found.high.whole}


def _guesses(made: Mechanism, length: int, prior: Prior = "uniform") -> Guess | None:
    try:
        return guess(made, length, prior, samples=SAMPLES)
    except TooLarge:
        return None


def _titled(title: str) -> Values:
    return {"title": title, "colour": choice.family_of(title) or "tight"}


class _Choice(NamedTuple):
    """The mechanisms that can be chosen, by title, with the default one first and the paper's formula last, and one.

    The titles of mechanisms that do not apply to the language give way to the default one.
    """

    makers: dict[str, Callable[..., Mechanism]]
    title: str
    epsilon: Any

    @property
    def made(self) -> Mechanism:
        return self.makers[self.title](self.epsilon)

    @classmethod
    def of(cls, public: Language, recipe: Recipe, title: str, limits: Limits) -> _Choice:
        k, edits = recipe.k, cast("Edits", recipe.edits)
        makers: dict[str, Callable[..., Mechanism]] = {}
        if choice.default_name(public, edits) == "best":
            makers[BEST] = lambda epsilon: choice.best_by_length(public, epsilon, k, limits)
        makers |= choice.offers(public, k, edits, limits)
        if edits == "substitutions":
            makers[LITERAL] = lambda epsilon: PaperLiteral(public, epsilon, k)
        return cls(makers, title if title in makers else next(iter(makers)), recipe.epsilon)


def _truly(made: Mechanism, odds: Odds, length: int) -> Odds | None:
    """What the paper's formula really loses on free words, where words d positions apart are ceil(d/k) steps apart."""
    guarantee = made.guarantee
    if not isinstance(guarantee, NotPrivate) or not made.language.alike:
        return None
    steps = -(-odds.distance // made.k)
    return Odds(odds.distance, odds.measure, guarantee.true_epsilon(length) * steps)


def _audited(public: Language, found: ExactAudit) -> dict[str, Any]:
    """The result of an audit; the words in it are public, because they are chosen among all words."""
    write = Notation(public).write
    worst = found.worst
    return picked(found, "claimed", "holds", "delta", "longest", "words") | {
        "measured": finite(found.epsilon),
        "worst": None
        if worst is None
        else {
            "pair": [write(worst.word), write(worst.neighbour)],
            "output": write(worst.output),
            "distance": worst.distance,
            "loss": finite(worst.loss),
        },
    }


def _runs(public: Language, one: Word, other: Word) -> dict[str, Any]:
    """The cells that two runs on a grid visit, from the start on."""
    start = public.system.start
    if start is None:
        raise InvalidValue("the start is missing: choose a cell in which runs start")
    return {
        name: [list(start), *(list(cell) for cell in public.run(word))]
        for name, word in (("one", one), ("other", other))
    }
