"""The JSON Schemas of the documentation are those of the program, and what it writes satisfies them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import dpwords as dw
from commands import run
from dpwords.recipes.schema import receipt_schema, recipe_schema, written

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


@pytest.mark.parametrize(("name", "schema"), [("recipe", recipe_schema()), ("receipt", receipt_schema())])
def test_the_documentation_has_the_current_schema(name: str, schema: dict[str, object]) -> None:
    """If not: `written(recipe_schema())` and `written(receipt_schema())` are what the two files should have."""
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8") == written(schema)


@pytest.mark.parametrize(
    "options",
    [
        ("--alphabet", "a-c", "-e", "3"),
        ("--alphabet", "a-c", "--by", "who", "--budget", "150", "--invalid", "skip"),
        ("--alphabet", "@acts.txt", "-e", "6", "--edits", "all"),
        ("--system", "roads.csv", "-e", "3"),
        ("--system", "roads.csv", "--report", "visits", "-e", "2"),
        ("--lexicon", "words.txt", "-e", "3", "--utility", "linear"),
    ],
    ids=str,
)
def test_receipts_satisfy_the_schema_and_need_no_options(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All public files are gone when the releases are read."""
    monkeypatch.chdir(tmp_path)
    Path("acts.txt").write_text("a\nb\nc\n", encoding="utf-8")
    Path("words.txt").write_text("abc\nbca\ncab\n", encoding="utf-8")
    Path("roads.csv").write_text("source,target\na,b\nb,c\nc,a\n", encoding="utf-8")
    Path("in.csv").write_text("who,word\n" + "1,abc\n2,bca\n" * 50, encoding="utf-8")
    done = run("release", "--input", "in.csv", "--column", "word", *options, "--output", "out.csv", "-q")
    assert done.returncode == 0, done.stderr
    document = json.loads(Path("out.csv.receipt.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, receipt_schema())
    assert dw.Recipe.from_json(document["recipe"]).column == "word"
    for name in ("acts.txt", "words.txt", "roads.csv", "in.csv"):
        Path(name).unlink()
    question = () if "--report" in options else ("--question", "frequencies")
    read = run("estimate", "--input", "out.csv", *question)
    if "--lexicon" in options:
        assert "receipt" not in read.stderr  # whether there are estimates for it is another question
    else:
        assert read.returncode == 0, read.stderr
