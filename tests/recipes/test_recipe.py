"""One value describes a release, from wherever it comes, and wherever it goes."""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw
from commands import refused, run
from dpwords.cli.release import release
from dpwords.frames.formats import FileForm
from dpwords.frames.receipts import language_hash
from dpwords.frames.streams import Input
from dpwords.recipes.description import LARGEST_INCLUDED
from dpwords.recipes.fields import DEFAULTS, FIELDS
from dpwords.recipes.kinds import NamedFile
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.schema import recipe_schema

SYSTEM = {"start": "s", "transitions": {"s": {"a": "t"}, "t": {"b": "s", "a": "t"}}}
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
SYMBOLS = st.lists(NAMES.filter(lambda text: not set(text) & set("\r\n")), min_size=1, max_size=4, unique=True)
PROMISES = st.fixed_dictionaries(
    {"epsilon": st.floats(0.1, 20)},
    optional={
        "k": st.integers(1, 5),
        "certificate_time": st.floats(0, 100),
        "alpha": st.floats(0.5, 3),
        "utility": st.sampled_from(["best", "inverse", "linear"]),
        "calibration": st.sampled_from(["tight", "textbook"]),
        "mechanism": st.sampled_from(["best", "exponential", "online", "channel"]),
        "edits": st.sampled_from(["substitutions", "all"]),
        "any_word": st.booleans(),
    },
)
LANGUAGES = st.one_of(
    st.fixed_dictionaries({"alphabet": st.one_of(NAMES, SYMBOLS)}, optional={"rules": st.lists(NAMES, max_size=3)}),
    st.fixed_dictionaries(
        {"system": st.just("grid:3x3")},
        optional={"words": st.sampled_from(["moves", "states"]), "walls": st.just("1,1"), "goal": NAMES},
    ),
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "input": NAMES,
        "output": NAMES,
        "format": st.sampled_from(["csv", "parquet"]),
        "column": NAMES,
        "separator": NAMES,
        "by": NAMES,
        "budget": st.floats(0.5, 50),
        "split": st.sampled_from(["equal", "first"]),
        "invalid": st.sampled_from(["fail", "skip"]),
        "drop_others": st.booleans(),
        "no_header": st.booleans(),
    },
)
RECIPES = st.builds(lambda *parts: {k: v for part in parts for k, v in part.items()}, LANGUAGES, PROMISES, TABLES)


@given(RECIPES)
def test_json_and_back(values: dict[str, Any]) -> None:
    recipe = Recipe.of(values)
    again = Recipe.from_json(recipe.to_json())
    assert again == recipe
    assert hash(again) == hash(recipe)
    assert Recipe.from_json(json.loads(recipe.to_json())) == recipe
    jsonschema.validate(json.loads(recipe.to_json()), recipe_schema())


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


EVERY = [
    {"alphabet": "a-c"},
    {"alphabet": ["pay", "ship it", "x'\"\\"], "rules": ["contains:pay"]},
    {"alphabet": "ab", "k": 2, "utility": "inverse", "alpha": 2.0, "calibration": "textbook"},
    {"alphabet": "ab", "edits": "all"},
    {"system": "grid:3x3"},
    {"system": "grid:3x3@any", "words": "states", "walls": "1,1", "rules": ["re:(0,0|0,1|0,2)*"]},
    {"system": "grid:3x3", "mechanism": "online", "goal": "2,2;0,1"},
    {"system": "grid:3x3", "edits": "all", "any_word": True},
    {"system": SYSTEM, "words": "states"},
    {"system": SYSTEM, "mechanism": "exponential", "utility": "linear"},
    {"system": {"name": "roads.csv", "content": "source,target\na,b\nb,a\nb,b\n"}, "start": "a"},
    {"system": {"name": "map.txt", "content": "S..\n.#G\n"}},
    {"lexicon": ["bern", "basel", "rome"]},
    {"lexicon": ["bern", "basel", "rome"], "edits": "all"},
    {"system": "grid:3x3", "words": "states", "report": "visits"},
    {"alphabet": "abc", "report": "symbols"},
    {"system": "grid:2x2", "words": "states", "mechanism": "exponential", "certificate_time": 0},
    {"system": "grid:2x2", "words": "states", "certificate_time": 0},
]


@pytest.mark.parametrize("values", EVERY, ids=str)
def test_code_makes_an_equal_mechanism(values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if isinstance(values.get("system"), dict) and "content" in values["system"]:
        Path(values["system"]["name"]).write_text(values["system"]["content"], encoding="utf-8")
    recipe = Recipe.of(values | {"epsilon": 4})
    made: dict[str, Any] = {}
    exec(recipe.python(), made)
    same_mechanism(recipe.mechanism(), made["mechanism"])


@pytest.mark.parametrize("values", EVERY, ids=str)
def test_what_a_receipt_tells_makes_an_equal_mechanism(values: dict[str, Any]) -> None:
    recipe = Recipe.of(values | {"epsilon": 4, "input": "secret/in.csv", "output": "secret/out.csv", "column": "w"})
    told = Recipe.from_json(recipe.for_receipt().to_json()).closed("the receipt")
    assert "secret" not in told.to_json()
    assert told.column == "w"
    same_mechanism(recipe.mechanism(), told.mechanism())


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


def same_mechanism(one: Any, other: Any) -> None:
    length = next(length for length in (4, 3, 5) if one.language.count(length))
    assert type(one) is type(other)
    assert language_hash(one) == language_hash(other)
    assert one.guarantee == other.guarantee
    assert one.parameters(length) == other.parameters(length)


def test_files_stand_in_a_receipt_in_full_if_they_are_small(tmp_path: Path) -> None:
    symbols, roads = tmp_path / "acts.txt", tmp_path / "roads.csv"
    symbols.write_text("pay\nship it\n", encoding="utf-8")
    assert dw.Recipe(alphabet=f"@{symbols}").for_receipt().document() == {"recipe": 1, "alphabet": ["pay", "ship it"]}
    roads.write_text("source,target,owner\na,b,SECRET\nb,a,SECRET\n", encoding="utf-8")
    told = dw.Recipe(system=str(roads), start="a").for_receipt()
    assert told.document() == {
        "recipe": 1,
        "system": {"start": "a", "transitions": {"a": {"b": "b"}, "b": {"a": "a"}}},
        "words": "states",
    }


def test_large_files_stand_in_a_receipt_by_name_and_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = LARGEST_INCLUDED // 8
    file = tmp_path / "many.txt"
    file.write_text("".join(f"s{each}\n" for each in range(number)), encoding="utf-8")
    recipe = dw.Recipe(alphabet=f"@{file}", epsilon=3)
    told = recipe.for_receipt()
    assert isinstance(told.alphabet, NamedFile)
    assert told.alphabet.name == "many.txt"
    assert len(told.to_json()) < 300
    with pytest.raises(dw.InvalidValue, match="only named"):
        told.language()
    with pytest.raises(
        dw.InvalidValue, match=r"names the file many\.txt, which is not here: say where, with alphabet="
    ):
        told.located(Path("elsewhere"))
    same_mechanism(recipe.mechanism(), told.located(tmp_path).mechanism())
    file.write_text(file.read_text(encoding="utf-8") + "other\n", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"many\.txt is not the file of the release"):
        told.located(tmp_path).language()


@pytest.mark.parametrize(("side", "is_included"), [(60, True), (160, False)])
def test_maps_with_many_walls_are_released_and_estimated(
    side: int, is_included: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walls of a small map stand in the receipt, and those of a large one by the hash of its file."""
    monkeypatch.chdir(tmp_path)
    world = Path("map.txt")
    world.write_text(f"S{'.' * (side - 1)}\n" + f"{'#' * side}\n" * (side - 1), encoding="utf-8")
    Path("words.csv").write_text("w\n" + "EEEE\n" * 50, encoding="utf-8")
    files = ("--input", "words.csv", "--column", "w", "--output", "out.csv")
    done = run("release", *files, "--system", "map.txt", "--epsilon", "4", "--mechanism", "online", "-q")
    assert done.returncode == 0, done.stderr
    told = json.loads(Path("out.csv.receipt.json").read_text(encoding="utf-8"))["recipe"]
    assert ("walls" in told) == is_included
    if is_included:
        world.unlink()
    assert run("estimate", "--input", "out.csv", "--question", "frequencies").returncode == 0
    if not is_included:
        world.write_text(f"{world.read_text(encoding='utf-8')}{'.' * side}\n", encoding="utf-8")
        assert "is not the file of the release" in refused("estimate", "--input", "out.csv", "--question", "visits")


LARGE = {"start": "0", "transitions": {str(each): {"a": str(each + 1)} for each in range(LARGEST_INCLUDED // 16)}}


def test_what_a_recipe_has_in_full_stays_so_in_a_receipt() -> None:
    """There never was a file that could be found again."""
    recipe = dw.Recipe(system=LARGE, epsilon=3)
    assert len(recipe.to_json()) > LARGEST_INCLUDED
    told = Recipe.from_json(recipe.for_receipt().to_json())
    assert told.document()["system"] == LARGE
    assert told.language().accepts("a" * 9)


@pytest.mark.parametrize("system", [LARGE, {"name": "my\nroads.csv", "content": "source,target\na,b\nb,a\n"}])
def test_code_says_which_file_has_to_be_there(system: dict[str, Any]) -> None:
    """In a comment of one line, whatever the name is."""
    recipe = dw.Recipe(system=system, epsilon=3)
    name = repr(system.get("name", "system.json"))
    comment = f"# {name} has to be here, with the content that the recipe has\n"
    assert recipe.command().startswith(comment + "dpwords release --system ")
    assert f"\n{comment}language = dw.from_" in recipe.python()


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"alphabet": "ab", "alphabet": "abc"}', "has a key twice"),
        ('{"epsilon": NaN}', "a number that is not finite or very long: correct it"),
        ('{"epsilon": ' + "1" * 5_000 + "}", "a number that is not finite or very long: correct it"),
        ('{"epsilon": 1e9}', r"epsilon= must be at most 1e\+06"),
        ('{"budget": 1e9}', r"budget= must be at most 1e\+06"),
        ('{"mechanism": "worst"}', "mechanism_name= must be one of best, exponential"),
        ('{"epsilon": 1e999}', "epsilon= must be a finite number above 0"),
        ('{"epsilon": "3"}', "epsilon= must be a finite number above 0"),
        ('{"epsilon": true}', "epsilon= must be a finite number above 0"),
        ('{"k": 0}', "k= must be a whole number, 1 or more"),
        ('{"alphabett": "ab"}', "unknown field alphabett: leave it out, or correct it to alphabet"),
        ('{"__class__": "ab"}', "unknown field __class__"),
        ('{"given": ["k"]}', "unknown field given"),
        ('{"mechanism_name": "best"}', "unknown field mechanism_name"),
        ('{"recipe": 7}', "another version of dpwords"),
        ('{"alphabet": []}', "alphabet= must be a text, or a list of symbols"),
        ('{"alphabet": ["a", 1]}', "alphabet= must be a text, or a list of symbols"),
        ('{"alphabet": ["a\\nb"]}', "which are lines of text"),
        ('{"alphabet": {"name": "x"}}', "a sha256 of 64 hexadecimal digits"),
        ('{"system": {"name": "../../etc/passwd", "sha256": "' + "0" * 64 + '"}}', "names a file without its folder"),
        ('{"system": {"name": "a/b.csv", "content": ""}}', "names a file without its folder"),
        ('{"system": {"name": "s.json", "content": 3}}', "a name and its content"),
        ('{"system": 3}', "system= must be a text"),
        ('{"column": "' + "x" * 20_000 + '"}', "a text of at most 10,000 characters"),
        ('{"rules": "contains:a"}', "must be a list"),
        ('{"invalid": "maybe"}', "invalid= must be one of fail, skip"),
        ('{"drop_others": 1}', "drop_others= must be true or false"),
        ('{"header": true, "no_header": true}', "say the opposite"),
        ("[" * 100_000, "not valid JSON"),
        ('{"alphabet": ' + "[" * 100_000, "not valid JSON"),
        ('{"alphabet": "a\\ud800"}', "alphabet= has half a character"),
        ('{"alphabet": ["a\\ud800"]}', "which are lines of text"),
        ('{"column": "\\ud800"}', "column= has half a character"),
        ('{"system": {"start": "\\ud800", "transitions": {}}}', "system= must be written as in JSON, with UTF-8 texts"),
        ('{"system": {"name": "a.csv", "content": "\\ud800"}}', "system= has half a character"),
        ("release.json", "is not valid JSON: write an object {…}, or pass a Path to read a file"),
    ],
)
def test_hostile_recipes_are_refused_in_one_line(document: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(dw.InvalidValue, match=message) as caught:
        dw.Recipe.from_json(document)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    file = tmp_path / "recipe.json"
    file.write_text(document, encoding="utf-8")
    refused("release", "ab", "--recipe", str(file))


def _nested(levels: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(levels):
        found = {"a": found}
    return found


@pytest.mark.parametrize(
    "values",
    [
        {"system": {"start": (0, 1), "transitions": {(0, 1): {"a": (0, 1)}}}},
        {"system": {"start": "s", "transitions": {"s": {"a", "b"}}}},
        {"system": {"start": object(), "transitions": {}}},
        {"system": {"start": "s", "transitions": _nested(100_000)}},
        {"system": np.array(["a", "b"])},
        {"alphabet": np.array(["a", "b"])},
        {"column": np.array(["a", "b"])},
    ],
    ids=["tuples", "sets", "objects", "levels", "system", "alphabet", "column"],
)
def test_values_that_are_no_json_are_refused_in_one_line(values: dict[str, Any]) -> None:
    for make in (dw.Recipe.from_json, lambda given: dw.Recipe(**given)):
        with pytest.raises(dw.InvalidValue, match=r"(system|alphabet|column)= must be"):
            make(values)


def test_files_are_also_paths() -> None:
    found = dw.Recipe(alphabet=Path("acts.txt"), input=Path("in") / "a.csv", output=Path("b.csv"))
    assert found == dw.Recipe(alphabet="@acts.txt", input="in/a.csv", output="b.csv")
    for key in ("system", "lexicon"):
        assert dw.Recipe.of({key: Path("a.txt")}) == dw.Recipe.of({key: "a.txt"})


def test_remedies_are_written_as_python_takes_them() -> None:
    with pytest.raises(dw.InvalidValue, match=r"write system='grid:15x15', or rules=\['never:…'\]"):
        dw.Recipe(alphabet="ab", walls="1,1").language()
    with pytest.raises(dw.InvalidValue, match=r"grid:ROWSxCOLUMNS, of 1 or more each.*write system='grid:15x15'"):
        dw.Recipe(system="grid:0x3").language()
    with pytest.raises(dw.InvalidValue, match=r"^\. cannot be read"):
        dw.Recipe(alphabet="@.").language()


@pytest.mark.parametrize("path", ["@/etc/passwd", "@x"])
def test_what_comes_from_elsewhere_names_no_path(path: str) -> None:
    with pytest.raises(dw.InvalidValue, match=r"the receipt must not name a path: alphabet= has to be written out$"):
        dw.Recipe(alphabet=path).closed("the receipt")
    for key in ("system", "lexicon"):
        with pytest.raises(dw.InvalidValue, match="must not name a path"):
            dw.Recipe.of({key: "/etc/roads.csv"}).closed("the receipt")


def test_what_has_no_effect_is_refused_wherever_it_comes_from() -> None:
    for values, message in (
        ({"alphabet": "ab", "alpha": 2}, r"alpha= is the constant of utility='inverse': leave out alpha="),
        ({"alphabet": "ab", "alpha": 1}, r"leave out alpha="),  # which somebody wrote, though it is the default
        ({"alphabet": "ab", "report": "symbols", "k": 2}, r"report= is a mechanism of its own.*leave out k="),
        ({"alphabet": "ab", "certificate_time": 3}, r"long proofs .* leave out certificate_time="),
        ({"alphabet": "ab", "system": "grid:2x2"}, r"exactly one of .*2 are given"),
        ({"alphabet": "ab", "words": "moves"}, r"belong to system="),
    ):
        with pytest.raises(dw.InvalidValue, match=message):
            dw.Recipe.from_json(values | {"epsilon": 1}).mechanism()
    with pytest.raises(dw.InvalidValue, match="epsilon= is missing"):
        dw.Recipe(alphabet="ab").mechanism()
    assert dw.Recipe(alphabet="ab", by="u", budget=3).mechanism().epsilon == 3


def test_a_recipe_is_a_value() -> None:
    one = dw.Recipe(alphabet=["a", "b"], epsilon=3)
    assert one == dw.Recipe(alphabet=("a", "b"), epsilon=3.0)
    assert {one: 1}[dw.Recipe(alphabet=["a", "b"], epsilon=3)] == 1
    assert one.changed({"system": "grid:2x2"}) == dw.Recipe(system="grid:2x2", epsilon=3)
    assert one.changed({"epsilon": 4}) == dw.Recipe(alphabet=["a", "b"], epsilon=4)
    assert repr(one) == "Recipe(alphabet=('a', 'b'), epsilon=3.0)"
    with pytest.raises(AttributeError):
        one.epsilon = 4  # type: ignore[misc]


def test_every_field_has_an_option_of_release() -> None:
    options, context = {each.name: each for each in release.params}, click.Context(release)
    assert set(FIELDS) <= set(options)
    assert {name: options[name].get_default(context) for name in FIELDS} == {**DEFAULTS, "rules": ()}


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
