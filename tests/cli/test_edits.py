"""--edits all on the command line."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import dpwords as dw
from commands import refused, run


def test_words_may_change_their_length() -> None:
    done = run("release", "--alphabet", "ab", "-e", "2", "--edits", "all", stdin="abba\n" * 200)
    lengths = {len(line) for line in done.stdout.split("\n")[:-1]}
    assert done.returncode == 0
    assert len(done.stdout.split("\n")) == 201
    assert len(lengths) > 3
    assert done.stderr == ""


def test_the_empty_word_goes_in() -> None:
    assert run("release", "", "acgt", "--alphabet", "acgt", "-e", "100", "--edits", "all").stdout == "\nacgt\n"
    assert "empty word" in refused("release", "", "--alphabet", "acgt", "-e", "100")


def test_runs_come_out_as_runs() -> None:
    done = run("release", "--system", "grid:4x4", "-e", "2.5", "--edits", "all", stdin="EESS\n" * 30)
    grid = dw.GridWorld(4, 4)
    assert all(grid.accepts(line) for line in done.stdout.split("\n")[:-1])
    cells = run("release", "0,1 0,2 1,2", "--system", "grid:4x4", "--words", "states", "-e", "90", "--edits", "all")
    assert cells.stdout == "0,1 0,2 1,2\n"


def test_little_that_survives_is_noted() -> None:
    done = run("release", "abc", "--alphabet", "a-z", "-e", "3", "--edits", "all")
    assert done.returncode == 0
    assert done.stderr.startswith("dpwords: note: of each word ")
    assert done.stderr.count("\n") == 1


def means(row: str) -> list[str]:
    """The expected distances in a row of the table, each followed by a probability in parentheses."""
    return re.findall(r"([^\s≈]+) \(", row)


def test_accuracy_tells_the_edits() -> None:
    """20·(1 − κ) + 21·insertions, with numbers worked out by a search of its own: 0.0174456 for each symbol."""
    done = run("accuracy", "--alphabet", "a-z", "--length", "20", "-e", "8", "--edits", "all", "--target-distance", "1")
    lines = done.stdout.splitlines()
    found = float(lines[2].split()[-2])
    assert 20 * 0.0174456 < found < 21 * 0.0174456
    assert 6.5 < float(lines[-1]) < 7.5
    onto = run("accuracy", "--system", "grid:4x4", "--length", "6", "-e", "2,6", "--edits", "all").stdout.splitlines()
    made, projected = (list(map(float, column)) for column in zip(*map(means, onto[2:4]), strict=True))
    assert made[0] > made[1]
    assert all(math.isfinite(p) and p <= 2 * m + 0.5 for m, p in zip(made, projected, strict=True))


def test_audit_measures_the_claim() -> None:
    done = run("audit", "--alphabet", "ab", "--length", "3", "-e", "2", "--edits", "all")
    assert done.returncode == 0
    assert "15 of length 3 or less" in done.stdout
    many = run("audit", "--alphabet", "a-z", "--length", "1", "-e", "8", "--edits", "all")
    assert "measured ε  8\n" in many.stdout
    assert "measured ε  2\n" in done.stdout
    before_projection = run("audit", "--system", "grid:2x2", "--length", "1", "-e", "4", "--edits", "all")
    assert "5 of length 1 or less" in before_projection.stdout
    assert before_projection.returncode == 0
    assert "not broken by outputs of up to 3 symbols; others, with probability up to 0.0" in before_projection.stdout
    assert "holds" not in before_projection.stdout


def test_bad_use() -> None:
    word = ("release", "ab", "--alphabet", "ab")
    assert "say --edits all" in refused(*word, "-e", "2", "--mechanism", "channel")
    assert "leave out --utility" in refused(*word, "-e", "2", "--edits", "all", "--utility", "linear")
    assert "leave out --edits all" in refused(*word, "-e", "2", "--edits", "all", "--mechanism", "online")
    assert "use the edit channel (--mechanism channel)" in refused(
        *word, "-e", "2", "--edits", "all", "--mechanism", "exponential"
    )
    assert "at least 0.7" in refused(*word, "-e", "0.6", "--edits", "all")
    assert "use a longer length" in refused("audit", "--alphabet", "ab", "--length", "0", "-e", "2", "--edits", "all")
    assert (
        run("accuracy", "--alphabet", "ab", "--length", "5", "-e", "9000", "-k", "2000", "--edits", "all").returncode
        == 0
    )
    assert "at least 0.7" in refused("accuracy", "--alphabet", "ab", "--length", "4", "-e", "0.6,2", "--edits", "all")
    assert "a mechanism of its own" in refused(
        "audit", "--alphabet", "ab", "--length", "2", "-e", "2", "--edits", "all", "--literal"
    )


def test_words_of_a_list(tmp_path: Path) -> None:
    cities = ["basel", "berlin", "bern", "bonn", "milan", "paris", "rome"]
    file = tmp_path / "cities.txt"
    file.write_text("\n".join(cities) + "\n", encoding="utf-8")
    given = ("--lexicon", str(file), "-e")
    for more in (("--edits", "all"), ("--edits", "all", "--mechanism", "channel"), ()):
        out = run("release", *given, "1", *more, stdin="bern\n" * 60)
        assert set(out.stdout.split()) <= set(cities)
        assert len(set(out.stdout.split())) > 1
        assert run("release", "bern", *given, "90", *more).stdout == "bern\n"
    assert {len(line) for line in run("release", *given, "1", stdin="bern\n" * 60).stdout.split()} == {4}
    table = run("accuracy", *given, "2,4", "--length", "5", "--edits", "all").stdout.splitlines()
    assert re.split("  +", table[1])[-4:] == [
        "tight (default)", "linear, textbook", "channel, edits made", "channel onto the language"
    ]  # fmt: skip
    first, textbook, *_ = map(float, means(table[2]))
    assert first < textbook
    audit = run("audit", *given, "2", "--length", "6", "--edits", "all")
    assert audit.returncode == 0
    assert "7 of length 6 or less" in audit.stdout
    assert "not in the language" in refused("release", "zurich", *given, "1")
    assert "3 are given" in refused("release", "a", *given, "1", "--alphabet", "a", "--system", "grid:2x2")
    file.write_text("basel\n\nbern\n", encoding="utf-8")
    assert "line 2 of cities.txt is empty" in refused("release", "bern", *given, "1")


def test_the_certificate_of_a_large_list_is_made_where_it_can_be_kept(tmp_path: Path) -> None:
    """2,001 words are more than are certified without being asked for."""
    file, kept = tmp_path / "list.txt", tmp_path / "kept.json"
    file.write_text("\n".join(f"{number:04d}" for number in range(2001)) + "\n", encoding="utf-8")
    for more in (("--edits", "all"), ()):
        given = ("--lexicon", str(file), "-e", "60", *more)
        assert run("release", "0042", *given).stdout == "0042\n"
        for _ in range(2):  # made, then loaded
            assert run("release", "0042", *given, "--certificates", str(kept)).stdout == "0042\n"
        (found,) = json.loads(kept.read_text("utf-8"))["certificates"]
        assert found["method"] == "listed"
        kept.unlink()
    table = run("accuracy", "--lexicon", str(file), "--length", "4", "-e", "8").stdout.splitlines()
    assert "textbook (default)" in table[1]
