"""The view of odds: what the server answers, against brute force and hand-computed numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.web import odds
from dpwords.web.messages import Message, decoded

DNA = {"alphabet": "name:dna"}
GRID = {"system": "grid:3x3"}
pytestmark = pytest.mark.filterwarnings("ignore:of each word")  # few symbols are kept at ε = 2
CELLS = GRID | {"words": "states"}


def explained(one: str, other: str, language: dict[str, Any] = DNA, title: str = "", **promise: Any) -> Any:
    question = {"recipe": {"epsilon": 2} | language | promise, "title": title, "one": one, "other": other}
    return decoded(odds.explain(Message(question)).encoded()).values


def asked(task: Any, language: dict[str, Any] = DNA, length: int = 3, title: str = "", **promise: Any) -> Any:
    shares: list[float] = []
    question = {"recipe": {"epsilon": 2} | language | promise, "title": title, "length": length}
    answer = decoded(task(Message(question), shares.append).encoded()).values
    assert shares
    assert all(0 <= share <= 1 for share in shares)
    return answer


def test_two_words_at_distance_two() -> None:
    """The loss is 2·2, the odds e^4 : 1, and the certainty e^4/(1 + e^4) = 98.2%."""
    answer = explained("GATTACA", "GAATACT")
    assert (answer["distance"], answer["loss"], answer["cases"], answer["length"]) == (2, 4, 99, 7)
    assert answer["ratio"] == pytest.approx(math.exp(4))
    assert answer["certainty"] == pytest.approx(0.98201, abs=1e-5)
    assert answer["is_private"]
    assert answer["runs"] is None
    assert answer["title"] == "tight (default)"


@pytest.mark.parametrize(("k", "loss"), [(1, 6), (2, 4), (3, 2)])
def test_the_loss_counts_steps_of_k(k: int, loss: float) -> None:
    assert explained("AAAA", "CCCA", k=k)["loss"] == loss


def test_k_beyond_the_length_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="k = 4 is beyond it"):
        explained("GAT", "GAA", k=4)
    assert explained("GAT", "GAA", k=4, edits="all", epsilon=3)["loss"] == 3


def test_edits_compare_words_of_different_lengths() -> None:
    answer = explained("GATTACA", "ATTACAG", edits="all")
    assert (answer["distance"], answer["loss"]) == (2, 4)
    assert explained("GAT", "GATT", edits="all")["distance"] == 1
    assert [each["title"] for each in answer["mechanisms"]] == ["channel, edits made"]
    with pytest.raises(dw.InvalidValue, match="words of different lengths are not compared"):
        explained("GAT", "GATT")


def test_equal_words() -> None:
    answer = explained("GAT", "GAT")
    assert (answer["distance"], answer["loss"], answer["certainty"], answer["cases"]) == (0, 0, 0.5, 50)


def test_the_papers_formula_promises_nothing_but_its_loss_is_known() -> None:
    """On two letters and two places: the largest log-ratio over all outputs and words one place apart."""
    binary = {"alphabet": "01"}
    answer = explained("00", "01", binary, title=odds.LITERAL)
    assert not answer["is_private"]
    assert "nothing is promised" in answer["text"]
    weights = [math.exp(2 / (1 + d)) / math.comb(2, d) for d in range(3)]
    words = ["".join(word) for word in itertools.product("01", repeat=2)]
    brute = max(
        abs(math.log(weights[hamming(tuple(w), tuple(x))] / weights[hamming(tuple(w), tuple(y))]))
        for w, x, y in itertools.product(words, repeat=3)
        if hamming(tuple(x), tuple(y)) == 1
    )
    assert answer["loss"] == pytest.approx(brute)


def test_the_papers_formula_on_a_grid_has_no_bound() -> None:
    answer = explained("EE", "ES", GRID, title=odds.LITERAL)
    assert (answer["loss"], answer["ratio"], answer["certainty"]) == (None, None, None)


def test_routes_by_moves_and_by_cells() -> None:
    answer = explained("EES", "ESE", GRID)
    assert answer["distance"] == 2
    assert answer["runs"]["one"] == [[0, 0], [0, 1], [0, 2], [1, 2]]
    assert answer["runs"]["other"] == [[0, 0], [0, 1], [1, 1], [1, 2]]
    assert answer["title"] == "best"
    cells = explained("0,1 0,2 1,2", "0,1 1,1 1,2", CELLS)
    assert (cells["distance"], cells["runs"]) == (1, answer["runs"])


@pytest.mark.parametrize(
    ("one", "other", "language", "reason"),
    [
        ("EEE", "EES", GRID, r"the first is not in the language .*: change it, or the grid"),
        ("EES", "", GRID, "the second is empty"),
        ("0,1", "0;1", CELLS, "the second is not in the language"),
        ("GAT", "GAX", DNA, "the second is not in the language .*: choose an alphabet"),
        ("0,1", "0,1", CELLS | {"system": "grid:3x3@any"}, "the start is missing"),
    ],
)
def test_words_outside_of_the_language_are_refused(one: str, other: str, language: dict[str, Any], reason: str) -> None:
    with pytest.raises(dw.DPWordsError, match=reason):
        explained(one, other, language)


def test_a_mechanism_that_does_not_apply_gives_way_to_the_default() -> None:
    assert explained("GAT", "GAA", title="online")["title"] == "tight (default)"
    assert explained("EE", "ES", GRID, title="online")["title"] == "online"


def test_the_audit_of_free_words() -> None:
    """Tight calibration spends all of ε; the literal formula's loss on 4^3 words follows from its weights."""
    answer = asked(odds.audit)
    tight, literal = answer["audits"]
    assert (answer["length"], answer["symbols"], answer["shorter"], tight["words"]) == (3, None, False, 64)
    assert tight["holds"]
    assert tight["measured"] == pytest.approx(2)
    logs = [2 / (1 + d) - math.log(math.comb(3, d) * 3**d) for d in range(4)]
    assert literal["measured"] == pytest.approx(max(abs(logs[d] - logs[d + 1]) for d in range(3)))
    assert not literal["holds"]
    assert len(set(literal["worst"]["pair"])) == 2
    assert literal["worst"]["loss"] == pytest.approx(literal["measured"])


def test_the_audit_of_a_mechanism_of_ones_choice() -> None:
    """The textbook spends half of ε on the normalising constant, which is the same for all free words."""
    (textbook, _) = asked(odds.audit, title="linear, textbook")["audits"]
    assert textbook["measured"] == pytest.approx(1)
    (alone,) = asked(odds.audit, title=odds.LITERAL)["audits"]
    assert not alone["holds"]


def test_the_audit_of_edits_and_of_routes() -> None:
    edits = asked(odds.audit, edits="all")
    assert edits["shorter"]
    assert (edits["symbols"], edits["audits"][0]["words"]) == (3, 1 + 3 + 9 + 27)
    assert (edits["audits"][0]["holds"], edits["audits"][0]["longest"]) == (None, 5)  # outputs are without end
    assert 0 < edits["audits"][0]["delta"] < 1
    routes = asked(odds.audit, GRID, length=9, title="online")
    assert (routes["length"], routes["audits"][0]["words"]) == (4, dw.GridWorld(3, 3).count(4))
    assert routes["audits"][0]["measured"] == pytest.approx(2, abs=1e-6)


def test_an_audit_that_would_be_too_large_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="choose a smaller k"):
        asked(odds.audit, length=20, k=9)


def test_a_row_of_the_curves_on_free_words() -> None:
    """Each of 3 places changes with probability 3e^(−c)/(1 + 3e^(−c)), c = ε, or ε/2 by the textbook."""
    row = asked(odds.curve)
    by_title = {point["title"]: point for point in row["points"]}
    for title, c in (("tight (default)", 2.0), ("linear, textbook", 1.0)):
        changed = 3 * math.exp(-c) / (1 + 3 * math.exp(-c))
        assert by_title[title]["distance"] == pytest.approx(3 * changed)
    assert [point["title"] for point in row["points"] if point["optimal"]] == ["tight (default)"]
    weights = [math.exp(2 / (1 + d)) for d in range(4)]
    assert row["literal"]["distance"] == pytest.approx(sum(d * w for d, w in enumerate(weights)) / sum(weights))
    assert row["literal"]["epsilon"] > 2


def test_a_row_of_the_curves_on_a_grid() -> None:
    """The figures of docs/theory.md, section 11, for 3×3 grids with 4 moves or cells, k = 1, ε = 2."""
    for language, expected in ((GRID, 0.662), (CELLS, 0.661)):
        row = asked(odds.curve, language, length=4)
        assert {point["title"]: point["distance"] for point in row["points"]}["tight"] == pytest.approx(
            expected, abs=6e-4
        )
        assert not any(point["optimal"] for point in row["points"])
        assert row["literal"] is None


def test_a_row_of_the_curves_for_edits() -> None:
    row = asked(odds.curve, edits="all")
    assert [point["title"] for point in row["points"]] == ["channel, edits made"]
    assert row["literal"] is None


def test_what_is_guessed_of_free_words() -> None:
    """Each of 3 places is guessed with e²/(e² + 3), whatever the two words are."""
    answer = asked(odds.guessed)
    place = math.exp(2) / (math.exp(2) + 3)
    found = answer["found"]
    assert (answer["title"], answer["length"], found["exact"]) == ("tight (default)", 3, True)
    assert found["hits"] == pytest.approx(3 * place)
    assert found["whole"] == pytest.approx(place**3)
    assert found["positions"] == pytest.approx([place] * 3)
    # 0.3596
    assert found["of_100"] == "of 100 such words, at most 36 are guessed as a whole if all words are equally likely"
    assert found["positions_without"] == [0.25] * 3
    assert found["without"] == {"hits": pytest.approx(0.75), "whole": pytest.approx(1 / 64)}


def test_somebody_who_knows_the_population_guesses_more() -> None:
    """In each state one symbol comes in 9 of 10 cases: 0.9³ = 0.729 is guessed without any release."""
    answer = asked(odds.guessed)
    usual = {None: "A", "A": "C", "C": "G", "G": "T", "T": "A"}
    rows = {state: {each: 0.9 if each == next_ else 0.1 / 3 for each in "ACGT"} for state, next_ in usual.items()}
    expected = dw.attack.guess(dw.Exponential(dw.Words("ACGT"), 2), 3, rows)
    assert answer["informed"]["whole"] == pytest.approx(expected.whole)
    assert expected.whole > 0.729 > answer["found"]["whole"]
    assert "guessed as a whole if words are predictable" in answer["informed"]["of_100"]
    assert asked(odds.guessed, {"system": "grid:60x60"}, length=300, title="online")["informed"] is None


def test_what_is_guessed_of_routes_and_of_what_is_too_large() -> None:
    found = asked(odds.guessed, GRID, length=4, title="online")["found"]
    assert found["whole"] == pytest.approx(dw.attack.guess(dw.Online(dw.GridWorld(3, 3), 2), 4).whole)
    large = {"system": "grid:60x60"}
    assert asked(odds.guessed, large, length=300, title="online")["found"] is None
    assert asked(odds.guessed, large, length=30, title="inverse (α=1), textbook")["found"] is None


def test_the_curves_tell_what_is_guessed() -> None:
    """By the textbook with ε/2; by the literal formula, distance 0 has weight e² of the sum over distances."""
    row = asked(odds.curve)
    by_title = {point["title"]: point for point in row["points"]}
    for title, c in (("tight (default)", 2.0), ("linear, textbook", 1.0)):
        place = math.exp(c) / (math.exp(c) + 3)
        assert (by_title[title]["hits"], by_title[title]["whole"]) == (pytest.approx(place), pytest.approx(place**3))
    weights = [math.exp(2 / (1 + d)) for d in range(4)]
    assert row["literal"]["whole"] == pytest.approx(weights[0] / sum(weights))
