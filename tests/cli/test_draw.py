"""dpwords draw: what is drawn, where it goes, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpwords as dw
from commands import refused, run
from dpwords import plots

NEAR = dw.LevenshteinAutomaton("abc", 2, "abc")
SUBSTITUTED = dw.LevenshteinAutomaton("abc", 2, "abc", edits="substitutions")
GRID = dw.GridWorld(2, 3)
EES = dw.LevenshteinAutomaton("EES", 3, GRID.alphabet.symbols, edits="substitutions")


@pytest.mark.parametrize(
    ("arguments", "drawn"),
    [
        (["abc", "--alphabet", "abc", "-k", "2"], NEAR),
        (["abc", "--alphabet", "abc", "-k", "2", "--of-length"], NEAR.of_length()),
        (["abc", "--alphabet", "abc", "-k", "2", "--edits", "substitutions", "--of-length"], SUBSTITUTED),
        (["abc", "--alphabet", "abc", "--edits", "substitutions", "--exactly", "2"], SUBSTITUTED.exactly(2)),
        (["abc", "--alphabet", "abc"], dw.LevenshteinAutomaton("abc", 1, "abc")),
        (["--system", "grid:2x3"], GRID),
        (["EES", "--system", "grid:2x3", "-k", "3"], EES.product(GRID)),
        (["EES", "--system", "grid:2x3", "-k", "3", "--exactly", "2"], EES.product(GRID).exactly(2)),
    ],
)
def test_dot_on_standard_output(arguments: list[str], drawn: dw.LevenshteinAutomaton) -> None:
    done = run("draw", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == plots.dot(drawn)


def test_files_in_each_format(tmp_path: Path) -> None:
    begins = {"svg": b"<?xml", "png": b"\x89PNG", "dot": b"digraph"}
    for form, begin in begins.items():
        done = run("draw", "abc", "--alphabet", "abc", "-k", "2", "--output", str(tmp_path / f"a.{form}"))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert (tmp_path / f"a.{form}").read_bytes().startswith(begin)
    runs = tmp_path / "runs.svg"
    assert run("draw", "EES", "SEE", "--runs", "--system", "grid:2x3", "-o", str(runs)).returncode == 0
    assert runs.read_bytes().startswith(b"<?xml")


def test_released_runs(tmp_path: Path) -> None:
    picture = tmp_path / "runs.svg"
    done = run("draw", "EES", "SE", "--runs", "--released", "--system", "grid:2x3", "-o", str(picture))
    assert (done.returncode, done.stderr) == (0, "")
    assert picture.read_bytes() == plots.encode(plots.runs(GRID, {"": ["EES", "SE"]}, compared=False), "svg")


def test_maps_and_runs_on_them(tmp_path: Path) -> None:
    roads = tmp_path / "roads.json"
    roads.write_text(
        '{"start": "home", "transitions": {"home": {"mall": "mall"}, "mall": {"park": "park", "home": "home"}, '
        '"park": {"mall": "mall"}}, "positions": {"home": [0, 0], "mall": [2, 1], "park": [3, 3]}}',
        encoding="utf-8",
    )
    assert run("draw", "--system", str(roads), "-o", str(tmp_path / "map.svg")).returncode == 0
    words = ["mall park", "mall home"]
    assert run("draw", *words, "--runs", "--system", str(roads), "-o", str(tmp_path / "runs.svg")).returncode == 0
    for name in ("map.svg", "runs.svg"):
        assert b'id="road' in (tmp_path / name).read_bytes()


def test_the_papers_figures(tmp_path: Path) -> None:
    assert run("draw", "--paper", "--output", str(tmp_path / "new")).returncode == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    names = [
        "exactly_2",
        "length_3",
        "length_3_substitutions",
        "levenshtein",
        "product",
        "product_exactly_2",
        "system",
    ]
    assert written == sorted(f"{name}.{form}" for name in names for form in ("svg", "png", "dot"))
    found = (tmp_path / "new" / "levenshtein.dot").read_text("utf-8")
    assert found == plots.dot(NEAR, "All words within 2 edits of abc")


def test_bad_use(tmp_path: Path) -> None:
    where = str(tmp_path / "a.svg")
    assert "ends in .svg" in refused("draw", "ab", "--alphabet", "ab", "-o", str(tmp_path / "a.gif"))
    assert "one WORD" in refused("draw", "ab", "ba", "--alphabet", "ab", "-o", where)
    assert "one WORD" in refused("draw", "--alphabet", "ab", "-o", where)
    assert "not in the alphabet" in refused("draw", "abq", "--alphabet", "ab", "-o", where)
    assert "from 0 to 1" in refused("draw", "ab", "--alphabet", "ab", "-k", "1", "--exactly", "2")
    assert "leave out --edits all" in refused("draw", "EE", "--system", "grid:3x3", "--edits", "all")
    assert "runs need words" in refused("draw", "--runs", "--system", "grid:3x3", "-o", where)
    assert "runs need words" in refused("draw", "ab", "--runs", "--alphabet", "ab", "-o", where)
    assert "the same length" in refused("draw", "EE", "E", "--runs", "--system", "grid:3x3", "-o", where)
    assert "--paper needs a directory" in refused("draw", "--paper")
    assert "without a suffix" in refused("draw", "--paper", "-o", where)
    assert "leave out WORD" in refused("draw", "secret", "--paper", "-o", str(tmp_path / "new"))
    assert "leave out -k, --exactly" in refused("draw", "--system", "grid:3x3", "--exactly", "2", "-k", "5")
    assert "leave out --of-length" in refused(
        "draw", "EE", "--runs", "--of-length", "--system", "grid:3x3", "-o", where
    )
    assert "not in the language (symbol 3 of 4" in refused("draw", "EEEE", "--system", "grid:3x3", "-o", where)
    assert "nothing to draw" in refused("draw", "EE", "--system", "grid:1x3", "--exactly", "2", "-o", where)
    assert "only --runs draws released runs" in refused("draw", "--released", "--system", "grid:3x3")
    assert "DOT is for" in refused("draw", "EE", "--runs", "--system", "grid:3x3", "-o", str(tmp_path / "a.dot"))
    assert "at most 100 rows and columns" in refused("draw", "--system", "grid:101x2", "-o", where)
    assert "at most 400 states and arrows" in refused(
        "draw", "--system", "grid:9x9", "--rule", "contains:4,4", "-o", where
    )
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "cannot be written" in refused("draw", "ab", "--alphabet", "ab", "-o", str(tmp_path / "file" / "a.svg"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
