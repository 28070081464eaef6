"""How numbers are written in sentences, and what they count."""

from __future__ import annotations

from pathlib import Path

from cli.test_estimate import release
from commands import run


def test_large_numbers_and_high_confidences_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("w\n" + "ab\n" * 1200, encoding="utf-8")
    target = release(tmp_path / "in.csv", tmp_path / "out.csv", "--column", "w", "--alphabet", "a-z", "-e", "1.2")
    sure = ("--confidence", "0.999999999")
    done = run("estimate", "--input", str(target), "--question", "frequencies", *sure)
    assert "; 99.9999999% intervals" in done.stderr
    assert "the estimates are rough: 1,200 releases are few" in done.stderr


def test_what_is_left_out_is_not_counted_as_released(tmp_path: Path) -> None:
    rows = "".join(f"{number // 2},ab\n" for number in range(2200)) + "x,zz\n"
    (tmp_path / "in.csv").write_text("who,w\n" + rows, encoding="utf-8")
    given = ("release", "--input", str(tmp_path / "in.csv"), "--output", str(tmp_path / "out.csv"), "--column", "w")
    once = ("--by", "who", "--budget", "2", "--split", "first", "--invalid", "skip", "--alphabet", "ab", "-e", "2")
    said = run(*given, *once).stderr
    assert "2,201 rows, of which 1 is not in the language" in said
    assert "1,100 people have 2,200 words, typically 2 and at most 2; each person's first word spends" in said
    assert ", 1,100 words are left out" in said
    assert "dpwords: 1,100 rows in " in said
