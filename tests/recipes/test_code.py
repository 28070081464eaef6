"""A recipe as a command and as Python code, which do the same."""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw
from commands import run
from described import EVERY, LARGE, NAMES, RECIPES, same_mechanism
from dpwords.cli.release import release
from dpwords.frames.formats import FileForm
from dpwords.frames.streams import Input
from dpwords.recipes.fields import FIELDS
from dpwords.recipes.recipe import Recipe


@given(RECIPES)
def test_a_command_says_the_same_whatever_the_names_are(values: dict[str, Any]) -> None:
    """What a shell makes of the command, the command line reads as the same recipe."""
    recipe = Recipe.of(values)
    written = recipe.command()
    if isinstance(recipe.alphabet, tuple):
        first, _, written = written.partition("> symbols.txt\n")
        printf, form, *symbols = shlex.split(first)
        assert (printf, form, tuple(symbols)) == ("printf", "%s\\n", recipe.alphabet)
    program, name, *arguments = shlex.split(written)
    assert (program, name) == ("dpwords", "release")
    context = release.make_context("release", arguments)
    found = {key: context.params[key] for key in FIELDS if context.params[key] not in (None, ())}
    if isinstance(recipe.alphabet, tuple):
        assert found["alphabet"] == "@symbols.txt"
        found["alphabet"] = recipe.alphabet
    assert Recipe.of(found) == recipe


@settings(max_examples=20)
@given(st.lists(NAMES, min_size=1, max_size=3))
def test_a_shell_reads_hostile_names_as_they_are(names: list[str]) -> None:
    """`shlex` reads as a shell does; this asks one."""
    recipe = Recipe(alphabet="ab", epsilon=1, column=names[0], by=names[-1])
    echoed = recipe.command().replace("dpwords release", "printf '%s\\0'", 1)
    done = subprocess.run(["sh", "-c", echoed], capture_output=True, check=True)
    words = done.stdout.decode().split("\0")
    assert words == ["--column", names[0], "--alphabet", "ab", "--epsilon", "1", "--by", names[-1], ""]


@given(RECIPES.filter(lambda values: "rules" not in values and "goal" not in values))
def test_code_is_harmless_whatever_the_names_are(values: dict[str, Any]) -> None:
    """It is one assignment after the other of calls of ours, and all that users have typed are literals."""
    recipe = Recipe.of(values)
    try:
        tree = ast.parse(recipe.python())
    except dw.DPWordsError:
        return
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        owner = ast.unparse(call.func).split("(")[0].split(".")[0]
        assert owner in OWNERS, owner
    told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    for name in ("column", "by", "input"):
        if name in values and recipe.input is not None:
            assert values[name] in told


OWNERS = {"dw", "pd", "pq", "pa", "str", "private", "Limits"}  # of what code calls


@pytest.mark.parametrize("values", EVERY, ids=str)
def test_code_makes_an_equal_mechanism(values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if isinstance(values.get("system"), dict) and "content" in values["system"]:
        Path(values["system"]["name"]).write_text(values["system"]["content"], encoding="utf-8")
    recipe = Recipe.of(values | {"epsilon": 4})
    made: dict[str, Any] = {}
    exec(recipe.python(), made)
    same_mechanism(recipe.mechanism(), made["mechanism"])


@pytest.mark.parametrize("output", ["b.parquet", "b.tsv", "b.csv", "b.jsonl", "b.csv.gz", "b.txt", "b.feather", "-"])
@pytest.mark.parametrize("source", ["a.csv", "a.jsonl", "a.parquet"])
def test_code_writes_the_format_of_the_output(
    source: str, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """As the command does: what comes out of the two is the same at a large ε."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"w": ["ab", "ba", "aab"]})
    Path("a.csv").write_text("w\nab\nba\naab\n", encoding="utf-8")
    Path("a.jsonl").write_text('{"w": "ab"}\n{"w": "ba"}\n{"w": "aab"}\n', encoding="utf-8")
    pq.write_table(table, "a.parquet")
    more = {"output_format": "csv"} if output == "-" else {}
    recipe = Recipe.of({"alphabet": "ab", "epsilon": 300, "input": source, "column": "w", "output": output, **more})
    exec(recipe.python(), {})
    if output == "-":
        sys.stdout.buffer.flush()
        assert capfdbinary.readouterr().out == b"w\nab\nba\naab\n"
        return
    name = "out" + "".join(Path(output).suffixes)
    Path("recipe.json").write_text(recipe.to_json(), encoding="utf-8")
    assert run("release", "--recipe", "recipe.json", "--output", name, "-q").returncode == 0
    found = [opened(file).to_pydict() for file in (output, name)]
    assert found[0] == found[1]


def opened(path: str) -> Any:
    """The table in a file, as the program reads it."""
    with Input(path) as source:
        reader = FileForm.of(path).reader(source)
        return pa.Table.from_batches(reader.batches(reader.schema.names))


def test_code_refuses_the_words_that_the_command_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("w\nNNNN\n", encoding="utf-8")
    recipe = dw.Recipe(system="grid:3x3", edits="all", epsilon=4, input="a.csv", column="w", output="b.csv")
    with pytest.raises(dw.NotInLanguage, match=r"row 1 has a word that is not in the language .*any_word=True"):
        exec(recipe.python(), {})
    exec(recipe.changed({"any_word": True}).python(), {})
    assert Path("b.csv").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"alphabet": "abc"}, "epsilon= is missing"),
        ({"alphabet": "abc", "epsilon": 3, "report": "symbols", "k": 2}, "leave out k="),
        ({"alphabet": "abc", "epsilon": 3, "any_word": True}, "leave out any_word="),
    ],
)
def test_code_is_only_made_of_what_can_be_released(values: dict[str, Any], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        Recipe.of(values).python()
    with pytest.raises(dw.InvalidValue, match=message):
        Recipe.of(values).mechanism()


@pytest.mark.parametrize("system", [LARGE, {"name": "my\nroads.csv", "content": "source,target\na,b\nb,a\n"}])
def test_code_says_which_file_has_to_be_there(system: dict[str, Any]) -> None:
    """In a comment of one line, whatever the name is."""
    recipe = dw.Recipe(system=system, epsilon=3)
    name = repr(system.get("name", "system.json"))
    comment = f"# {name} has to be here, with the content that the recipe has\n"
    assert recipe.command().startswith(comment + "dpwords release --system ")
    assert f"\n{comment}language = dw.from_" in recipe.python()
