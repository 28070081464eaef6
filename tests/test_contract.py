"""The contracts that every space and every mechanism has to pass. A new one is tested by adding a line to a table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.mechanisms.choice import NAMED, best_by_length
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.uniform import Uniform
from dpwords.spaces.choice import space_of
from dpwords.spaces.exhaustive import EveryWord
from dpwords.spaces.space import Weights
from zoo import ALL, FINITE, PLANS

SPACES: dict[str, tuple[dw.Words, Any, int]] = {  # language, distance, and a length: of words, or of the longest
    **{f"{name}, hamming": (language, "hamming", length) for name, (language, length) in ALL.items()},  # type: ignore[misc]
    **{f"plans, {name}": (language, "hamming", length) for name, (language, length) in PLANS.items()},  # type: ignore[misc]
    **{f"{name}, levenshtein": (language, "levenshtein", longest) for name, (language, longest) in FINITE.items()},
}
UNLISTED = Limits(certified_words=0)

MECHANISMS: dict[str, tuple[Private, int]] = {
    "exponential, free words": (dw.Exponential(dw.Words("abc"), 1.5), 3),
    "exponential, staircase": (dw.Exponential(dw.Words("ab"), 2.0, k=2), 4),
    "exponential, the paper's utility": (dw.Exponential(ALL["grid"][0], 3.0, utility=dw.Inverse(0.5)), 3),
    "exponential, moves": (dw.Exponential(ALL["walls"][0], 2.0), 4),
    "exponential, states": (dw.Exponential(ALL["grid by states"][0], 3.0), 4),
    "exponential, plans": (dw.Exponential(PLANS["walls"][0], 2.0, limits=UNLISTED), 4),
    "exponential, plans under a rule": (dw.Exponential(PLANS["goal under a rule"][0], 3.0), 5),
    "exponential, plans by edits": (dw.Exponential(PLANS["bounded"][0], 2.0, distance="levenshtein"), 3),
    "exponential, any start": (dw.Exponential(ALL["any start"][0], 2.0), 3),
    "exponential, moves, k = 2": (dw.Exponential(ALL["walls"][0], 3.0, k=2), 4),
    "exponential, staircase on a system": (
        dw.Exponential(ALL["grid by states"][0], 4.0, k=3, utility=dw.Staircase(1)),
        4,
    ),
    "exponential, staircase by its range": (
        dw.Exponential(ALL["walls"][0], 8.0, k=2, utility=dw.Staircase(), limits=UNLISTED),
        4,
    ),
    "exponential, not listed": (dw.Exponential(ALL["grid by states"][0], 3.0, limits=UNLISTED), 4),
    "exponential, moves under a rule": (dw.Exponential(ALL["moves under a rule"][0], 3.0, limits=UNLISTED), 4),
    "exponential, states under a rule": (dw.Exponential(ALL["states under a rule"][0], 3.0, limits=UNLISTED), 4),
    "exponential, states under a rule about the ends": (
        dw.Exponential(ALL["states under a rule about the ends"][0], 3.0, limits=UNLISTED),
        3,
    ),
    "exponential, pattern": (dw.Exponential(ALL["pattern"][0], 2.0), 4),
    "exponential, complement": (dw.Exponential(ALL["complement"][0], 2.0, limits=UNLISTED), 3),
    "exponential, union": (dw.Exponential(ALL["union"][0], 2.0, k=2), 3),
    "exponential, textbook": (dw.Exponential(ALL["dead ends"][0], 2.0, calibration="textbook"), 4),
    "exponential, lexicon": (dw.Exponential(ALL["lexicon"][0], 2.0), 4),
    "exponential, lexicon by edits": (dw.Exponential(FINITE["cities"][0], 2.0, distance="levenshtein"), 6),
    "exponential, counted by edits": (dw.Exponential(FINITE["grid, bounded"][0], 2.0, distance="levenshtein"), 3),
    "online, system": (dw.Online(ALL["dead ends"][0], 2.0), 4),
    "online, many starts": (dw.Online(dw.GridWorld(4, 4, start=None).by_states(), 2.0), 2),
    "online, moves under a rule": (dw.Online(ALL["moves under a rule"][0], 2.0), 4),
    "online, states under a rule": (dw.Online(ALL["states under a rule"][0], 2.0), 4),
    "online, states under a rule about the ends": (dw.Online(ALL["states under a rule about the ends"][0], 2.0), 3),
    "online, plans": (dw.Online(PLANS["goal under a rule"][0], 2.0), 5),
    "online, free words": (dw.Online(dw.Words("abc"), 1.5), 3),
    "channel": (dw.EditChannel("ab", 3.0), 3),
    "channel onto a system": (dw.EditChannel("NESW", 5.0, onto=dw.GridWorld(2, 2)), 2),
    "channel onto a lexicon": (dw.EditChannel("abc", 5.0, onto=dw.Lexicon(["ab", "cab", "b"])), 2),
    "channel onto a pattern": (dw.EditChannel("abcd", 5.0, onto=ALL["pattern"][0]), 2),
    "projected onto a rule": (
        dw.Exponential(dw.Words("abc"), 1.5).onto(dw.Words("abc") & dw.Pattern(".*a[^a].*")),
        3,
    ),
    "projected onto fewer symbols": (dw.Exponential(dw.Words("abcd"), 1.5).onto(dw.Words("ca")), 3),
    "projected onto other words": (dw.Online(ALL["walls"][0], 2.0).onto(dw.Words("EWS")), 4),
    "projected onto a lexicon": (dw.Exponential(dw.Words("abk"), 2.0).onto(dw.Lexicon(["bak", "abb", "kk", "bbb"])), 3),
    "projected onto a goal": (best_by_length(dw.GridWorld(2, 3), 2.0, 2).onto(ALL["goal"][0], words=ALL["goal"][0]), 3),
    "projected, states under a rule": (
        NAMED["projected"].make(ALL["states under a rule"][0], 2.0, 1, Limits()),
        4,
    ),
    "projected twice": (dw.Exponential(dw.Words("abc"), 1.5).onto(dw.Words("ab")).onto(dw.Pattern("(ab|ba|b)*")), 3),
    "best by length, under a rule": (best_by_length(ALL["states under a rule"][0], 2.0), 4),
    "best by length, plans": (best_by_length(PLANS["walls"][0], 2.0), 4),
    "best by length": (best_by_length(ALL["walls"][0], 2.0), 4),
    "best by length, k = 2": (best_by_length(ALL["grid by states"][0], 2.0, 2), 4),
    "uniform": (Uniform(ALL["grid"][0]), 3),
    "report, symbols": (dw.Report(dw.Words("abcd"), 1.0, "symbols"), 3),
    "report, pairs of symbols": (dw.Report(dw.Words("abc"), 1.5, "transitions"), 3),
    "report, visits": (dw.Report(ALL["states under a rule"][0], 1.2, "visits"), 4),
    "report, visits of moves": (dw.Report(ALL["walls"][0], 0.8, "visits"), 4),
    "report, visits of plans": (dw.Report(PLANS["walls"][0], 1.0, "visits"), 4),
    "report, transitions of moves": (dw.Report(ALL["parallel actions"][0], 0.5, "transitions"), 3),
    "report, transitions from anywhere": (dw.Report(ALL["any start"][0], 2.0, "transitions"), 3),
    "report, lexicon": (dw.Report(ALL["lexicon"][0], 3.0, "symbols"), 4),
}
LINEAR = Fraction(7, 5)
BY_DISTANCE = (Fraction(0), Fraction(1, 3), Fraction(2), Fraction(2), Fraction(7, 2), Fraction(5), Fraction(6))


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("linear", [True, False])
def test_every_space_equals_the_reference(name: str, linear: bool) -> None:
    language, distance, length = SPACES[name]
    space, reference = space_of(language, distance), EveryWord(language, distance, length)
    reach = space.reach(length)
    weights = Weights.linear(LINEAR, reach) if linear else Weights.by_distance(BY_DISTANCE[: reach + 1])
    contract.check_space(space, reference, length, weights)
    contract.check_many(space, reference, length, weights)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_keeps_its_promise(name: str) -> None:
    mechanism, length = MECHANISMS[name]
    if contract.has_endless_outputs(mechanism):
        mechanism = mechanism.without_projection()
    contract.check_promise(mechanism, length, draws=10**4)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_a_value(name: str) -> None:
    contract.check_value(*MECHANISMS[name])


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_mechanism_keeps_traces_of_words(name: str) -> None:
    contract.check_no_traces(*MECHANISMS[name])


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_releases_words_lists_and_arrays(name: str) -> None:
    contract.check_release(*MECHANISMS[name])


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_keyed_draws(name: str) -> None:
    contract.check_keyed(*MECHANISMS[name])


def test_only_what_is_proven_releases() -> None:
    """`release` is a reserved verb: it is written once, in the class that proven mechanisms derive from."""
    assert not hasattr(dw.PaperLiteral, "release")
    for mechanism, _ in MECHANISMS.values():
        assert type(mechanism).release is Private.release
        assert type(mechanism).release_all is Private.release_all
        assert type(mechanism).release_codes is Private.release_codes
