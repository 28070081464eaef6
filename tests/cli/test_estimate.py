"""dpwords estimate: the numbers are those of hand computations, of known populations, and of the library."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from cli.test_colours import colourful, unpainted
from commands import refused, run

STATES = ("school", "training", "employment")
GRID = ("--system", "grid:3x3", "--words", "states")


def table(text: str) -> dict[str, list[float]]:
    """The rows that a pipe gets, by label; labels of several columns are joined."""
    header, *rows = [line.split("\t") for line in text.splitlines()]
    assert header[-4:] == ["estimate", "low", "high", "counted"]
    return {" ".join(row[:-4]): [float(cell) for cell in row[-4:]] for row in rows}


def release(source: Path, target: Path, *options: str) -> Path:
    """Release a file; the key that is made for each run is the same in every test."""
    with mock.patch("secrets.token_bytes", return_value=bytes(range(32))):
        done = run("release", "--input", str(source), "--output", str(target), "-q", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return target


@pytest.fixture
def months(tmp_path: Path) -> Path:
    """Three months of 600 people, 300 of them always at school, released at ε = 3; the states are in a file."""
    (tmp_path / "states.txt").write_text("\n".join(STATES), encoding="utf-8")
    rows = [("school", "school", "school")] * 300 + [("training", "employment", "employment")] * 300
    lines = ["who,Jul,Aug,Sep", *(f"{number},{','.join(row)}" for number, row in enumerate(rows))]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    alphabet = ("--alphabet", f"@{tmp_path / 'states.txt'}")
    return release(tmp_path / "in.csv", tmp_path / "out.csv", "--columns", "Jul:Sep", *alphabet, "-e", "3")


def test_an_inversion_by_hand(tmp_path: Path) -> None:
    """At ε = ln 4 a letter of three is kept with p = 2/3, any other comes with q = 1/6: (proportion − 1/6)/(1/2)."""
    source = tmp_path / "words.txt"
    source.write_text("a\n" * 50 + "b\n" * 30 + "c\n" * 20, encoding="utf-8")
    public = ("--alphabet", "abc", "--epsilon", repr(math.log(4)))
    done = run("estimate", "--input", str(source), "--question", "frequencies", *public)
    found = table(done.stdout)
    assert list(found) == ["a", "b", "c"]
    for letter, proportion in (("a", 0.5), ("b", 0.3), ("c", 0.2)):
        estimate, low, high, counted = found[letter]
        assert (estimate, counted) == pytest.approx((2 * (proportion - 1 / 6), proportion), abs=1e-5)
        half = 1.96 * 2 * math.sqrt(proportion * (1 - proportion) / 100)
        assert high - estimate == pytest.approx(half, rel=0.02)
        assert low == pytest.approx(max(estimate - half, 0), abs=0.01)
    assert "frequencies from 100 releases, by inversion; 95% intervals" in done.stderr
    narrower = table(
        run("estimate", "--input", str(source), *public, "--question", "starts", "--confidence", "0.5").stdout
    )
    assert narrower["a"][2] - narrower["a"][0] == pytest.approx(
        0.6745 / 1.96 * (found["a"][2] - found["a"][0]), rel=0.01
    )


def test_a_known_population_from_its_receipt_alone(months: Path) -> None:
    """The receipt has the name of the file of symbols, which lies beside the released one."""
    truth = {"school": 1 / 2, "training": 1 / 6, "employment": 1 / 3}
    for label, (estimate, low, high, _) in table(
        run("estimate", "--input", str(months), "--question", "frequencies").stdout
    ).items():
        assert low < truth[label] < high
        assert abs(estimate - truth[label]) < 0.03
    positions = table(run("estimate", "--input", str(months), "--question", "frequencies", "--per-place").stdout)
    assert len(positions) == 9
    assert positions["Jul school"][0] == pytest.approx(0.5, abs=0.06)
    assert positions["Jul training"][0] == pytest.approx(0.5, abs=0.06)
    assert positions["Sep employment"][0] == pytest.approx(0.5, abs=0.06)
    assert positions["Sep training"][0] < 0.03
    pairs = table(run("estimate", "--input", str(months), "--question", "dfg", "--top", "2").stdout)
    assert pairs["school school"][0] == pytest.approx(1 / 2, abs=0.05)
    asked = ("--pattern", "training employment", "--pattern", "never:school", "--pattern", "contains:school;training")
    patterns = table(run("estimate", "--input", str(months), "--question", "patterns", *asked).stdout)
    assert patterns["training employment"][0] == pytest.approx(0.5, abs=0.06)
    assert patterns["never:school"][0] == pytest.approx(0.5, abs=0.06)
    assert patterns["contains:school;training"][0] < 0.03
    lengths = table(run("estimate", "--input", str(months), "--question", "lengths").stdout)
    assert lengths["3"] == pytest.approx([1, 1 - 1.96 * 2**0.5 / 602, 1, 1], abs=1e-4)  # 600 words


def test_the_same_as_the_library_in_all_files(tmp_path: Path) -> None:
    source = tmp_path / "runs.jsonl"
    runs = [["E", "E", "S"], ["S", "S", "E"], ["E", "S", "W"]] * 40
    source.write_text("".join(json.dumps({"run": word}) + "\n" for word in runs), encoding="utf-8")
    options = ("--column", "run", "--system", "grid:3x3", "--mechanism", "online", "-e", "3")
    for suffix in ("jsonl", "parquet", "arrow"):
        target = release(source, tmp_path / f"out.{suffix}", *options)
    words = pq.read_table(tmp_path / "out.parquet")["run"].to_pylist()
    mechanism = dw.Online(dw.GridWorld(3, 3), 3.0)
    expected = dw.estimate.transitions(words, mechanism)
    outputs = [tmp_path / f"steps.{suffix}" for suffix in ("json", "csv", "parquet")]
    named = [part for path in outputs for part in ("--output", str(path))]
    for suffix in ("jsonl", "parquet", "arrow"):
        target = tmp_path / f"out.{suffix}"
        done = run("estimate", "--input", str(target), "--question", "transitions", *named)
        assert (done.returncode, done.stdout) == (0, "")
        document = json.loads(outputs[0].read_text("utf-8"))
        assert (document["question"], document["method"], document["releases"]) == ("transitions", "em", 120)
        assert (document["epsilon"], document["mechanism"], document["confidence"]) == (3.0, "Online", 0.95)
        assert document["notes"] == list(expected.notes)
        rows = {(row["from"], row["to"]): row for row in document["estimates"]}
        for (one, other), estimate in expected.items():
            row = rows[f"{one[0]},{one[1]}", f"{other[0]},{other[1]}"]
            assert [row["estimate"], row["low"], row["high"]] == pytest.approx(list(estimate), abs=1e-9)
            assert row["counted"] == pytest.approx(expected.counted[one, other])
        proportions = [row["estimate"] for row in document["estimates"]]
        assert proportions == sorted(proportions, reverse=True)
        assert pq.read_table(outputs[2]).to_pylist() == document["estimates"]
        with outputs[1].open(encoding="utf-8", newline="") as file:
            assert [float(row["estimate"]) for row in csv.DictReader(file)] == proportions


@pytest.mark.parametrize("question", ["visits", "transitions"])
@pytest.mark.parametrize("form", ["lists.jsonl", "lists.parquet", "text.csv"])
def test_answers_of_reports(tmp_path: Path, question: str, form: str) -> None:
    """At ε = 200 the only answer is the true one, of one of three positions: cells and steps have equal proportions."""
    runs = [[[0, 1], [0, 2], [1, 2]]] * 900
    source = tmp_path / f"in.{form}"
    if form.endswith("csv"):
        source.write_text("w\n" + "EES\n" * 900, encoding="utf-8")
        language: tuple[str, ...] = ("--system", "grid:3x3")
    elif form.endswith("parquet"):
        pq.write_table(pa.table({"w": pa.array(runs)}), source)
        language = GRID
    else:
        source.write_text("".join(json.dumps({"w": word}) + "\n" for word in runs), encoding="utf-8")
        language = GRID
    target = release(source, tmp_path / f"out.{form}", "--column", "w", *language, "--report", question, "-e", "200")
    found = table(run("estimate", "--input", str(target)).stdout)
    cells = ["0,0", "0,1", "0,2", "1,2"]
    true = cells[1:] if question == "visits" else [f"{one} {other}" for one, other in pairwise(cells)]
    named = {label for label, row in found.items() if row[0] > 0}
    assert named == set(true)
    for label in true:
        assert found[label][0] == pytest.approx(1 / 3, abs=0.06)
    other = "transitions" if question == "visits" else "visits"
    assert f"were asked about {question}: leave out --question" in refused(
        "estimate", "--input", str(target), "--question", other
    )


def test_answers_that_name_several_items(tmp_path: Path) -> None:
    """(named − q)/(p − q), with the p and q that the report states."""
    source = tmp_path / "log.csv"
    acts = ["pay", "ship", "cancel", "refund"]
    events = [f"{case},{time},{acts[case % 4]}" for case in range(600) for time in range(2)]
    source.write_text("\n".join(["case,t,act", *events]) + "\n", encoding="utf-8")
    (tmp_path / "acts.txt").write_text("\n".join(acts), encoding="utf-8")
    log = ("--case", "case", "--symbol", "act", "--order", "t", "--alphabet", f"@{tmp_path / 'acts.txt'}")
    target = release(source, tmp_path / "out.jsonl", *log, "--report", "symbols", "-e", "0.4")
    report = dw.Report(dw.Words(acts), 0.4, "symbols")
    assert report.size == 2
    answers = [json.loads(line)["act"] for line in target.read_text("utf-8").splitlines()]
    named = Counter(item for answer in answers for item in answer)
    found = table(run("estimate", "--input", str(target)).stdout)
    p, q = report.share_if_true, report.share_if_not
    raw = {item: (named[item] / 600 - q) / (p - q) for item in report.items}
    assert sum(raw.values()) == pytest.approx(1)
    assert {item: row[0] for item, row in found.items()} == pytest.approx(raw, abs=1e-5)
    assert found["pay"][1] < 1 / 4 < found["pay"][2]


def test_empty_words_that_leave_no_trace_in_a_log_are_counted(tmp_path: Path) -> None:
    """Cases of one event, of which the edit channel makes some empty; they are missing in the released log."""
    source = tmp_path / "log.csv"
    source.write_text("case,act\n" + "".join(f"{case},pay\n" for case in range(400)), encoding="utf-8")
    (tmp_path / "acts.txt").write_text("pay\nship\n", encoding="utf-8")
    log = ("--case", "case", "--symbol", "act", "--alphabet", f"@{tmp_path / 'acts.txt'}", "--edits", "all", "-e", "5")
    target = release(source, tmp_path / "out.csv", *log)
    with target.open(encoding="utf-8", newline="") as file:
        left = len({row["case"] for row in csv.DictReader(file)})
    assert left < 400
    done = run("estimate", "--input", str(target), "--question", "lengths")
    found = table(done.stdout)
    assert found["0"][3] == pytest.approx(1 - left / 400, abs=1e-5)
    assert found["1"][0] > 0.9
    assert "lengths from 400 releases" in done.stderr
    fixed = refused("estimate", "--input", str(target), "--question", "frequencies", "--per-place")
    assert "words of the edit channel have no fixed positions: leave out --per-place" in fixed


def test_options_replace_those_of_the_receipt_but_describe_the_same(months: Path) -> None:
    asked = ("estimate", "--input", str(months), "--question", "frequencies")
    elsewhere = months.with_name("elsewhere.txt")
    whole = run(*asked).stdout
    months.with_name("states.txt").rename(elsewhere)
    assert run(*asked).stdout == whole  # since the receipt has the symbols
    assert run(*asked, "--alphabet", f"@{elsewhere}").stdout == whole
    given = (*asked, "--alphabet", f"@{elsewhere}")
    for options, said, now in (
        (("-e", "2"), "ε was 3.0", "2.0"),
        (("-k", "2"), "k was 1", "2"),
        (("--mechanism", "online"), "the mechanism was Exponential", "Online"),
        (("--calibration", "textbook"), "--calibration was tight", "textbook"),
        (("--utility", "inverse", "--alpha", "5"), "--utility was best", "inverse"),
    ):
        assert f"says that {said}, and its recipe or what is given beside it says {now}" in refused(*given, *options)
    assert "with another alphabet, system or rules" in refused(*asked, "--alphabet", "abc")
    assert table(run(*given, "--column", "Aug").stdout)["employment"][0] == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: path.write_text(path.read_text("utf-8").split("\n")[0] + "\n", "utf-8"), "has no release"),
        (
            lambda path: path.write_text("\n".join(path.read_text("utf-8").split("\n")[:2]) + "\n", "utf-8"),
            "has 1 release",
        ),
        (
            lambda path: path.write_text(path.read_text("utf-8").replace("school", "prison", 1), "utf-8"),
            "a symbol is not in the",
        ),
        (
            lambda path: path.with_name("out.csv.receipt.json").unlink(),
            "there is no receipt out.csv.receipt.json beside",
        ),
        (
            lambda path: path.with_name("out.csv.receipt.json").write_text("{", "utf-8"),
            "the receipt of out.csv is damaged",
        ),
        (lambda path: damage(path, recipe=3), "the receipt of out.csv is damaged"),
        (lambda path: damage(path, options={}), "the receipt of out.csv has an unknown field options"),
        (lambda path: damage(path, recipe={"k": 1, "eval": "x"}), "the receipt of out.csv has an unknown field eval"),
        (lambda path: damage(path, recipe={"alphabet": "@/etc/passwd"}), "receipt of out.csv must not name a path"),
        (lambda path: damage(path, words=-1), "the receipt of out.csv is damaged: the number of its words"),
        (
            lambda path: damage(path, epsilon="much"),
            "says that ε was much, and its recipe or what is given beside it says 3.0",
        ),
        (lambda path: damage(path, epsilon=9), "says that ε was 9, and its recipe or what is given beside it says 3.0"),
        (
            lambda path: damage(path, mechanism="Online"),
            "the mechanism was Online, and its recipe or what is given beside it says Exp",
        ),
        (lambda path: damage(path, mechanism="x " * 5_000), f"was {'x ' * 20}, and its recipe"),
        (lambda path: damage(path, language="0"), "the hash in the receipt differs"),
        (lambda path: damage(path, distance="any"), "says that the distance was any, and its recipe or"),
        (lambda path: damage(path, guarantee="ε = 1"), "says that the promise was ε = 1, and its recipe or"),
    ],
    ids=[
        *("empty", "one row", "symbols", "no receipt", "cut off", "no recipe", "options", "unknown", "path", "words"),
        *("no number", "another ε", "mechanism", "long mechanism", "language", "distance", "promise"),
    ],
)
def test_bad_files(months: Path, change: Any, said: str) -> None:
    change(months)
    message = refused("estimate", "--input", str(months), "--question", "frequencies")
    assert said in message
    assert "prison" not in message


def test_receipts_of_the_first_format_are_read(months: Path) -> None:
    """They name the file of an alphabet, which is looked for here and beside the released file."""
    asked = ("estimate", "--input", str(months), "--question", "frequencies")
    whole = run(*asked).stdout
    receipt = months.with_name("out.csv.receipt.json")
    document = json.loads(receipt.read_text("utf-8"))
    recipe = document.pop("recipe")
    options = {key: value for key, value in recipe.items() if key != "recipe"} | {"alphabet": "@states.txt"}
    more = {"edits": "substitutions", "utility": "best", "alpha": 1.0, "calibration": "tight", "any_word": False}
    old = document | {"receipt": 1, "options": more | {"drop_others": False} | options}
    receipt.write_text(json.dumps(old), encoding="utf-8")
    assert run(*asked).stdout == whole
    months.with_name("states.txt").rename(months.with_name("elsewhere.txt"))
    missing = "the recipe names the file states.txt, which is not here: say where, with --alphabet @PATH"
    assert missing in refused(*asked)


def damage(path: Path, **changed: Any) -> None:
    receipt = path.with_name("out.csv.receipt.json")
    receipt.write_text(json.dumps(json.loads(receipt.read_text("utf-8")) | changed), encoding="utf-8")


def test_bad_questions(months: Path, tmp_path: Path) -> None:
    asked = ("estimate", "--input", str(months))
    assert "--question is missing: ask for one of frequencies, " in refused(*asked)
    assert "only runs of a system visit states" in refused(*asked, "--question", "visits")
    assert "give at least one --pattern" in refused(*asked, "--question", "patterns")
    assert "leave out --pattern" in refused(*asked, "--question", "dfg", "--pattern", "school")
    assert "leave out --per-place" in refused(*asked, "--question", "dfg", "--per-place")
    assert "leave out --method" in refused(*asked, "--question", "lengths", "--method", "em")
    assert "--confidence is between 0 and 1" in refused(*asked, "--question", "dfg", "--confidence", "1")
    wrong = refused(*asked, "--question", "dfg", "--output", str(tmp_path / "x.pdf"))
    assert "ends in .json, .csv, .parquet, .tex, .md, .png or .svg" in wrong
    nowhere = refused("estimate", "--input", "-", "--format", "csv", "--question", "dfg", stdin="w\nab\n")
    assert "standard input comes without a receipt" in nowhere
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["in.csv", "out.csv", "out.csv.receipt.json", "states.txt"]
    )


def test_patterns_with_a_rule_that_there_is_not(months: Path) -> None:
    asked = ("estimate", "--input", str(months), "--question", "patterns", "--pattern")
    assert "there is no rule of that name: a rule is written NAME:SYMBOL, and NAME is one of at_least" in refused(
        *asked, "befor:school;training"
    )
    assert "symbol 1 of the pattern" in refused(*asked, "prison")


def test_a_promise_in_a_receipt_that_is_another_one_is_shown_whole(months: Path) -> None:
    damage(months, guarantee="ε = 30, k = 1: two words that differ in d positions")
    said = refused("estimate", "--input", str(months), "--question", "dfg")
    assert (
        "says that the promise was ε = 30, k = 1, and its recipe or what is given beside it says ε = 3, k = 1:" in said
    )
    damage(months, guarantee="ε = 3, k = 1: nothing")
    said = refused("estimate", "--input", str(months), "--question", "dfg")
    assert "says that the promise was another one, and its recipe or what is given beside it says ε = 3, k = 1:" in said


def test_too_small_an_epsilon(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("w\n" + "ab\n" * 20, encoding="utf-8")
    target = release(source, tmp_path / "small.csv", "--column", "w", "--alphabet", "a-z", "-e", "0.01")
    assert "nothing can be estimated from 20 releases at this ε" in refused(
        "estimate", "--input", str(target), "--question", "frequencies"
    )


def test_a_terminal_gets_a_table(tmp_path: Path) -> None:
    source = tmp_path / "words.txt"
    source.write_text(
        "".join(f"{letter}\n" * (60 - position) for position, letter in enumerate(ascii_lowercase)), encoding="utf-8"
    )
    asked = ("estimate", "--input", str(source), "--alphabet", "a-z", "-e", "8", "--question")
    shown = unpainted(colourful(*asked, "frequencies"))
    assert shown.split()[:5] == ["symbol", "estimate", "low", "high", "counted"]
    assert "(6 smaller proportions are not shown: --top shows more)" in shown
    positions = unpainted(colourful(*asked, "frequencies", "--per-place", "--top", "3"))
    assert positions.split()[:4] == ["position", "a", "b", "c"]
    assert len(run(*asked, "frequencies").stdout.splitlines()) == 27


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures_are_written(months: Path, suffix: str) -> None:
    target = months.with_name(f"picture.{suffix}")
    done = run("estimate", "--input", str(months), "--question", "frequencies", "--per-place", "--output", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    content = target.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")


def test_lengths_that_are_public_come_without_warnings(tmp_path: Path) -> None:
    source = tmp_path / "words.txt"
    source.write_text("aab\n" * 30 + "abab\n" * 10, encoding="utf-8")
    done = run("estimate", "--input", str(source), "--question", "lengths", "--alphabet", "ab", "--epsilon", "3")
    assert table(done.stdout).keys() == {"3", "4"}
    assert "note" not in done.stderr


def test_messages_name_options_of_the_command_line(tmp_path: Path) -> None:
    source = tmp_path / "words.csv"
    source.write_text("who,word\n" + "1,ES\n2,SE\n" * 20, encoding="utf-8")
    asked = ("estimate", "--input", str(source), "--question", "frequencies", "--epsilon", "6")
    missing = refused(*asked, "--alphabet", "ES")
    assert "say where the words are, with --column, --columns, or --case and --symbol" in missing
    for question in ("lengths", "dfg"):
        onto = (*asked, "--column", "word", "--system", "grid:3x3", "--edits", "all", "--question", question)
        said = refused(*onto)
        assert "cannot be estimated from releases that were projected onto a language" in said
        assert "over an --alphabet alone, without --system, --lexicon or --rule, or leave out --edits all" in said


def test_advice_for_releases_is_not_given_when_they_are_read(tmp_path: Path) -> None:
    """At ε = 3 the edit channel keeps less than half of the symbols of a large alphabet."""
    source = tmp_path / "words.txt"
    source.write_text("aab\n" * 300 + "abab\n" * 100, encoding="utf-8")
    asked = ("--question", "lengths", "--alphabet", "a-z", "--edits", "all", "--epsilon", "3")
    with pytest.warns(UserWarning, match="of each word only"):
        dw.EditChannel(ascii_lowercase, 3.0)
    done = run("estimate", "--input", str(source), *asked)
    assert done.returncode == 0
    assert "of each word only" not in done.stderr
