"""One value describes a release, from wherever it comes, and wherever it goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import jsonschema
import numpy as np
import pytest
from hypothesis import given

import dpwords as dw
from commands import refused, run
from described import EVERY, LARGE, RECIPES, same_mechanism
from dpwords.cli.release import release
from dpwords.recipes.description import LARGEST_INCLUDED
from dpwords.recipes.fields import DEFAULTS, FIELDS
from dpwords.recipes.kinds import NamedFile
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.schema import recipe_schema


@given(RECIPES)
def test_json_and_back(values: dict[str, Any]) -> None:
    recipe = Recipe.of(values)
    again = Recipe.from_json(recipe.to_json())
    assert again == recipe
    assert hash(again) == hash(recipe)
    assert Recipe.from_json(json.loads(recipe.to_json())) == recipe
    jsonschema.validate(json.loads(recipe.to_json()), recipe_schema())


@pytest.mark.parametrize("values", EVERY, ids=str)
def test_what_a_receipt_tells_makes_an_equal_mechanism(values: dict[str, Any]) -> None:
    recipe = Recipe.of(values | {"epsilon": 4, "input": "secret/in.csv", "output": "secret/out.csv", "column": "w"})
    told = Recipe.from_json(recipe.for_receipt().to_json()).closed("the receipt")
    assert "secret" not in told.to_json()
    assert told.column == "w"
    same_mechanism(recipe.mechanism(), told.mechanism())


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


def test_what_a_recipe_has_in_full_stays_so_in_a_receipt() -> None:
    """There never was a file that could be found again."""
    recipe = dw.Recipe(system=LARGE, epsilon=3)
    assert len(recipe.to_json()) > LARGEST_INCLUDED
    told = Recipe.from_json(recipe.for_receipt().to_json())
    assert told.document()["system"] == LARGE
    assert told.language().accepts("a" * 9)


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


@pytest.mark.parametrize(
    ("values", "epsilon"),
    [({}, 3), ({"split": "equal"}, 3), ({"epsilon": 0.1}, 3), ({"epsilon": 0.1, "split": "first"}, 0.1)],
)
def test_a_shared_budget_stands_for_epsilon(values: dict[str, Any], epsilon: float) -> None:
    recipe = dw.Recipe.of({"alphabet": "ab", "by": "u", "budget": 3, **values})
    assert recipe.mechanism().epsilon == recipe.for_receipt().mechanism().epsilon == epsilon
    assert recipe.python().endswith(f"mechanism = dw.Exponential(language, epsilon={epsilon:g})")


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
