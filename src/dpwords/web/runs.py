"""The view of runs: releases of one run on a grid or another system, by several mechanisms, and what they cost."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from dpwords.core.limits import Limits
from dpwords.core.randomness import SystemSource
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge
from dpwords.languages.systems import written
from dpwords.recipes.languages import restricted
from dpwords.spaces.choice import space_of
from dpwords.web.fields import Fields
from dpwords.web.messages import Message
from dpwords.web.settings import QUICK, drawn_recipe_of, mechanism_of
from dpwords.web.workers import ShowProgress

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private
    from dpwords.privacy.guarantees import PureDP
    from dpwords.spaces.space import LeastDistance

LONGEST = 400  # steps of a run on the page
_CACHED = 64  # distances of the nearest two runs
_LITTLE = 0.1  # changes for each of the nearest distance: at least 90% of releases are then unchanged, on average
CERTIFYING = Limits(certificate_time=20.0)
IN_USE = {  # by the names that the page has for them
    "tight": {"mechanism": "exponential"},
    "online": {"mechanism": "online"},
    "textbook": {"mechanism": "exponential", "calibration": "textbook"},
}


def release(question: Message) -> Message:
    """Releases of a run by the mechanisms that need no certificate, with their figures."""
    asked = _Asked(question)
    return Message({name: asked.drawn(asked.mechanism(name, QUICK)) for name in ("online", "textbook")})


def certified(question: Message, progress: ShowProgress) -> Message:
    """Releases of a run by the mechanism with the best certificate that is found in time, with its figures."""
    asked = _Asked(question)
    tight = asked.mechanism("tight", CERTIFYING)
    tight.certificate(len(asked.word), progress)
    return Message({"tight": asked.drawn(tight)})


def random_run(question: Message) -> Message:
    """A run that is drawn uniformly from all of one length."""
    fields = Fields(question.values)
    public, length = drawn_recipe_of(fields).language(), fields.whole("length", 1, LONGEST)
    fields.done()
    (codes,) = space_of(public).uniform(length, 1, SystemSource().open())
    return Message({"run": [written(public.alphabet.symbols[code]) for code in codes.tolist()]})


class _Asked:
    """A question about a run: the language, the promise, the run, and how much is drawn."""

    def __init__(self, question: Message) -> None:
        fields = Fields(question.values)
        self._recipe = drawn_recipe_of(fields)
        names = fields.items("run", LONGEST)
        self._draws, self._many = fields.whole("draws", 1, 24, default=12), fields.whole("many", 0, 2_000, default=500)
        fields.done()
        self._language = self._recipe.language()
        if self._language.system is None:
            raise InvalidValue("only systems have runs: choose a grid, or load a system")
        self.word = self._checked(names)
        self._least = _least_distance(self._language, len(self.word))

    def mechanism(self, name: str, limits: Limits) -> Any:
        return mechanism_of(self._recipe.changed(IN_USE[name]), limits)

    def drawn(self, chosen: Private) -> dict[str, Any]:
        """Some releases, how many of many releases visit each state, and the figures of a mechanism."""
        length = len(self.word)
        own = chosen.given(self.word)
        released = chosen.release_all([self.word] * self._draws)
        expected = _public_distance(chosen, length)
        visits = Counter(state for word in own.simulate(self._many) for state in self._visited(word))
        return {
            "releases": [[written(symbol) for symbol in word] for word in released],
            "visits": [[written(state), count] for state, count in visits.items()],
            "expected": expected,
            "own": own.expected_distance(),
            "unchanged": math.exp(own.log_prob(self.word)),
            "in_force": chosen.in_force(length).text,
            "hides_little": expected is not None and expected < _LITTLE * (self._least.value or 1),
            "promise": _promised(chosen, self._least),
        }

    def _checked(self, names: list[Any]) -> list[Any]:
        """The word that the page calls by the names of its symbols, if it is one of the language."""
        if not names:
            raise InvalidValue("the run has no steps yet: draw or type at least one")
        symbols = {written(symbol): symbol for symbol in self._language.alphabet.symbols}
        word = [symbols.get(name) if isinstance(name, str) else None for name in names]
        system = self._language.system
        at = system.initial
        for number, symbol in enumerate(word, start=1):
            at = None if symbol is None else system.step(at, symbol)
            if at is None:
                raise NotInLanguage(f"step {number} of the run is not possible there: take another way")
        if not system.is_accepting(at):
            raise NotInLanguage("the run does not end in a goal: draw it further, or remove the goals")
        for text in self._recipe.rules:
            if not restricted(self._recipe.without_rules(), [text]).accepts(word):
                raise NotInLanguage(f"the run breaks the rule {text}: change the run, or remove the rule")
        return word

    def _visited(self, word: list[Any]) -> set[Any]:
        system, seen = self._language.system, set()
        at = system.initial
        for symbol in word:
            at = system.step(at, symbol)
            seen.add(at)
        return seen


@lru_cache(_CACHED)
def _least_distance(public: Language, length: int) -> LeastDistance:
    """How near two runs of this length can be to each other; it is public."""
    return space_of(public).least_distance(length)


def _promised(chosen: Private, least: LeastDistance) -> str:
    """What is promised about two runs that the promise calls neighbours, or the nearest two, in words."""
    guarantee = cast("PureDP", chosen.guarantee)  # the page draws with fresh randomness only
    if least.value is None:
        return "nothing, for there is only one run of this length, and it comes out whatever ε is"
    if least.value > chosen.k:
        odds = guarantee.odds(least.value)
        none = f"no two runs of this length {odds.apart('fewer than ')}, so k = {chosen.k} is about no two runs"
        return f"{none}: take k = {least.value}. As it is, of two runs that {odds.apart()}, {odds.in_words}"
    odds = guarantee.odds(chosen.k)
    return f"of two runs that {odds.apart('' if chosen.k == 1 else 'up to ')}, {odds.in_words}"


def _public_distance(chosen: Private, length: int) -> float | None:
    """The expected distance, averaged over all runs of this length; None if it is too large to compute."""
    try:
        return chosen.expected_distance(length=length)
    except TooLarge:
        return None
