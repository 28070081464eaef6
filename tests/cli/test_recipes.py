"""dpwords release --recipe and --print-recipe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpwords as dw
from commands import refused, run
from dpwords.recipes.description import LARGEST_INCLUDED
from dpwords.recipes.recipe import Recipe


def test_a_recipe_is_printed_and_released(tmp_path: Path) -> None:
    file = tmp_path / "release.json"
    printed = run("release", "--print-recipe", "--system", "grid:4x4", "--rule", "contains:1,1", "--epsilon", "300")
    assert printed.returncode == 0
    assert json.loads(printed.stdout) == {
        "recipe": 1,
        "system": "grid:4x4",
        "rules": ["contains:1,1"],
        "epsilon": 300,
    }
    file.write_text(printed.stdout, encoding="utf-8")
    assert run("release", "ESS", "--recipe", str(file), "-q").stdout == "ESS\n"
    assert "word 1 breaks the rule contains:1,1" in refused("release", "EEE", "--recipe", str(file))
    assert (
        run("release", "abab", "--recipe", str(file), "--alphabet", "ab", "--rule", "contains:a", "-q").stdout
        == "abab\n"
    )
    assert "--print-recipe releases nothing: leave out WORD" in refused(
        "release", "ESS", "--recipe", str(file), "--print-recipe"
    )
    assert "recipe.json cannot be read" in refused("release", "ESS", "--recipe", str(tmp_path / "recipe.json"))


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"alphabet": "ab", "k": 2}, ["--report", "symbols", "-k", "1"]),
        ({"alphabet": "ab", "utility": "inverse", "alpha": 2}, ["--utility", "best", "--alpha", "1"]),
        ({"system": "grid:3x3", "words": "states", "certificate_time": 3}, ["--alphabet", "ab"]),
        ({"system": "grid:3x3", "edits": "all", "any_word": True}, ["--alphabet", "ab"]),
    ],
)
def test_options_come_before_what_a_recipe_says(values: dict[str, Any], options: list[str], tmp_path: Path) -> None:
    file = tmp_path / "release.json"
    file.write_text(json.dumps(values | {"epsilon": 3}), encoding="utf-8")
    done = run("release", "abab", "--recipe", str(file), *options, "-q")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_header_comes_before_a_recipe_without_one(tmp_path: Path) -> None:
    table, file = tmp_path / "words.csv", tmp_path / "release.json"
    table.write_text("a\nab\n", encoding="utf-8")
    values = {"alphabet": "ab", "epsilon": 300, "input": str(table), "no_header": True}
    file.write_text(json.dumps(values), encoding="utf-8")
    assert run("release", "--recipe", str(file), "--column", "1", "-q").stdout == "a\nab\n"
    assert run("release", "--recipe", str(file), "--column", "a", "--header", "-q").stdout == "a\nab\n"
    recipe = dw.Recipe.of(values)
    assert recipe.changed({"header": True}) == dw.Recipe.of(values | {"no_header": False, "header": True})
    assert recipe.changed({"header": False}) == recipe


def test_messages_say_what_a_file_has(tmp_path: Path) -> None:
    file = tmp_path / "release.json"
    file.write_text(json.dumps({"alphabet": "ab", "epsilon": 3, "k": 2, "edits": "all"}), encoding="utf-8")
    said = refused("release", "ab", "--recipe", str(file), "--report", "symbols", "--alpha", "2")
    assert said.endswith("leave out --edits (in release.json), -k (in release.json), --alpha\n")


@pytest.mark.parametrize(
    "values",
    [{"by": "p", "budget": 8}, {"output": "o.csv"}, {"column": "w"}, {"drop_others": True}, {"split": "first"}],
)
def test_a_recipe_of_a_table_is_not_for_words(values: dict[str, Any], tmp_path: Path) -> None:
    """A budget of one person would be spent on each word."""
    file = tmp_path / "release.json"
    file.write_text(json.dumps({"alphabet": "abc", "epsilon": 8} | values), encoding="utf-8")
    said = refused("release", "abca", "abcb", "--recipe", str(file))
    assert "without --input there is no file: leave out " in said
    assert all(f"--{key.replace('_', '-')}" in said for key in values)


def test_a_receipt_is_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that stand in it by their names are looked for beside it."""
    many = tmp_path / "many.csv"
    many.write_text("".join(f"s{each}\n" for each in range(LARGEST_INCLUDED // 8)), encoding="utf-8")
    (tmp_path / "in.csv").write_text("w\ns1 s2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for alphabet in ("@many.csv", "s0-9 "):
        options = ("--column", "w", "--alphabet", alphabet, "-e", "300", "--output", "out.csv", "-q")
        assert run("release", "--input", "in.csv", *options).returncode == 0
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / "elsewhere")
        again = run("release", "--recipe", "../out.csv.receipt.json", "--input", "../in.csv", "-q")
        assert (again.returncode, again.stdout) == (0, "w\ns1 s2\n")
        assert "leave out --column (in out.csv.receipt.json)" in refused(
            "release", "s1", "--recipe", "../out.csv.receipt.json"
        )
        monkeypatch.chdir(tmp_path)
        if alphabet == "@many.csv":  # which the receipt only names
            over = ("--input", "in.csv", "--output", "many.csv", "--output-format", "csv")
            assert "would be overwritten" in refused("release", "--recipe", "out.csv.receipt.json", *over)
            asked = ("estimate", "--input", "out.csv", "--question", "lengths", "--output", "many.csv")
            assert "would be overwritten" in refused(*asked)
    with pytest.raises(dw.InvalidValue, match="must not name a path"):
        Recipe.from_json({"receipt": 2, "recipe": {"recipe": 1, "alphabet": "@/etc/passwd"}})
    with pytest.raises(dw.InvalidValue, match="another version"):
        Recipe.from_json({"receipt": 2, "recipe": {"recipe": {}}})


def test_a_recipe_of_a_table(tmp_path: Path) -> None:
    table, output, file = tmp_path / "words.csv", tmp_path / "out.csv", tmp_path / "release.json"
    table.write_text("id,word\n1,abc\n2,CANARY\n", encoding="utf-8")
    recipe = dw.Recipe(alphabet="a-c", epsilon=300, input=str(table), column="word", output=str(output), invalid="skip")
    file.write_text(recipe.to_json(), encoding="utf-8")
    assert run("release", "--recipe", str(file), "-q").returncode == 0
    assert output.read_text(encoding="utf-8") == "id,word\n1,abc\n"
    told = (tmp_path / "out.csv.receipt.json").read_text(encoding="utf-8")
    assert "CANARY" not in told
    assert str(tmp_path) not in told
    failing = refused("release", "--recipe", str(file), "--invalid", "fail", "-q")
    assert "row 2 has a word that is not in the language" in failing
    assert "CANARY" not in failing
    assert "would be overwritten, and --input needs it" in refused(
        "release", "--recipe", str(file), "--output", str(table)
    )
