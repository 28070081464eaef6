"""What other packages ask a mechanism, instead of which class it has."""

from __future__ import annotations

import pytest

import dpwords as dw
from dpwords.mechanisms.by_length import ByLength
from dpwords.mechanisms.choice import NAMED, Family, Title, best_by_length, family_of, offers
from dpwords.mechanisms.mechanism import OutputKind
from dpwords.mechanisms.private import Private

WORLD, FREE, CITIES = dw.GridWorld(3, 3), dw.Words("ab"), dw.Lexicon(["bern", "bonn", "born", "rome"])
ANY_WORD = {
    "exponential": dw.Exponential(FREE, 2.0),
    "online": dw.Online(WORLD, 2.0),
    "channel": dw.EditChannel("ab", 4.0),
    "literal": dw.PaperLiteral(FREE, 2.0),
}


@pytest.mark.parametrize("mechanism", ANY_WORD.values(), ids=[*ANY_WORD])
def test_by_default_a_mechanism_is_itself(mechanism: dw.Exponential) -> None:
    assert mechanism.at(5) is mechanism
    assert mechanism.without_projection() is mechanism
    assert mechanism.projected_onto is None
    assert mechanism.releases is OutputKind.WORDS
    assert mechanism.answers is None
    assert mechanism.edits_made == isinstance(mechanism, dw.EditChannel)


def test_a_projection_names_its_language() -> None:
    projected = dw.EditChannel("NESW", 6.0, onto=WORLD)
    assert projected.projected_onto is WORLD
    assert projected.without_projection().projected_onto is None
    assert projected.without_projection().epsilon == 6.0
    assert projected.like(epsilon=7.0).projected_onto is WORLD


def test_a_report_releases_answers() -> None:
    report = dw.Report(FREE, 2.0, "symbols")
    assert report.releases is OutputKind.ANSWERS
    assert report.answers.items == ("a", "b")
    assert report.answers.written(report.release("abab")) in ("a", "b")
    assert report.notes([4, 5]) == [report.in_force(4).text]


def test_candidates_are_prepared_and_named() -> None:
    best = best_by_length(WORLD, 2.0)
    assert isinstance(best, ByLength)
    steps: list[str] = []
    best.prepare(4, lambda text, proportion: steps.append(text))
    assert best.at(4) is best.candidates[best.chosen(4)]
    assert steps[-1] == "choosing a mechanism for words of length 4"
    (note,) = best.notes([4])
    assert note.startswith(f"best mechanism: {best.chosen(4)} for words of length 4 (expected distance: ")
    again: list[str] = []
    best.prepare(4, lambda text, proportion: again.append(text))
    assert again == []


def test_certificates_are_those_that_prove_the_rate() -> None:
    tight = dw.Exponential(WORLD, 2.0)
    assert tight.certificates is tight.certificate
    assert dw.Exponential(WORLD, 2.0, calibration="textbook").certificates is None
    assert dw.Exponential(FREE, 2.0).certificates is None
    for none in (dw.Online(WORLD, 2.0), dw.EditChannel("ab", 4.0), dw.Report(FREE, 2.0, "symbols")):
        assert none.certificates is None
    best = best_by_length(WORLD, 2.0)
    assert isinstance(best, ByLength)
    assert best.certificates is best.candidates["tight"].certificates


def test_a_lexicon_is_certified_when_that_is_asked_for() -> None:
    edits = dw.Exponential(CITIES, 2.0, distance="levenshtein")
    assert edits.certificates is not None
    assert "0 of 1" in repr(edits.certificates)
    edits.prepare(4, in_full=True)
    assert "1 of 1" in repr(edits.certificates)


def test_notes_say_where_the_textbook_rate_is_in_force() -> None:
    moves = dw.Exponential(dw.GridWorld(15, 15), 2.0)
    assert moves.notes([4]) == []
    assert moves.notes([4, 18]) == ["the textbook rate, half of ε, is in force for words of length 18"]
    assert dw.Exponential(dw.GridWorld(15, 15), 2.0, calibration="textbook").notes([18]) == []


def test_every_offer_has_its_family_and_makes_a_mechanism() -> None:
    for language in (WORLD, FREE, CITIES, WORLD.by_states()):
        for edits in ("substitutions", "all"):
            found = offers(language, 2, edits)
            for title, offer in found.items():
                assert title == offer.title == Title(title)
                assert family_of(title) is Title(title).family
                made = offer(8.0)
                assert isinstance(made, Private)
                assert made.k == 2
    assert family_of("by hand") is None
    assert family_of("linear, textbook") is Family.TEXTBOOK


@pytest.mark.parametrize("name", NAMED)
def test_named_mechanisms_can_be_chosen(name: str) -> None:
    from dpwords.mechanisms.choice import mechanism

    made = mechanism(WORLD & dw.rules.contains((1, 1)), 6.0, edits=NAMED[name].edits, name=name)
    assert made.epsilon == 6.0
    other = "all" if NAMED[name].edits == "substitutions" else "substitutions"
    with pytest.raises(dw.InvalidValue, match=r"edits=.all"):
        mechanism(WORLD, 6.0, edits=other, name=name)  # type: ignore[arg-type]
