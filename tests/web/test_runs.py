"""The view of runs: its tasks, called directly."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import pytest

import dpwords as dw
from dpwords.web import runs
from dpwords.web.messages import Message
from dpwords.web.questions import recipe_of

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
SMALL = {"system": "grid:3x3", "walls": "1,1", "words": "moves"}
RUN = list("EESS")


def walked(word: tuple[str, ...] | list[str]) -> list[tuple[int, int]] | None:
    """The cells that a word enters on the small grid, or None if it is not possible: a walk of the test's own."""
    at, entered = (0, 0), []
    for move in word:
        at = (at[0] + STEPS[move][0], at[1] + STEPS[move][1])
        if not (0 <= at[0] < 3 and 0 <= at[1] < 3) or at == (1, 1):
            return None
        entered.append(at)
    return entered


EVERY = [word for word in itertools.product("NESW", repeat=4) if walked(word) is not None]


def asked(described: dict[str, Any] = SMALL, run: list[Any] = RUN, epsilon: float = 2.0, **more: Any) -> Message:
    recipe = {**described, "epsilon": epsilon, "k": more.pop("k", 1)}
    return Message({"recipe": recipe, "run": run, **more})


def answer(question: Message) -> dict[str, Any]:
    found = runs.release(question)
    found.encoded()  # there is no NaN in it
    return found.values


def differing(one: Any, other: Any) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def law(word: Any, rate: float, words: list[Any]) -> dict[Any, float]:
    weights = {each: math.exp(-rate * differing(word, each)) for each in words}
    return {each: weight / sum(weights.values()) for each, weight in weights.items()}


def test_textbook_figures_are_those_of_all_runs() -> None:
    found = answer(asked())["textbook"]
    shares = law(tuple(RUN), 1.0, EVERY)  # half of ε
    mean = {word: sum(p * differing(word, other) for other, p in law(word, 1.0, EVERY).items()) for word in EVERY}
    assert found["own"] == pytest.approx(mean[tuple(RUN)], abs=1e-6)
    assert found["unchanged"] == pytest.approx(shares[tuple(RUN)], abs=1e-6)
    assert found["expected"] == pytest.approx(sum(mean.values()) / len(EVERY), abs=1e-6)


def test_textbook_figures_of_words_of_states() -> None:
    states = [tuple(walked(word) or ()) for word in EVERY]
    own = tuple(walked(RUN) or ())
    described = SMALL | {"words": "states"}
    found = answer(asked(described, [f"{row},{column}" for row, column in own]))["textbook"]
    assert found["unchanged"] == pytest.approx(law(own, 1.0, states)[own], abs=1e-6)
    assert set(map(len, found["releases"])) == {4}


def test_releases_and_visits_are_of_possible_runs() -> None:
    found = answer(asked(epsilon=0.5, draws=24, many=300))
    for result in found.values():
        assert len(result["releases"]) == 24
        assert all(tuple(word) in EVERY for word in result["releases"])
        counts = dict(result["visits"])
        assert set(counts) <= {f"{row},{column}" for row in range(3) for column in range(3)} - {"1,1"}
        assert counts["0,1"] + counts["1,0"] >= 300  # every run enters one of the two first
        assert max(counts.values()) <= 300


def test_at_a_large_epsilon_every_draw_visits_the_run() -> None:
    found = answer(asked(epsilon=200.0, many=7))
    for result in found.values():
        assert result["releases"] == [RUN] * 12
        assert dict(result["visits"]) == {"0,1": 7, "0,2": 7, "1,2": 7, "2,2": 7}
    assert answer(asked(many=0))["online"]["visits"] == []


def test_the_certified_mechanism_is_that_of_the_library() -> None:
    shares: list[float] = []
    found = runs.certified(asked(), shares.append)
    found.encoded()
    world = dw.GridWorld(3, 3, walls={(1, 1)})
    wanted = dw.Exponential(world, 2.0)
    assert found.values["tight"]["own"] == pytest.approx(wanted.expected_distance("EESS"))
    assert found.values["tight"]["expected"] == pytest.approx(wanted.expected_distance(length=4))
    assert "certificate" in found.values["tight"]["in_force"]
    assert found.values["tight"]["expected"] < answer(asked())["textbook"]["expected"]
    assert all(tuple(word) in EVERY for word in found.values["tight"]["releases"])


def test_releases_obey_the_rules_and_end_in_a_goal() -> None:
    described = SMALL | {"goal": "2,2", "rules": ["contains:0,2", "at_most:2;E"]}
    found = answer(asked(described, epsilon=0.1, many=50))
    for result in found.values():
        for word in result["releases"]:
            entered = walked(word)
            assert entered is not None
            assert (0, 2) in entered
            assert entered[-1] == (2, 2)
        assert dict(result["visits"])["0,2"] == 50


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (asked(run=[]), "the run has no steps yet"),
        (asked(run=list("SE")), "step 2 of the run is not possible there"),
        (asked(run=["E", 5]), "step 2 of the run is not possible"),
        (asked(run=list("EQ")), "step 2 of the run is not possible"),
        (asked(SMALL | {"goal": "2,0"}), "does not end in a goal"),
        (
            asked(SMALL | {"rules": ["contains:2,0"]}),
            "breaks the rule contains:2,0: change the run, or remove the rule",
        ),
        (asked(SMALL | {"rules": ["contains:9,9"]}), "names 9,9, which is neither a symbol nor a state"),
        (asked(SMALL | {"rules": [5]}), "rules= must be a text"),
        (asked(SMALL | {"rules": ["contains:2,2", "never:2,2"]}), "breaks the rule never:2,2"),
        (asked(SMALL | {"system": "grid:1000x9"}), "at most 3,600 states here"),
        (asked(k=9), "k is at most the word's length"),
        (asked(epsilon=-1.0), "epsilon= must be"),
        (asked(run=["E", "W"] * 201), "run can have at most 400 entries here"),
        (asked(draws=25), "draws can be at most 24"),
        (asked(more=1), "values that are not known here"),
        (asked({"alphabet": "NESW"}), "only systems have runs"),
    ],
)
def test_what_is_refused(question: Message, message: str) -> None:
    with pytest.raises(dw.DPWordsError, match=message) as caught:
        answer(question)
    assert "\n" not in str(caught.value)


def test_random_runs() -> None:
    drawn = {tuple(runs.random_run(Message({"recipe": SMALL, "length": 4})).values["run"]) for _ in range(60)}
    assert drawn <= set(EVERY)
    assert len(drawn) > 5  # of 24; all but sure
    with pytest.raises(dw.DPWordsError, match="no word"):
        runs.random_run(Message({"recipe": SMALL | {"goal": "2,2"}, "length": 3}))


def test_the_promise_in_words() -> None:
    wanted = r"of two runs that differ in 1 position, .* at most e\^2 = 7.39 times as likely .* at most 88.1% sure"
    for result in answer(asked()).values():  # 7.389 = e², and 0.881 = 7.389 / 8.389
        assert re.match(wanted, result["promise"])


def test_the_promise_is_about_runs_that_there_are() -> None:
    """With a goal, runs of moves have the same number of each move but for pairs: none differ in one position."""
    goal = SMALL | {"goal": "2,2"}
    ends = [word for word in EVERY if (walked(word) or [])[-1] == (2, 2)]
    nearest = min(differing(one, other) for one, other in itertools.combinations(ends, 2))
    assert nearest == 4  # around the wall, on one side or the other
    for result in answer(asked(goal)).values():  # 99.97% = e^8 / (1 + e^8)
        assert "differ in fewer than 4 positions, so k = 1 is about no two runs: take k = 4." in result["promise"]
        assert "at most e^8 = 2,981 times as likely" in result["promise"]
    for result in answer(asked(goal, k=4)).values():
        assert result["promise"].startswith("of two runs that differ in up to 4 positions, any output is at most e^2")


def test_a_single_run_is_not_hidden_at_all() -> None:
    corridor = {"system": "grid:1x3", "goal": "0,2"}
    assert "there is only one run of this length" in answer(asked(corridor, ["E", "E"]))["online"]["promise"]


@pytest.mark.parametrize(("epsilon", "little"), [(2.0, False), (20.0, True)])
def test_an_epsilon_that_hides_little(epsilon: float, little: bool) -> None:
    found = answer(asked(epsilon=epsilon))["textbook"]
    kept = sum(law(word, epsilon / 2, EVERY)[word] for word in EVERY) / len(EVERY)
    assert found["hides_little"] is (kept > 0.9) is little


def test_k_beyond_one() -> None:
    found = answer(asked(k=2))["textbook"]
    assert found["promise"].startswith("of two runs that differ in up to 2 positions, ")
    assert found["unchanged"] == pytest.approx(law(tuple(RUN), 0.5, EVERY)[tuple(RUN)], abs=1e-6)


def test_a_loaded_system_is_described_by_its_json() -> None:
    system = dw.TransitionSystem({"s": {"a": "t", "b": "s"}, "t": {"a": "s"}}, start="s")
    described = {"system": {"name": "system.json", "content": system.to_json()}}
    language = recipe_of("recipe", described).language()
    assert language.count(5) == system.count(5)
    assert recipe_of("recipe", described | {"words": "states"}).language().accepts(["t", "s", "s"])
    found = answer(asked(described, ["a", "a", "b"], epsilon=1.0))
    assert all(system.accepts(word) for result in found.values() for word in result["releases"])
    with pytest.raises(dw.InvalidValue, match=r"system.json is not valid JSON \(line 1, column 2\)"):
        recipe_of("recipe", {"system": {"name": "system.json", "content": "{"}})
