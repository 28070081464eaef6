from __future__ import annotations

import string
from pathlib import Path

import networkx
import pytest

import dpwords as dw
from dpwords.languages.language import Language
from dpwords.recipes import notation
from dpwords.recipes.notation import Notation


def language(*values: str | None) -> Language:
    names = ("alphabet", "system", "words", "start", "lexicon", "action")
    return dw.Recipe(**dict(zip(names, values, strict=False))).language()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("abc", "abc"),
        ("a-e", "abcde"),
        ("a-c0-2 ", "abc012 "),
        ("-a", "-a"),
        ("a-", "a-"),
        ("a-c-", "abc-"),
        (r"a\-c", "a-c"),
        (r"\@x", "@x"),
        (r"\\", "\\"),
        ("α-γ", "αβγ"),
        ("name:dna", "ACGT"),
        ("name:lower", string.ascii_lowercase),
    ],
)
def test_alphabets(text: str, symbols: str) -> None:
    assert "".join(notation.alphabet_symbols(text)) == symbols


def test_alphabet_files(tmp_path: Path) -> None:
    file = tmp_path / "acts.txt"
    file.write_text("register\ndecide\npay\n", encoding="utf-8")
    assert language(f"@{file}").alphabet.symbols == ("register", "decide", "pay")
    file.write_text("register\n\npay\n", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"line 2 of acts\.txt is empty"):
        language(f"@{file}")
    with pytest.raises(dw.InvalidValue, match=r"nowhere\.txt cannot be read \(No such file or directory\)"):
        language(f"@{tmp_path / 'nowhere.txt'}")


@pytest.mark.parametrize(
    ("text", "message"),
    [("z-a", "runs backwards"), ("ab\\", "single backslash"), ("name:klingon", "no alphabet of that name")],
)
def test_bad_alphabets(text: str, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        notation.alphabet_symbols(text)
    with pytest.raises(dw.InvalidValue, match="at least one symbol"):
        language("", None)


def test_grids() -> None:
    assert language(None, "grid:2x3").count(2) == dw.GridWorld(2, 3).count(2)
    assert language(None, "grid:3x3@1,1").count(1) == 4
    assert language(None, "grid:3x3@1,1", "states").accepts([(0, 1)])
    assert language(None, "grid:3x3@any", "states").count(1) == 9


def test_files(tmp_path: Path) -> None:
    roads = tmp_path / "roads.CSV"
    roads.write_text("source,target\np,q\nq,p\n", encoding="utf-8")
    assert language(None, str(roads)).count(1) == 2
    assert language(None, str(roads), "states", "p").count(1) == 1
    system = tmp_path / "system.json"
    system.write_text('{"start": "s", "transitions": {"s": {"a": "s", "b": "s"}}}', encoding="utf-8")
    assert language(None, str(system)).count(2) == 4
    assert language(None, str(system), "states").count(2) == 1
    world = tmp_path / "world.txt"
    world.write_text("S.\n.G\n", encoding="utf-8")
    assert language(None, str(world)).count(2) == 2
    assert language(None, str(world), "states").accepts([(0, 1), (1, 1)])


def test_graph_files(tmp_path: Path) -> None:
    for name in ("learned.dot", "learned.gv"):
        learned = tmp_path / name
        learned.write_text("digraph { __start0 -> s; s -> t [label=a]; t -> s [label=b] }", encoding="utf-8")
        assert language(None, str(learned)).accepts("ab")
        assert language(None, str(learned), None, "t").accepts("ba")
        assert language(None, str(learned), "states").accepts("ts")
    city = tmp_path / "city.graphml"
    networkx.write_graphml(networkx.DiGraph([("p", "q", {"do": "x"}), ("q", "p", {"do": "y"})]), city)
    assert language(None, str(city)).accepts("pqp")
    assert language(None, str(city), None, "p").accepts("qp")
    assert language(None, str(city), None, "p", None, "do").accepts("xy")
    assert language(None, str(city), "states", "p", None, "do").accepts("qp")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, None), r"exactly one of alphabet=, system= and lexicon= .*\(0 are"),
        (("ab", "grid:2x2"), r"exactly one of alphabet=, system= and lexicon= .*\(2 are"),
        ((None, "roads.csv", "moves"), "leave out words='moves'"),
        (("ab", None, "states"), "belong to system="),
        ((None, "grid:2"), "a grid is written"),
        ((None, "grid:2x2@x"), "a grid is written"),
        ((None, "grid:0x2"), "of 1 or more each, or with a start"),
        ((None, "grid:2x2", None, "0,0"), "a grid takes no start=, action= or dot_symbols="),
        ((None, "system.json", None, "s0"), r"start= has no effect on a \.json file: leave it out"),
        ((None, "map.txt", None, "0,0"), r"start= has no effect on a \.txt file: leave it out"),
        ((None, "s.dot", None, None, None, "name"), r"action= has no effect on a \.dot file"),
        (
            (None, "roads.graphml", "moves"),
            "leave out words='moves', or name the edge attribute that has the moves with action=",
        ),
        (("ab", None, None, None, None, "name"), "belong to system="),
        ((None, "grid:2x2@any"), "words of states"),
        ((None, "roads.xml"), r"a system must be .*\.graphml or \.txt"),
    ],
)
def test_bad_languages(arguments: tuple[str | None, ...], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        language(*arguments).count(1)


def test_words_as_characters_or_with_separators() -> None:
    letters = Notation(dw.Words("ab"))
    assert letters.read("abba") == "abba"
    assert letters.write("abba") == "abba"
    cells = Notation(dw.GridWorld(2, 2).by_states())
    assert cells.read("0,1  1,1") == [(0, 1), (1, 1)]
    assert cells.write([(0, 1), (1, 1)]) == "0,1 1,1"
    assert cells.read("") == []
    assert cells.read("0,1 9,9") == [(0, 1), "9,9"]
    acts = Notation(dw.Words(["register request", "pay"]), separator=";")
    assert acts.read("pay;register request") == ["pay", "register request"]
    assert acts.write(["pay", "pay"]) == "pay;pay"
    assert Notation(dw.Words("ab"), separator="-").read("a-b") == ["a", "b"]


def test_words_that_could_not_be_told_apart_are_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="separator="):
        Notation(dw.Words(["register request", "pay"]))
    for separator in ("", "\n"):
        with pytest.raises(dw.InvalidValue, match="a separator needs at least one character"):
            Notation(dw.Words("ab"), separator)
    for symbols in ("a\n", ["go", "a\rb"], "a\ud800"):
        with pytest.raises(dw.InvalidValue, match="line break or half a character"):
            Notation(dw.Words(symbols))
    with pytest.raises(dw.InvalidValue, match="empty or contains the separator"):
        Notation(dw.Words(["", "go"]))
    with pytest.raises(dw.InvalidValue, match="written alike"):
        Notation(dw.Words([(1, 2), "1,2"]))
