"""A study of the owner's own data: every figure against a count or a formula that is worked out here."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from commands import refused, run
from dpwords import plots
from dpwords.core.limits import Limits
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.estimate.asking import KINDS
from dpwords.estimate.inversion import reported_proportions
from dpwords.frames.requests import Request
from dpwords.frames.sources import words_in
from dpwords.studies.data import HEADER, NOT_PRIVATE, REPORT, TrueWords, data, error_between, reading
from dpwords.studies.study import Study

TEXTS = ["abcab", "aabb", "abcab", "ca", "b"] * 40
WORLD = dw.GridWorld(3, 3).by_states()
RUNS = [[(0, 1), (1, 1), (1, 2)], [(1, 0), (1, 1), (2, 1), (1, 1)], [(0, 1), (0, 2), (1, 2)]] * 50


def encoded(words: Any, language: Any) -> Ragged:
    codes = language.alphabet.codes
    return Ragged.of([np.array([codes[symbol] for symbol in word], dtype=np.uint8) for word in words])


def drawn(mechanism: Any, purpose: str, words: Any) -> list[list[Any]]:
    """The words that a study with seed 1 draws for a purpose; they are drawn in the order of their lengths."""
    symbols = mechanism.language.alphabet.symbols
    released = mechanism.seeded(f"1 {purpose} 0").release_codes(encoded(words, mechanism.language))
    return [[symbols[code] for code in word] for word in released]


def rows(study: Study) -> dict[tuple[str, float], dict[str, Any]]:
    assert study.tables[0].header == HEADER
    named = [dict(zip(HEADER, row, strict=True)) for row in study.tables[0].rows]
    return {(row["mechanism"], row["ε"]): row for row in named}


def proportions(counts: Counter[Any]) -> dict[Any, float]:
    return {label: number / counts.total() for label, number in counts.items()}


def pairs(words: Any) -> dict[Any, float]:
    return proportions(Counter(pair for word in words for pair in pairwise(word)))


def off(found: dict[Any, float], truth: dict[Any, float]) -> float:
    return sum(abs(found.get(label, 0) - truth.get(label, 0)) for label in {*found, *truth})


@pytest.fixture(scope="module")
def free() -> Study:
    return data(encoded(TEXTS, dw.Words("abc")), dw.Words("abc"), [1.0, 3.0], seed=1)


def test_distances_on_free_words_have_their_closed_form(free: Study) -> None:
    found = rows(free)
    for epsilon in (1.0, 3.0):
        at_rate = {"tight (default)": epsilon, "linear, textbook": epsilon / 2}
        for name, rate in at_rate.items():
            expected = 2 / (math.exp(rate) + 2)
            assert found[name, epsilon]["expected"] == pytest.approx(expected, rel=1e-9)
            assert found[name, epsilon]["for these"] == pytest.approx(expected, rel=1e-9)
            assert found[name, epsilon]["observed"] == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(680))
            assert found[name, epsilon]["rate"] == name.split()[0].removesuffix(",").replace("linear", "textbook")


def test_errors_of_the_question_are_those_of_the_same_draws_counted_by_hand(free: Study) -> None:
    mechanism = dw.Exponential(dw.Words("abc"), epsilon=3)
    released = drawn(mechanism, "tight (default) 3.0", TEXTS)
    row = rows(free)["tight (default)", 3.0]
    changed = sum(a != b for a, b in zip("".join(TEXTS), chain.from_iterable(released), strict=True))
    assert row["observed"] == pytest.approx(changed / sum(map(len, TEXTS)))
    assert row["counted"] == pytest.approx(off(pairs(released), pairs(TEXTS)))
    found = dw.estimate.dfg(released, mechanism)
    assert row["estimated"] == pytest.approx(off({pair: each.value for pair, each in found.items()}, pairs(TEXTS)))
    assert row["foreseen"] == pytest.approx(found.total_error)
    assert row["estimated"] < row["counted"]


def test_a_refused_estimate_leaves_a_gap_and_a_note() -> None:
    few = data(encoded(TEXTS[:20], dw.Words("abc")), dw.Words("abc"), [0.5], seed=1)
    row = rows(few)["inverse (α=1), textbook", 0.5]
    assert row["estimated"] is None
    assert row["foreseen"] is None
    assert row["counted"] <= 2
    assert any(
        "inverse (α=1), textbook at ε = 0.5: no estimate: nothing can be estimated" in note for note in few.notes
    )


def test_the_document_says_what_it_is(free: Study) -> None:
    found = json.loads(json.dumps(free.document()))
    assert (found["private"], found["warning"], found["question"]) == (False, NOT_PRIVATE, "dfg")
    assert (found["words"], found["symbols"]) == (200, sum(map(len, TEXTS)))
    assert {row["promised_for"] for row in found["results"]} == {"any two words", "words at most k apart"}
    first = found["results"][0]["trials"]
    assert first == data(encoded(TEXTS, dw.Words("abc")), dw.Words("abc"), [1.0], seed=1).facts["results"][0]["trials"]


def test_several_draws_are_averaged() -> None:
    words = encoded(TEXTS, dw.Words("abc"))
    found = data(words, dw.Words("abc"), [2.0], question="frequencies", draws=3, seed=2)
    for result, row in zip(found.facts["results"], found.tables[0].rows, strict=True):
        errors = [trial["counted_error"] for trial in result["trials"]]
        assert len(errors) == 3
        assert len(set(errors)) > 1
        assert row[HEADER.index("counted")] == pytest.approx(sum(errors) / 3)
    assert any("means of 3 simulated releases" in note for note in found.notes)


def test_runs_of_a_system() -> None:
    found = rows(data(encoded(RUNS, WORLD), WORLD, [3.0], seed=1))
    assert {name for name, _ in found} >= {"tight", "online", "linear, textbook", REPORT}
    for name, mechanism in {"online": dw.Online(WORLD, 3), "tight": dw.Exponential(WORLD, 3)}.items():
        row = found[name, 3.0]
        mean = sum(mechanism.given(run).expected_distance() for run in RUNS[:3]) * 3 / (3 * 10)
        assert row["for these"] == pytest.approx(mean, rel=1e-6)
        released = drawn(mechanism, f"{name} 3.0", RUNS)
        steps = [
            proportions(Counter(step for run in some for step in pairwise([(0, 0), *run]))) for some in (released, RUNS)
        ]
        assert row["counted"] == pytest.approx(off(*steps))
        lengths = {3: 100, 4: 50}
        public = sum(number * mechanism.expected_distance(length=n) for n, number in lengths.items()) / 500
        assert row["expected"] == pytest.approx(public, rel=1e-9)
    assert found["online", 3.0]["rate"] is None


def test_the_rate_says_for_how_many_words_it_is_tight() -> None:
    moves = dw.GridWorld(4, 4)
    mechanism = dw.Exponential(moves, epsilon=1, limits=Limits(certificate_time=0.0))
    assert [mechanism.in_force(n).calibration for n in (4, 18)] == ["tight", "textbook"]
    words = encoded(["EESS"] * 3 + ["EW" * 9], moves)
    assert TrueWords(words, "transitions").rate(mechanism) == "tight 75%"


def test_reports_are_about_the_mean_over_words() -> None:
    report = dw.Report(dw.Words("ab"), epsilon=1, question="transitions")
    found = reported_proportions(encoded(["aab", "ab", "bb"], dw.Words("ab")), report.answers)
    mean = {("a", "a"): Fraction(1, 6), ("a", "b"): Fraction(1, 2), ("b", "a"): Fraction(0), ("b", "b"): Fraction(1, 3)}
    assert found == pytest.approx({pair: float(proportion) for pair, proportion in mean.items()})


def test_a_report_leaves_out_words_that_have_no_answer(free: Study) -> None:
    report = dw.Report(dw.Words("abc"), epsilon=3, question="transitions")
    long = [word for word in TEXTS if len(word) > 1]
    codes = report.seeded(f"1 {REPORT} 3.0 0").release_codes(encoded(long, report.language))
    answers = [frozenset(report.items[code] for code in answer) for answer in codes]
    truth: Counter[Any] = Counter()
    for word in long:
        for pair in pairwise(word):
            truth[pair] += 1 / (len(word) - 1) / len(long)
    row = rows(free)[REPORT, 3.0]
    estimated = {pair: each.value for pair, each in dw.estimate.transitions(answers, report).items()}
    assert row["estimated"] == pytest.approx(off(estimated, truth))
    named = proportions(Counter(pair for answer in answers for pair in answer))
    assert row["counted"] == pytest.approx(off(named, truth))
    assert (row["expected"], row["observed"], row["rate"]) == (None, None, None)


def edits(one: str, other: str) -> int:
    @cache
    def least(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(least(i - 1, j) + 1, least(i, j - 1) + 1, least(i - 1, j - 1) + (one[i - 1] != other[j - 1]))

    return least(len(one), len(other))


def test_the_edit_channel_is_measured_in_edits() -> None:
    channel = dw.EditChannel("abc", epsilon=6)
    found = rows(data(encoded(TEXTS, dw.Words("abc")), dw.Words("abc"), [6.0], edits="all", seed=1))
    row = found["channel, edits made", 6.0]
    released = ["".join(word) for word in drawn(channel, "channel, edits made 6.0", TEXTS)]
    distance = sum(edits(one, other) for one, other in zip(TEXTS, released, strict=True))
    assert row["observed"] == pytest.approx(distance / sum(map(len, TEXTS)))
    assert row["counted"] == pytest.approx(off(pairs(released), pairs(TEXTS)))
    assert row["observed"] <= row["expected"] * 1.2
    assert row["estimated"] < row["counted"]


def test_what_cannot_be_studied() -> None:
    words = encoded(TEXTS, dw.Words("abc"))
    with pytest.raises(InvalidValue, match="there are no words"):
        data(encoded([], dw.Words("abc")), dw.Words("abc"), [1.0])
    with pytest.raises(InvalidValue, match="k is at most the length of every word"):
        data(words, dw.Words("abc"), [1.0], k=2)
    with pytest.raises(InvalidValue, match="only runs of a system visit states"):
        data(words, dw.Words("abc"), [1.0], question="visits")
    with pytest.raises(InvalidValue, match="is left out: "):
        data(encoded(RUNS, WORLD), WORLD, [0.001], edits="all", question="starts")


def test_error_between_proportions() -> None:
    assert error_between({"a": 1.0}, {"b": 1.0}) == 2.0
    assert error_between({"a": 0.5, "b": 0.5}, {"a": 0.25, "b": 0.75}) == 0.5


def test_words_are_read_from_files(tmp_path: Path) -> None:
    language = dw.Words("abc")
    mechanism, inside = reading(language, "substitutions")
    assert inside is None
    wide, lists, log = tmp_path / "wide.csv", tmp_path / "lists.jsonl", tmp_path / "log.csv"
    wide.write_text("id,m1,m2\n1,a,b\n2,c,\n", "utf-8")
    lists.write_text('{"w": ["a", "b"]}\n{"w": ["c"]}\n', "utf-8")
    log.write_text("who,what,when\nx,b,2\ny,c,1\nx,a,1\n", "utf-8")
    for path, request in [
        (wide, Request(columns="m1:m2")),
        (lists, Request(column="w")),
        (log, Request(case="who", symbol="what", order="when")),
    ]:
        found = words_in(str(path), None, request, mechanism)
        assert [word.tolist() for word in found.words] == [[0, 1], [2]]
        assert found.skipped == 0
    lists.write_text('{"w": ["a", "x"]}\n{"w": ["c"]}\n', "utf-8")
    with pytest.raises(NotInLanguage, match="row 1 has a word that is not in the language"):
        words_in(str(lists), None, Request(column="w"), mechanism)
    found = words_in(str(lists), None, Request(column="w", invalid="skip"), mechanism)
    assert ([word.tolist() for word in found.words], found.skipped) == ([[2]], 1)
    wide.write_text("secret,b\nc,a\n", "utf-8")
    with pytest.raises(InvalidValue) as error:
        words_in(str(wide), None, Request(), mechanism)
    assert "secret" not in str(error.value)


def test_with_edits_of_all_kinds_the_words_still_have_to_be_runs(tmp_path: Path) -> None:
    (tmp_path / "runs.txt").write_text("EE\nWW\n", "utf-8")
    mechanism, inside = reading(dw.GridWorld(3, 3), "all")
    with pytest.raises(NotInLanguage, match="row 2"):
        words_in(str(tmp_path / "runs.txt"), None, Request(inside=inside), mechanism)


def test_the_command(tmp_path: Path) -> None:
    table, output = tmp_path / "words.csv", tmp_path / "new"
    table.write_text("word\n" + "\n".join(TEXTS) + "\nxyz\n", "utf-8")
    where = ["study", "data", "--input", str(table), "--column", "word", "--alphabet", "abc"]
    done = run(*where, "-e", "1,3", "--seed", "1", "--invalid", "skip", "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "dpwords: 1 rows are not in the language and left out",
        f"dpwords: {NOT_PRIVATE}",
    ]
    assert "200 words with 680 symbols, k = 1, edits: substitutions, question: dfg" in done.stdout
    assert "not private" in done.stdout
    names = {"data.json", *(f"data_{name}.{form}" for name in ("distance", "dfg") for form in ("svg", "png"))}
    assert {path.name for path in output.iterdir()} == names
    found = json.loads((output / "data.json").read_text("utf-8"))
    assert found["private"] is False
    assert found["tables"][0][1]["expected"] == pytest.approx(2 / (math.exp(3) + 2))
    assert "row 201 has a word that is not in the language" in refused(*where, "-e", "1")
    assert "only runs of a system" in refused(*where, "-e", "1", "--invalid", "skip", "--question", "visits")
    assert "--input is missing" in refused("study", "data", "--alphabet", "ab", "-e", "1")
    assert "--epsilon takes numbers separated by commas" in refused(*where, "-e", "one")
    assert "there is no column" in refused(*where[:-4], "--column", "w", "--alphabet", "abc", "-e", "1")


def test_the_command_offers_every_question() -> None:
    assert "|".join(KINDS) in "".join(run("study", "data", "--help").stdout.split())


def test_panels() -> None:
    curves = {"tight": [0.5, math.nan], "online": [0.75, 0.25]}
    figure = plots.panels([4, 2], {"expected": curves, "observed": {"tight": [0.5, 0.25]}}, "distance per step")
    expected, observed = figure.axes
    assert [line.get_ydata().tolist()[1] for line in expected.lines] == [0.5, 0.75]  # ε in ascending order
    assert [line.get_xdata().tolist() for line in observed.lines] == [[2, 4]]
    assert expected.get_ylabel() == "distance per step"
    assert expected.get_ylim() == observed.get_ylim()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["tight", "online"]
    with pytest.raises(InvalidValue, match="at least one panel"):
        plots.panels([1], {}, "distance")
    with pytest.raises(InvalidValue, match="one value for each ε"):
        plots.panels([1], {"expected": {"tight": [1.0, 2.0]}}, "distance")


def test_warnings_of_an_estimate_are_notes() -> None:
    words, mechanism = encoded(TEXTS[:20], dw.Words("abc")), dw.Exponential(dw.Words("abc"), epsilon=1.2)
    trial = TrueWords(words, "dfg").trial(mechanism, mechanism.seeded(1))
    assert trial.estimated_error is not None
    assert len(trial.notes) == 1
    assert "20 releases are few for this ε" in trial.notes[0]
