"""No benchmark rots: each runs at a tiny size, and gives the numbers of the notes."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dpwords.core.symbols import levenshtein

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_accuracy(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_accuracy.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    tables = json.loads(file.read_text("utf-8"))
    (states,) = (rows for title, rows in tables.items() if title.startswith("3×3 grid from a corner, words of states"))
    expected = {
        2: {"textbook": 1.5532, "permute-and-flip": 1.4856, "online": 0.93803, "optimum": 0.6611},
        4: {"textbook": 0.6637, "permute-and-flip": 0.4954, "online": 0.16275, "optimum": 0.0941},
    }
    for row in states:
        assert {name: row[name] for name in expected[row["ε"]]} == pytest.approx(expected[row["ε"]], abs=6e-5)
        assert row["optimum"] - 1e-4 < row["ours"] < 1.001 * row["optimum"]
    by_steps = {row["ε"]: row for row in tables["k = 2, 3×3 grid from a corner, words of states"]}
    for epsilon, linear, optimum in ((2, 1.5674, 1.4864), (4, 0.6611, 0.4480), (6, 0.2527, 0.0751)):  # k = 1 at ε/2
        assert by_steps[epsilon]["linear"] == pytest.approx(linear, abs=2e-4)
        assert by_steps[epsilon]["optimum"] == pytest.approx(optimum, abs=6e-5)
        assert by_steps[epsilon]["ours"] < 1.02 * optimum


def test_cliffs(tmp_path: Path) -> None:
    """The words of the lexicon have 4, 4, 5 and 3 letters to choose from: each is drawn by randomised response."""
    file = tmp_path / "found.json"
    command = [
        sys.executable,
        str(BENCHMARKS / "bench_cliffs.py"),
        "--quick",
        "--only",
        "lexicon",
        "--output",
        str(file),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (rows,) = json.loads(file.read_text("utf-8")).values()
    assert [row["epsilon"] for row in rows] == [2, 5, 8]
    for row in rows:
        others = [(choices - 1) * math.exp(-row["epsilon"]) for choices in (4, 4, 5, 3)]
        assert row["best"] == pytest.approx(sum(each / (1 + each) for each in others), rel=1e-3)  # c is rounded


def test_edits(tmp_path: Path) -> None:
    """The exponential mechanism by hand over the 15 words; alignments of more than one kind for one word leave it."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_edits.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    (rows,) = json.loads(file.read_text("utf-8")).values()
    words = ["".join(word) for n in range(4) for word in itertools.product("ab", repeat=n)]
    for row in rows:
        weights = [[math.exp(-row["ε"] / 2 * levenshtein(x, w)) for w in words] for x in words]
        means = [
            sum(p * levenshtein(x, w) for p, w in zip(ps, words, strict=True)) / sum(ps)
            for x, ps in zip(words, weights, strict=True)
        ]
        assert row["textbook"] == pytest.approx(sum(means) / len(means), rel=1e-9)
        assert row["tight"] < row["textbook"]
        assert row["channel"] > 0
        assert row["alignments: total variation"] > 0.1


def test_rivals(tmp_path: Path) -> None:
    """Numbers of the notes and closed forms, on a 3×3 grid; no method that is measured breaks the common promise."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_rivals.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    states, moves, free, people, audits = json.loads(file.read_text("utf-8")).values()
    wrong = {(row["method"], row["ε"]): row for row in states}
    for epsilon, flipped, online, optimum in ((2, 1.4856, 0.9435, 0.6611), (4, 0.4954, 0.1643, 0.0941)):
        assert wrong["permute-and-flip at ε/2", epsilon]["wrong"] == pytest.approx(flipped, abs=6e-5)
        assert wrong["online, UAI 2023", epsilon]["wrong"] == pytest.approx(online, abs=6e-5)
        assert wrong["k-RR (no run)", epsilon]["wrong"] == pytest.approx(4 * 8 / (math.exp(epsilon) + 8))
        assert optimum - 1e-4 < wrong["dpwords: Exponential", epsilon]["wrong"] < 1.001 * optimum
        drawn = wrong["k-RR, nearest run", epsilon]
        assert abs(drawn["wrong"] - _wrong_after_nearest(epsilon)) < 4 * drawn["error"]
    by_moves = {(row["method"], row["ε"]): row["wrong"] for row in moves}
    for epsilon, online, optimum in ((2, 0.954, 0.662), (4, 0.170, 0.0846)):
        assert by_moves["online, UAI 2023", epsilon] == pytest.approx(online, abs=6e-4)
        assert optimum - 6e-4 < by_moves["dpwords: Exponential", epsilon] < 1.001 * optimum
    assert [row["optimum"] for row in free] == pytest.approx([24 / (math.exp(row["ε"]) + 3) for row in free])
    assert [row["dpwords"] for row in free] == pytest.approx([row["optimum"] for row in free])
    visits = {(row["method"], row["total ε"]): row["visits"] for row in people}
    for total in (4, 10):
        assert visits["one random position, subset selection", total] < visits["LDPTrace", total] / 2
    measured = {row["audited"]: row["measured"] for row in audits}
    assert measured.pop("k-RR of the same artifact, one of 6 sectors") == pytest.approx(math.log(6 * (math.e + 4)))
    assert measured.pop("n-gram baseline of an artifact, one of 9 cells") == "infinite"
    assert measured.pop("weights without counts, 4 of 4 letters") == pytest.approx(1 / 2 + math.log(12))
    for exact in ("k-RR, one of 9 cells", "unary encoding, one of 9 values", "subset selection, one of 20 values"):
        assert measured[exact] == pytest.approx(2)
    assert len(measured) == 10
    assert all(0 < epsilon < 2 * (1 + 1e-9) for epsilon in measured.values())


def _wrong_after_nearest(epsilon: float) -> float:
    """3×3 grid, 4 steps: the mean over all runs, all words that may come out, and all runs nearest to them."""
    cells = list(itertools.product(range(3), repeat=2))
    steps = {a: [b for b in cells if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1] for a in cells}
    runs = [((0, 0),)]
    for _ in range(4):
        runs = [(*run, cell) for run in runs for cell in steps[run[-1]]]
    codes = np.array([[3 * row + column for row, column in run[1:]] for run in runs])
    apart = (codes[:, None] != codes).sum(axis=2)
    total = 0.0
    for word in itertools.product(range(9), repeat=4):
        away = (codes != np.array(word)).sum(axis=1)
        nearest = away == away.min()
        total += float(np.exp(epsilon * (4 - away)) @ apart[:, nearest].mean(axis=1))
    return total / (math.exp(epsilon) + 8) ** 4 / len(runs)


def test_estimates(tmp_path: Path) -> None:
    """Estimates are nearer than counts where these are biased, and a pass agrees with plain NumPy."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_estimates.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    found = json.loads(file.read_text("utf-8"))
    rows = {(row["data"], row["mechanism"], row["ε"], row["people"], row["question"]): row for row in found["errors"]}
    assert len(rows) == len(found["errors"])
    months = rows["6 states, 24 months", "Exponential", 1, 200, "dfg"]
    assert months["estimated"] < months["counted"] / 4
    grid = rows["3×3 grid", "Exponential", 3, 200, "transitions"]
    assert grid["estimated"] < grid["counted"]
    # The error that intervals tell is about the one that is there, before it is projected; few people tell little of a
    # model, and its errors are never said to be less than what the noise alone makes of as many words.
    for row in (months, grid):
        assert 0.5 < row["told"] / row["from the population"] < 3
    for row in found["whole runs"]:
        assert row["released"] < row["no data"]
    for row in found["decoding"]:
        assert row["uniform prior"] > 0.97 * row["released"]
    assert found["speed"]["difference"] < 1e-9
    assert found["many symbols"]["difference"] < 1e-9


def test_averages(tmp_path: Path) -> None:
    """A batch gives what single words give."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_averages.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    rows = json.loads(file.read_text("utf-8"))
    assert len(rows) == 8
    assert all(row["difference"] < 1e-12 and row["batched"] > 0 for row in rows)


def test_speed(tmp_path: Path) -> None:
    """Each part runs, finds both sides to draw from the same distribution, and gives numbers above 0."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_speed.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    rows = json.loads(file.read_text("utf-8"))
    assert {row["beside"] for row in rows} >= {
        "OpenFst",
        "OpenDP",
        "diffprivlib",
        "8 cipher bytes a symbol",
        "import numpy",
        "the same as arrays",
    }
    assert all(math.isfinite(row["ratio"]) for row in rows)
    assert all(row["ours"] > 0 and row["rival"] > 0 for row in rows if "slope" not in row["what"])


def test_certificates(tmp_path: Path) -> None:
    """One proof covers what the others cover one by one, at nearly the same bound."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_certificates.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    by_length, by_size = json.loads(file.read_text("utf-8")).values()
    for row in by_length:
        assert row["bound, one length"] <= row["bound, all lengths"] + 1e-8 < row["ε"]
        assert row["seconds, one length"] > 0
    assert [row["states"] for row in by_size] == [9, 16]


def test_files(tmp_path: Path) -> None:
    """A release takes longer than a copy, and every part of it is timed."""
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_files.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    rows = json.loads(file.read_text("utf-8"))
    assert [row["what"] for row in rows] == [
        "copied by pyarrow",
        "arrays, fresh draws",
        "arrays, keyed",
        "file to file",
        "file to file, with ids",
    ]
    assert all(row["rows/s"] > 0 and row["ratio"] > 0 for row in rows)
    assert all(row["MiB"] > 0 and row["CPU"] > 0 for row in rows[-2:])


@pytest.mark.skipif(
    not (shutil.which("java") or os.environ.get("JAVA_HOME") or os.environ.get("CI")),
    reason="Spark needs a Java runtime, version 17 or later: install for example openjdk-17-jre-headless",
)
def test_spark(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_spark.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    rows = json.loads(file.read_text("utf-8"))
    assert [row["rows"] for row in rows] == [1000, 1000]
    assert all(row["ratio"] == pytest.approx(row["release"] / row["plain"]) and row["check"] > 0 for row in rows)


def test_side_channels(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_side_channels.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    (row,) = json.loads(file.read_text("utf-8"))
    assert row["name"] == "free words"
    assert row["memory"] == pytest.approx(1, abs=0.2)
    assert all(row[name] > 0 for name in ("other word", "unchanged", "chance"))


def test_coverage(tmp_path: Path) -> None:
    """Intervals cover, and are answered or refused as the tables of the documentation say."""
    file, tables = tmp_path / "found.json", tmp_path / "tables.md"
    command = [sys.executable, str(BENCHMARKS / "bench_coverage.py"), "--quick", "--output", str(file)]
    subprocess.run([*command, "--markdown", str(tables)], check=True, capture_output=True)
    rows = json.loads(file.read_text("utf-8"))
    assert len({(row["population"], row["mechanism"], row["question"]) for row in rows}) == len(rows) == 41
    told = [row for row in rows if row["cover"] is not None]
    labels = sum(row["labels"] for row in told)
    assert 0.92 < sum(row["cover"] * row["labels"] for row in told) / labels < 0.995
    assert all(row["L1"] < row["counted"] for row in told if row["question"] in ("frequencies", "transitions"))
    refused = [(row["population"], row["question"]) for row in rows if row["refused"] == row["repetitions"]]
    assert refused == [("chain", "variants")]  # on free words; nobody's whole run is frequent
    assert "| variants | words, k = 1 | transitions |" in tables.read_text("utf-8")


def test_truths_of_coverage_are_those_of_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is computed for chains and variants is what 100,000 words show, to within five standard errors."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    populations, truths = (importlib.import_module(f"coverage_{name}") for name in ("populations", "truths"))
    computed = 0
    for name in ("chain", "by place", "letters", "stayers", "variants", "week", "lengths"):
        people = populations.population(name, free=True)
        for question in truths.QUESTIONS[:-1]:
            found = people.truth(question)
            seen, errors = truths.sampled(people, people.sample, question)
            for label, value in found.values.items():
                assert abs(value - seen.get(label, 0.0)) < 5 * errors.get(label, 0.0) / truths.SAMPLE**0.5 + 1e-4
            computed += len(found.values)
    assert computed > 1000
