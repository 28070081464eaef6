"""Every mechanism and every calibration names its proof, a section of docs/theory.md, which names its tests in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import dpwords as dw
from dpwords.mechanisms.choice import UTILITIES
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.uniform import Uniform
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.methods import Method
from dpwords.privacy.utilities import Utility
from test_contract import MECHANISMS

TESTS = Path(__file__).parent
THEORY = (TESTS.parent / "docs" / "theory.md").read_text("utf-8")
SECTIONS = {int(number): text for number, text in re.findall(r"^## (\d+)\. (.*?)(?=^## |\Z)", THEORY, re.M | re.S)}
WORLD = dw.GridWorld(3, 3)
BY_HAND: dict[str, Private] = {  # what the contract has no line for
    "uniform": Uniform(dw.Words("ab")),
    "exponential, the paper's utility on free words": dw.Exponential(dw.Words("ab"), 1.0, utility=dw.Inverse(1.0)),
    "exponential, textbook on free words": dw.Exponential(dw.Words("ab"), 1.0, calibration="textbook"),
}


def kinds_of(base: type) -> Iterator[type]:
    """All classes of the package that derive from a class."""
    for module in walk_packages(dw.__path__, "dpwords."):
        if module.name.startswith(f"{base.__module__.rpartition('.')[0]}."):
            import_module(module.name)
    waiting = [base]
    while waiting:
        found = [each for each in waiting.pop().__subclasses__() if each.__module__.startswith("dpwords.")]
        waiting += found
        yield from found


def named_by(section: int) -> tuple[set[str], set[tuple[str, str]]]:
    """The test files that a section names, and the tests in them; `::test` belongs to the file named before it."""
    files, tests, last = set(), set(), ""
    for file, test in re.findall(r"`((?:\w+/)*\w+\.py|contract)?(?:(?:::|(?<=contract)\.)(\w+))?`", SECTIONS[section]):
        if file == "contract" or Path(file).name.startswith("test_"):
            last = "helpers/contract.py" if file == "contract" else file
            files.add(last)
        if test and (file or last):
            tests.add((last, test))
    return files, tests


def check_named(section: int | None) -> set[str]:
    """Check that there is such a section, and that it names tests; these files are returned."""
    assert section in SECTIONS
    files, _ = named_by(section)
    assert re.search(r"^Tests: ", SECTIONS[section], re.M), f"section {section} names no tests"
    assert any(Path(name).name.startswith("test_") for name in files), f"section {section} names no tests"
    return files


@pytest.mark.parametrize("section", SECTIONS)
def test_the_tests_that_a_section_names_exist(section: int) -> None:
    files, tests = named_by(section)
    for name in files:
        assert (TESTS / name).exists(), f"section {section} names {name}"
    for name, test in tests:
        found = re.search(rf"^def {test}\(", (TESTS / name).read_text("utf-8"), re.M)
        assert found, f"section {section} names {name}::{test}"


@pytest.mark.parametrize("mechanism", [each for each, _ in MECHANISMS.values()] + list(BY_HAND.values()), ids=repr)
def test_a_mechanism_names_its_proof(mechanism: Private) -> None:
    """And the section is about it: it names the mechanism, and so does one of its tests."""
    promise, name = mechanism.guarantee, type(mechanism).__name__
    assert isinstance(promise, dw.PureDP)
    files = check_named(promise.proof)
    assert re.search(rf"`{name}\b", SECTIONS[promise.proof or 0]), (name, promise.proof)
    assert any(re.search(rf"\b{name}\(", (TESTS / each).read_text("utf-8")) for each in files), (name, promise.proof)


def test_no_mechanism_is_left_out() -> None:
    seen = {type(each) for each, _ in MECHANISMS.values()} | {type(each) for each in BY_HAND.values()}
    assert seen == {each for each in kinds_of(Private) if not isabstract(each)}
    assert {dw.Exponential, dw.Online, dw.EditChannel, dw.Report} < seen


def test_a_certifier_names_its_proof() -> None:
    kinds = set(kinds_of(Certifier))
    assert len(kinds) >= 5
    for kind in kinds:
        check_named(getattr(kind, "section", None))


@pytest.mark.parametrize("method", Method)
def test_a_method_of_certification_has_a_proof(method: str) -> None:
    """A paragraph with its name, in a section that a certifier names."""
    sections = {getattr(kind, "section", 0) for kind in kinds_of(Certifier)}
    assert any(re.search(rf"^\*\*{method.capitalize()}\*\*", SECTIONS[each], re.M) for each in sections)


def test_a_utility_has_a_proof() -> None:
    """Its sensitivity, or, where it is a choice between others, why it may choose."""
    kinds = set(kinds_of(Utility))
    assert {type(make(1.0)) for make in UTILITIES.values() if make(1.0) is not None} <= kinds
    for kind in kinds:
        assert any(f"`{kind.__name__}`" in SECTIONS[each] for each in (2, 9)), kind


def test_the_proof_is_that_of_the_calibration_in_force() -> None:
    """The sections are those of the table of contents of docs/theory.md."""
    lexicon, cells = dw.Lexicon(["ab", "ba", "bb"]), WORLD.by_states()
    proofs: list[tuple[Any, int]] = [
        (dw.Exponential(dw.Words("ab"), 1.0), 3),
        (dw.Exponential(dw.Words("ab"), 2.0, k=2), 3),
        (dw.Exponential(dw.Words("ab"), 1.0, calibration="textbook"), 2),
        (dw.Exponential(cells, 1.0), 9),
        (dw.Exponential(cells, 2.0, k=2), 9),
        (dw.Exponential(cells, 1.0, calibration="textbook"), 2),
        (dw.Exponential(WORLD, 1.0, utility=dw.Inverse(1.0)), 2),
        (dw.Exponential(lexicon, 1.0), 13),
        (dw.Exponential(lexicon, 1.0, distance="levenshtein"), 13),
        (dw.Online(WORLD, 1.0), 10),
        (dw.best(WORLD, 1.0, length=None), 10),
        (dw.EditChannel("ab", 2.0), 12),
        (dw.Report(dw.Words("ab"), 1.0, "symbols"), 14),
        (dw.Online(WORLD, 1.0).onto(WORLD & dw.rules.contains((1, 1))), 18),
    ]
    assert [mechanism.guarantee.proof for mechanism, _ in proofs] == [section for _, section in proofs]
    assert [SECTIONS[each].partition("\n")[0] for each in (2, 3, 9, 13)] == [
        "The textbook exponential mechanism keeps the promise for all pairs",
        "Free words: the normalising constant costs nothing",
        "Transition systems: certified rates",
        "Lists of words, and finite languages under Levenshtein distance",
    ]


def test_a_seeded_mechanism_has_no_proof() -> None:
    seeded = dw.Exponential(dw.Words("ab"), 1.0).seeded(1)
    assert seeded.summary(3).proof is None
    assert "proof:" not in str(seeded.summary(3))
