"""Messages name parameters without spelling them for one front end."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords
from commands import refused
from dpwords.errors import InvalidValue, TooLarge, named, rendered
from dpwords.recipes.fields import as_option
from dpwords.web.messages import on_page

ROOT = Path(dpwords.__file__).parent
BELOW = sorted(path for path in ROOT.rglob("*.py") if "cli" not in path.relative_to(ROOT).parts)


def test_python_shows_arguments() -> None:
    told = InvalidValue(f"use {named('by')}, {named('invalid', 'skip')}, {named('resume', True)} or {named('port', 0)}")
    assert str(told) == "use by=, invalid='skip', resume=True or port=0"
    assert repr(told) == f"InvalidValue({str(told)!r})"


def test_the_command_line_shows_options() -> None:
    told = InvalidValue(f"use {named('by')}, {named('walls', '2,3;4,5')}, {named('drop_others', True)} or {named('k')}")
    assert rendered(told.message, as_option) == "use --by, --walls '2,3;4,5', --drop-others or -k"


def test_the_page_shows_labels_and_what_it_does_not_have_as_python_does() -> None:
    told = InvalidValue(f"use {named('by')}, {named('words', 'states')} or {named('any_word', True)}")
    assert on_page(told) == "use “Whose word it is”, “Symbols are” states or any_word=True in Python"


def test_a_message_in_a_message_and_a_pickled_one_keep_their_parameters() -> None:
    inner = InvalidValue(f"give {named('start')}")
    outer = pickle.loads(pickle.dumps(TooLarge(f"roads.csv: {inner.message}")))
    assert rendered(outer.message, as_option) == "roads.csv: give --start"
    assert str(outer) == "roads.csv: give start="


@given(st.text(st.characters(codec="utf-8", include_characters="\ue000\ue001\ue002")))
def test_names_from_damaged_files_do_no_harm(name: str) -> None:
    """They can even have the characters that mark parameters."""
    told = InvalidValue(f"{name}: give {named('by')}")
    for shown in (str(told), rendered(told.message, as_option), on_page(told)):
        assert "\n" not in shown
    assert rendered(told.message, as_option).endswith("--by")


@pytest.mark.parametrize("path", BELOW, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_spells_its_options(path: Path) -> None:
    """In texts and docstrings; what makes an option of a name writes no option."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not re.search(r"(?<![\w-])--[a-z]", node.value), f"{path.name}, line {node.lineno}"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_errors_of_ours_are_put_into_others_with_their_parameters(path: Path) -> None:
    """`{error}` would show a parameter as Python does, also on the command line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler) and node.type is not None and _is_ours(node.type):
            for raised in (each for each in ast.walk(node) if isinstance(each, ast.Raise)):
                shown = [each.value for each in ast.walk(raised) if isinstance(each, ast.FormattedValue)]
                names = {each.id for each in shown if isinstance(each, ast.Name)}
                assert node.name not in names, f"{path.name}, line {raised.lineno}"


def _is_ours(kind: ast.expr) -> bool:
    names = {each.id for each in ast.walk(kind) if isinstance(each, ast.Name)}
    return bool(names & {"DPWordsError", "InvalidValue", "NotInLanguage", "TooLarge", "NotDeterministic", "NoReceipt"})


def test_a_command_shows_options_only() -> None:
    told = refused("release", "ab", "--alphabet", "ab", "--walls", "1,1", "--epsilon", "1")
    assert "--walls and --goal belong to a grid" in told
    assert "walls=" not in told
