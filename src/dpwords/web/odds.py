"""The view of odds: what is promised about two words, whether it is kept, and what it costs."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from dpwords import accuracy
from dpwords.attack import guess
from dpwords.audit import exact, small_instance
from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue, TooLarge
from dpwords.mechanisms import choice
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.privacy.guarantees import NotPrivate, Odds
from dpwords.recipes.notation import Notation
from dpwords.web.fields import Fields
from dpwords.web.messages import Message, finite
from dpwords.web.settings import QUICK, SAMPLES, language
from dpwords.web.words import LONGEST, names_of, read_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpwords.audit import ExactAudit
    from dpwords.core.symbols import Distance, Word
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.mechanism import Mechanism
    from dpwords.web.workers import ShowProgress

LITERAL = choice.Title.LITERAL
BEST = "best"
CAREFUL = Limits(certificate_time=3.0, attacked_steps=2 * 10**9)  # proofs and attacks of seconds
_MOST_CHARACTERS = 8_000  # of the text of a word
_COMPARED = {"free": 256, "edits": 32, "system": 64}  # words of one length in an audit: about a second
_KEPT = 256  # rows of curves


class Promise(NamedTuple):
    """What a question says about the promise and the mechanism."""

    epsilon: float
    k: int
    edits: Edits
    title: str  # of a mechanism; "" for the default one

    @classmethod
    def of(cls, values: dict[str, Any]) -> Promise:
        fields = Fields(values, "the promise")
        epsilon, k = fields.number("epsilon"), fields.whole("k", 1, LONGEST, default=1)
        edits = cast("Edits", fields.choice("edits", choice.EDITS, default="substitutions"))
        title = fields.text("mechanism", 100, default="")
        fields.done()
        return cls(epsilon, k, edits, title)


def explain(question: Message) -> Message:
    """Distance, loss and odds of two words, in words too, and the mechanisms that can be chosen."""
    fields = Fields(question.values)
    described, promise = fields.mapping("language"), Promise.of(fields.mapping("promise"))
    texts = [fields.text(name, _MOST_CHARACTERS) for name in ("one", "other")]
    fields.done()
    public = language(described)
    one, other = (
        read_word(described, text, name) for text, name in zip(texts, ("the first", "the second"), strict=True)
    )
    if promise.edits == "substitutions" and promise.k > len(one):
        raise InvalidValue(f"k is at most the words' length, and k = {promise.k} is beyond it: take a smaller k")
    makers = _makers(public, promise, QUICK)
    title = _chosen(makers, promise.title)
    made = makers[title](promise.epsilon)
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
            "mechanisms": [{"title": each, "colour": choice.family_of(each) or "tight"} for each in makers],
            "title": title,
            "length": len(one),
            "names": names_of(described),
            "runs": _runs(public, one, other) if described["kind"] == "grid" else None,
        }
    )


def audit(question: Message, progress: ShowProgress) -> Message:
    """The measured ε against the claimed one, over all words of a small instance, and that of the paper's formula."""
    described, promise, length = public_question(question)
    public = language(described)
    distance: Distance = "levenshtein" if promise.edits == "all" else "hamming"
    kind = "edits" if promise.edits == "all" else "free" if public.every_word else "system"
    small = small_instance(public, length, promise.k, distance, _COMPARED[kind])
    makers = _makers(small.language, promise, CAREFUL)
    title = _chosen(makers, promise.title)
    found = []
    for name in dict.fromkeys((title, LITERAL) if LITERAL in makers else (title,)):
        made = makers[name](promise.epsilon)
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
    """What every mechanism costs at one ε, and what is guessed through it: a row of the curves, kept for later."""
    described, promise, length = public_question(question)
    progress(0.0)
    return Message(_row(json.dumps(described, sort_keys=True), promise._replace(title=""), length))


@lru_cache(_KEPT)
def _row(described: str, promise: Promise, length: int) -> dict[str, Any]:
    public = language(json.loads(described))
    first, *others = choice.offers(public, promise.k, promise.edits, CAREFUL).items()
    optimal = choice.first_is_optimal(public, promise.edits)
    points: list[dict[str, Any]] = [
        _guessed(make(promise.epsilon), length)
        | {
            "title": title,
            "colour": choice.family_of(title) or "tight",
            "distance": finite(accuracy.expected_distance(make, promise.epsilon, length)),
            "optimal": optimal and title == first[0],
        }
        for title, make in (first, *others)
    ]
    return {"epsilon": promise.epsilon, "points": points, "literal": _literal_point(public, promise, length)}


def _guessed(made: Mechanism, length: int) -> dict[str, float | None]:
    """The shares of places and of whole words that are guessed at most; None where that is too large to compute."""
    try:
        found = guess(made, length, samples=SAMPLES)
    except TooLarge:
        return {"hits": None, "whole": None}
    return {"hits": found.high.hits / length, "whole": found.high.whole}


def _literal_point(public: Language, promise: Promise, length: int) -> dict[str, float | None] | None:
    """The same for the paper's formula at its true ε, where that is known at once."""
    if not public.alike or promise.edits == "all":
        return None
    literal = PaperLiteral(public, promise.epsilon, promise.k)
    point = {"epsilon": literal.guarantee.true_epsilon(length), "distance": literal.expected_distance(length=length)}
    return point | _guessed(literal, length)


def public_question(question: Message) -> tuple[dict[str, Any], Promise, int]:
    """The values of a question about no word in particular."""
    fields = Fields(question.values)
    described, promise = fields.mapping("language"), Promise.of(fields.mapping("promise"))
    length = fields.whole("length", 1, LONGEST)
    fields.done()
    return described, promise, length


def careful_mechanism(described: dict[str, Any], promise: Promise) -> tuple[str, Mechanism]:
    """The title of the chosen mechanism, and the mechanism itself."""
    makers = _makers(language(described), promise, CAREFUL)
    title = _chosen(makers, promise.title)
    return title, makers[title](promise.epsilon)


def _makers(public: Language, promise: Promise, limits: Limits) -> dict[str, Callable[[float], Mechanism]]:
    """The mechanisms that can be chosen, by title, the default one first, and the paper's formula last."""
    k, edits = promise.k, promise.edits
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
