"""The view of runs: systems from files, releases of one run on a system by several mechanisms, and what they cost."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from pathlib import PurePath
from typing import Any, cast

from dpwords.bridges.system_files import SYSTEM_FILES, read_system
from dpwords.core.files import FileContent
from dpwords.core.limits import Limits
from dpwords.core.randomness import SystemSource
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge
from dpwords.languages.language import Language
from dpwords.languages.systems import GridWorld, TransitionSystem, written
from dpwords.mechanisms.private import Private
from dpwords.plots.places import cells_of, spots_of
from dpwords.privacy.guarantees import PureDP
from dpwords.recipes.recipe import Recipe
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import LeastDistance
from dpwords.web.messages import picked
from dpwords.web.questions import DRAWN, MOST_SIDE, QUICK, Values, answers, mechanism_of, of, whole
from dpwords.web.workers import ShowProgress

LONGEST = 400  # steps of a run on the page
MOST_SPREAD = 200  # states on the page that have neither coordinates nor cells
MOST_PLACED = 1_000  # states on the page that have
MOST_MOVES = 4_000
_CACHED = 64  # distances of the nearest two runs
_LITTLE = 0.1  # changes for each of the nearest distance: at least 90% of releases are then unchanged, on average
CERTIFYING = Limits(certificate_time=20.0)
IN_USE = {  # by the names that the page has for them
    "tight": {"mechanism": "exponential"},
    "online": {"mechanism": "online"},
    "textbook": {"mechanism": "exponential", "calibration": "textbook"},
}

_RUN = {
    "recipe": DRAWN,
    "run": of(list, LONGEST, default=[]),
    "draws": whole(1, 24, default=12),
    "many": whole(0, 2_000, default=500),
}


@answers(name=of(str, 300), start=of(str, 300, default=None), action=of(str, 300, default=None))
def load(name: str, start: str | None, action: str | None, content: bytes) -> Values:
    """The system in a file: what the page draws, and its JSON, with which the page describes it from then on.

    Of a map, the cells come along, so that they can be edited. The file is not written to disk.
    """
    if PurePath(name).suffix.lower() not in SYSTEM_FILES:
        known = ", ".join(SYSTEM_FILES)
        raise InvalidValue(f"the page reads systems from files that end in {known}: convert or rename the file")
    system = read_system(FileContent(name, content), None, start, action)
    return {"grid": _editable(system), **_described(system)}


@answers(**_RUN)
def release(**asked: Any) -> Values:
    """Releases of a run by the mechanisms that need no certificate, with their figures."""
    own = _Run(**asked)
    return {name: own.drawn(own.mechanism(name, QUICK)) for name in ("online", "textbook")}


@answers(**_RUN)
def certified(progress: ShowProgress, **asked: Any) -> Values:
    """Releases of a run by the mechanism with the best certificate that is found in time, with its figures."""
    own = _Run(**asked)
    tight = own.mechanism("tight", CERTIFYING)
    tight.certificate(len(own.word), progress)
    return {"tight": own.drawn(tight)}


@answers(recipe=DRAWN, length=whole(1, LONGEST))
def random_run(recipe: Recipe, length: int) -> Values:
    """A run that is drawn uniformly from all of one length."""
    public = recipe.language()
    (word,) = public.encoder().words(space_of(public).uniform(length, 1, SystemSource().open()), list)
    return {"run": list(map(written, word))}


def _described(system: TransitionSystem) -> Values:
    states, moves = len(system.states), sum(len(row) for row in system.transitions.values())
    most = MOST_SPREAD if system.positions is None and cells_of(system) is None else MOST_PLACED
    if states > most or moves > MOST_MOVES:
        raise TooLarge(
            f"the page shows systems of at most {MOST_SPREAD} states, or {MOST_PLACED:,} with coordinates, and "
            f"{MOST_MOVES:,} moves, and this one has {states:,} and {moves:,}: use the command line"
        )
    numbers = {state: number for number, state in enumerate(system.states)}
    spots = spots_of(system)
    anywhere = system.start is None
    return {
        "system": system.to_json(),
        "states": [[written(state), *spots[state]] for state in system.states],
        "moves": [
            [numbers[state], written(action), numbers[target]]
            for state, row in system.transitions.items()
            for action, target in row.items()
        ],
        "start": None if anywhere else numbers[system.start],
        "accepting": None if system.accepting is None else sorted(numbers[state] for state in system.accepting),
        "words": _written_as(system),
    }


def _written_as(system: TransitionSystem) -> list[str]:
    """What the words of a system can consist of, what is usually meant first; plans are moves that are about states."""
    if system.start is None or system.symbols_are == "states":
        return ["states"]
    try:
        system.plans()
    except InvalidValue:
        return ["moves", "states"]
    return ["plans", "moves", "states"]


def _editable(system: TransitionSystem) -> Values | None:
    """The cells of a map that the page can edit; None for other systems."""
    if not isinstance(system, GridWorld) or system.start is None or max(system.rows, system.columns) > MOST_SIDE:
        return None
    cells = {"walls": sorted(system.walls), "goal": sorted(system.accepting or ())}
    return picked(system, "rows", "columns", "start") | cells


class _Run:
    """A private run: its language, the promise, and how much is drawn."""

    def __init__(self, recipe: Recipe, run: list[Any], draws: int, many: int) -> None:
        self._recipe, self._draws, self._many, self._language = recipe, draws, many, recipe.language()
        if self._language.system is None:
            raise InvalidValue("only systems have runs: choose a grid, or load a system")
        self.word = self._checked(run)
        self._least = _least_distance(self._language, len(self.word))

    def mechanism(self, name: str, limits: Limits) -> Any:
        return mechanism_of(self._recipe.changed(IN_USE[name]), limits)

    def drawn(self, chosen: Private) -> Values:
        """Some releases, how many of many releases visit each state, and the figures of a mechanism."""
        length = len(self.word)
        own = chosen.given(self.word)
        released = chosen.release_all([self.word] * self._draws)
        expected = _public_distance(chosen, length)
        visited = map(self._language.system.run, own.simulate(self._many))
        visits = Counter(state for states in visited for state in dict.fromkeys(states))
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
        symbols = {written(symbol): symbol for symbol in self._language.letters.symbols}
        word = [symbols.get(name) if isinstance(name, str) else None for name in names]
        system = self._language.system
        at = system.initial
        for number, symbol in enumerate(self._language.read(tuple(word)), start=1):
            at = None if symbol is None else system.step(at, symbol)
            if at is None:
                raise NotInLanguage(f"step {number} of the run is not possible there: take another way")
        if not system.is_accepting(at):
            raise NotInLanguage("the run does not end in a goal: draw it further, or remove the goals")
        text = self._recipe.broken_rule(word)
        if text is not None:
            raise NotInLanguage(f"the run breaks the rule {text}: change the run, or remove the rule")
        return word


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
