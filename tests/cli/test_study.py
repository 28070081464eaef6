"""dpwords study: what is printed and written, in a pipe and in a real terminal."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from commands import COMMAND, in_terminal, refused, run

WORD = "american control conference 2019"


@pytest.fixture(scope="module")
def printed() -> str:
    done = run("study", "strings", "--seed", "1")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_strings_prints_numbers_beside_the_papers(printed: str) -> None:
    assert re.search(r"^states of the automaton +561 +561$", printed, re.MULTILINE)
    assert re.search(r"^edges of the automaton +1056 +1056$", printed, re.MULTILINE)
    assert re.search(r"^seconds to build it +6\.6 +[\d.e-]+$", printed, re.MULTILINE)
    assert re.search(r"^claimed ε = 10 +5\.4 +3\.041 +0\.05222 +29\.98 +0\.02178$", printed, re.MULTILINE)
    assert re.search(r"^claimed ε = 1 +6\.674 +87\.95$", printed, re.MULTILINE)
    assert "nothing printed here is private" in printed
    assert "Never read an alphabet" in printed


def test_without_colours_a_caret_stands_below_each_changed_letter(printed: str) -> None:
    lines = printed.splitlines()
    checked = 0
    for line, carets in itertools.pairwise(lines):
        if re.match(r".{32} [ \d]{3}( |$)", line) and "^" in carets:
            changed = carets.ljust(32)[:32]
            assert [mark == "^" for mark in changed] == [a != b for a, b in zip(line, WORD, strict=False)]
            assert int(line[33:36]) == changed.count("^")
            checked += 1
    assert checked >= 15


def test_output_is_written_whole(tmp_path: Path) -> None:
    done = run("study", "grid", "--seed", "1", "--output", str(tmp_path / "new"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Written: grid.json, runs_moves.svg, runs_moves.png, runs_states.svg, runs_states.png" in done.stdout
    assert len(list((tmp_path / "new").iterdir())) == 5
    found = json.loads((tmp_path / "new" / "grid.json").read_text("utf-8"))
    assert (found["study"], found["path"], found["k"], found["seed"]) == ("grid", "SSSSEEESSSSSSENNN", 1, "1")
    assert {"size or time": "states of the product", "paper": 6194, "here": 6194} in found["tables"][0]
    moves, states = (block["columns"] for block in found["blocks"])
    assert [len(column["samples"]) for column in (*moves, *states)] == [5] * 8
    assert moves[2]["true_epsilon"] == {"bound": "≤", "epsilon": 5.0}
    assert states[0]["samples"][0]["word"][0] in ([1, 1], [1, 3], [0, 2], [2, 2])


def test_a_terminal_shows_colours_and_progress_and_is_not_overrun() -> None:
    wide = in_terminal(140, "study", "strings", "--seed", "1")
    assert re.search(r"\x1b\[1;4;\d+m", wide)  # bold, underlined, in a colour
    assert "drawing words" in wide
    heads = r"literal formula +textbook, paper's utility +tight, linear"
    assert re.search(heads, re.sub(r"\x1b\[[0-9;]*m", "", wide))
    narrow = re.sub(r"\x1b\[[0-9;]*m", "", in_terminal(80, "study", "strings", "--seed", "1"))
    assert not re.search(heads, narrow)
    printed = narrow[narrow.index("Case study 1") :]
    assert max(map(len, printed.splitlines())) <= 80
    plain = in_terminal(140, "study", "strings", "--seed", "1", NO_COLOR="1")
    assert "\x1b[1;4" not in plain
    assert "^^^" in plain


def test_what_cannot_be_printed_is_not_written_either(tmp_path: Path) -> None:
    command = f"{shlex.join(COMMAND)} study strings --output {shlex.quote(str(tmp_path / 'new'))} > /dev/full"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert list((tmp_path / "new").iterdir()) == []


def test_bad_use(tmp_path: Path) -> None:
    assert "use one of strings, grid" in refused("study", "secret")
    assert "k is at most" in refused("study", "strings", "-k", "33")
    assert "k must be a whole number" in refused("study", "grid", "-k", "0")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "cannot be written" in refused("study", "strings", "--output", str(tmp_path / "file"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
