"""Grid worlds from maps."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpwords as dw


def test_maps() -> None:
    world = dw.from_map("#S.\n.#G\n..G\n")
    assert (world.rows, world.columns) == (3, 3)
    assert world.start == (0, 1)
    assert world.walls == {(0, 0), (1, 1)}
    assert world.accepting == {(1, 2), (2, 2)}
    assert world.accepts("ES")
    assert world.accepts("ESS")
    assert not world.accepts("E")
    assert not world.accepts("ESW")
    assert dw.from_map("S G", stay=True).accepts("E.E.")


def test_maps_without_marks() -> None:
    anywhere = dw.from_map("..\n..")
    assert anywhere.start is None
    assert anywhere.accepting is None
    assert anywhere.by_states().count(2) == 8
    assert dw.from_map("S..").count(2) == 2


def test_empty_lines_around_the_map_are_left_out(tmp_path: Path) -> None:
    assert dw.from_map("\n\nS.\n..\n\n").to_json() == dw.GridWorld(2, 2).to_json()
    file = tmp_path / "map.txt"
    file.write_bytes(b"S.\r\n..\r\n")
    assert dw.from_map(file).to_json() == dw.GridWorld(2, 2).to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S.\nS.", "the map has 2 starts"),
        ("\n..\n...", "line 3 of the map has 3 cells, and the first 2: fill up with #"),
        ("..\n\n..", "line 2 of the map has 0 cells"),
        ("..\n.x", r"line 2 of the map, column 2, is none of # S G \. and the space"),
        ("\t.", "line 1 of the map, column 1"),
        ("map.txt", r"to read it from a file, pass from_map\(Path\('map.txt'\)\)"),
        ("##", "must start in a free cell"),
        ("", "a map must be a text with cells"),
        ("\n\n", "a map must be a text with cells"),
        ("\x1c\x85\u2028", "a map must be a text with cells"),  # which end lines, too
        (None, "a map must be a text"),
    ],
)
def test_bad_maps_are_refused(text: str, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.from_map(text)


def test_large_maps_are_refused() -> None:
    assert len(dw.from_map("." * 1000).states) == 1000
    with pytest.raises(dw.TooLarge, match="at most 1000000 cells"):
        dw.from_map("." * 1_000_001)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "map.txt").write_text("S?", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"map\.txt: line 1 of the map, column 2"):
        dw.from_map(tmp_path / "map.txt")
    (tmp_path / "map.txt").write_text("##", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"map\.txt: a run must start in a free cell"):
        dw.from_map(tmp_path / "map.txt")
    with pytest.raises(dw.InvalidValue, match=r"^gone\.txt cannot be read"):
        dw.from_map(tmp_path / "gone.txt")
