"""The view of odds: what is promised about two words, whether it holds, and what it costs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from dpwords import accuracy
from dpwords.attack import guess
from dpwords.audit import exact, small_instance
from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.mechanisms import choice
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.privacy.guarantees import NotPrivate, Odds
from dpwords.recipes.notation import Notation
from dpwords.web.fields import Fields
from dpwords.web.messages import Message, finite
from dpwords.web.settings import QUICK, SAMPLES, drawn_recipe_of
from dpwords.web.words import LONGEST, read_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpwords.audit import ExactAudit
    from dpwords.core.symbols import Distance, Word
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.mechanism import Mechanism
    from dpwords.recipes.recipe import Recipe
    from dpwords.web.workers import ShowProgress

LITERAL = choice.Title.LITERAL
BEST = "best"
CAREFUL = Limits(certificate_time=3.0, attacked_steps=2 * 10**9)  # proofs and attacks of seconds
_MOST_CHARACTERS = 8_000  # of the text of a word
_COMPARED = {"free": 256, "edits": 32, "system": 64}  # words of one length in an audit: about a second
_CACHED = 256  # rows of curves


def explain(question: Message) -> Message:
    """Distance, loss and odds of two words, in words too, and the mechanisms that can be chosen."""
    fields = Fields(question.values)
    recipe, epsilon, wanted = _asked(fields)
    texts = [fields.text(name, _MOST_CHARACTERS) for name in ("one", "other")]
    fields.done()
    public = recipe.language()
    one, other = (read_word(recipe, text, name) for text, name in zip(texts, ("the first", "the second"), strict=True))
    if recipe.edits == "substitutions" and recipe.k > len(one):
        raise InvalidValue(f"k is at most the words' length, and k = {recipe.k} is beyond it: take a smaller k")
    title, made = _made(public, recipe, epsilon, wanted, QUICK)
    odds = made.guarantee.explain(one, other)
    shown = _truly(made, odds, len(one)) or odds
    return Message(
        {
            "distance": odds.distance,
            "loss": finite(shown.loss),
            "ratio": finite(shown.ratio),
            "certainty": None if math.isinf(shown.loss) else shown.certainty,
            "cases": shown.cases,
            "text": str(odds),
            "of_100": shown.of_100,
            "is_private": not isinstance(made.guarantee, NotPrivate),
            "promise": str(made.guarantee),
            "mechanisms": [
                {"title": each, "colour": choice.family_of(each) or "tight"} for each in _makers(public, recipe, QUICK)
            ],
            "title": title,
            "length": len(one),
            "runs": _runs(public, one, other) if isinstance(recipe.system, str) else None,
        }
    )


def audit(question: Message, progress: ShowProgress) -> Message:
    """The measured ε against the claimed one, over all words of a small instance, and that of the paper's formula."""
    recipe, epsilon, wanted, length = _public_question(question)
    public = recipe.language()
    distance: Distance = "levenshtein" if recipe.edits == "all" else "hamming"
    kind = "edits" if recipe.edits == "all" else "free" if public.every_word else "system"
    small = small_instance(public, length, recipe.k, distance, _COMPARED[kind])
    makers = _makers(small.language, recipe, CAREFUL)
    title = _chosen(makers, wanted)
    found = []
    for name in dict.fromkeys((title, LITERAL) if LITERAL in makers else (title,)):
        made = makers[name](epsilon)
        found.append(
            {"title": name, "colour": choice.family_of(name) or "tight"}
            | _audited(public, exact(made.without_projection(), small.length))
        )
        progress(len(found) / 2)
    return Message(
        {
            "audits": found,
            "length": small.length,
            "shorter": distance == "levenshtein",
            "symbols": None if small.symbols == len(public.alphabet) else small.symbols,
        }
    )


def curve(question: Message, progress: ShowProgress) -> Message:
    """What every mechanism costs at one ε, and what is guessed through it: a row of the curves, cached for later."""
    recipe, epsilon, _, length = _public_question(question)
    progress(0.0)
    return Message(_row(recipe, epsilon, length))


def guessed(question: Message, progress: ShowProgress) -> Message:
    """What is expected to be guessed of words of one length through the chosen mechanism, and without a release."""
    recipe, epsilon, wanted, length = _public_question(question)
    progress(0.0)
    title, made = _made(recipe.language(), recipe, epsilon, wanted, CAREFUL)
    told: dict[str, Any] = {"title": title, "length": length}
    try:
        found = guess(made, length, samples=SAMPLES)
    except TooLarge:
        return Message(told | {"found": None})
    return Message(
        told
        | {
            "found": {
                "hits": found.hits if found.exact else found.high.hits,
                "whole": found.high.whole,
                "positions": [min(probability, 1.0) for probability in found.hits_by_place],
                "positions_without": list(found.without_by_place),
                "exact": found.exact,
                "of_100": found.of_100,
                "how": found.how,
                "without": found.without._asdict(),
            },
        }
    )


@lru_cache(_CACHED)
def _row(recipe: Recipe, epsilon: float, length: int) -> dict[str, Any]:
    public, edits = recipe.language(), cast("Edits", recipe.edits)
    first, *others = choice.offers(public, recipe.k, edits, CAREFUL).items()
    optimal = choice.first_is_optimal(public, edits)
    points: list[dict[str, Any]] = [
        _guessed(make(epsilon), length)
        | {
            "title": title,
            "colour": choice.family_of(title) or "tight",
            "distance": finite(accuracy.expected_distance(make, epsilon, length)),
            "optimal": optimal and title == first[0],
        }
        for title, make in (first, *others)
    ]
    return {"epsilon": epsilon, "points": points, "literal": _literal_point(recipe, epsilon, length)}


def _guessed(made: Mechanism, length: int) -> dict[str, float | None]:
    """The most positions and whole words that are guessed, as proportions; None where they are too large to compute."""
    try:
        found = guess(made, length, samples=SAMPLES)
    except TooLarge:
        return {"hits": None, "whole": None}
    return {"hits": found.high.hits / length, "whole": found.high.whole}


def _literal_point(recipe: Recipe, epsilon: float, length: int) -> dict[str, float | None] | None:
    """The same for the paper's formula at its true ε, where that is known at once."""
    if not recipe.language().alike or recipe.edits == "all":
        return None
    literal = PaperLiteral(recipe.language(), epsilon, recipe.k)
    point = {"epsilon": literal.guarantee.true_epsilon(length), "distance": literal.expected_distance(length=length)}
    return point | _guessed(literal, length)


def _asked(fields: Fields) -> tuple[Recipe, float, str]:
    """The recipe in a question, its ε, and the title of a mechanism, "" for the default one."""
    recipe, title = drawn_recipe_of(fields), fields.text("title", 100, default="")
    if recipe.epsilon is None:
        raise InvalidValue(f"{named('epsilon')} is missing: say how much may be revealed")
    return recipe, recipe.epsilon, title


def _public_question(question: Message) -> tuple[Recipe, float, str, int]:
    """The values of a question about no word in particular."""
    fields = Fields(question.values)
    asked, length = _asked(fields), fields.whole("length", 1, LONGEST)
    fields.done()
    return *asked, length


def _made(public: Language, recipe: Recipe, epsilon: float, wanted: str, limits: Limits) -> tuple[str, Mechanism]:
    """The title of the chosen mechanism, and the mechanism itself."""
    makers = _makers(public, recipe, limits)
    title = _chosen(makers, wanted)
    return title, makers[title](epsilon)


def _makers(public: Language, recipe: Recipe, limits: Limits) -> dict[str, Callable[[float], Mechanism]]:
    """The mechanisms that can be chosen, by title, the default one first, and the paper's formula last."""
    k, edits = recipe.k, cast("Edits", recipe.edits)
    found: dict[str, Callable[[float], Mechanism]] = {}
    if choice.default_name(public, edits) == "best":
        found[BEST] = lambda epsilon: choice.best_by_length(public, epsilon, k, limits)
    found |= choice.offers(public, k, edits, limits)
    if edits == "substitutions":
        found[LITERAL] = lambda epsilon: PaperLiteral(public, epsilon, k)
    return found


def _chosen(makers: dict[str, Callable[[float], Mechanism]], title: str) -> str:
    """A title that there is: mechanisms that do not apply to the language give way to the default one."""
    return title if title in makers else next(iter(makers))


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
    return {
        "claimed": found.claimed,
        "measured": finite(found.epsilon),
        "holds": found.holds,
        "delta": found.delta,
        "longest": found.longest,
        "words": found.words,
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
