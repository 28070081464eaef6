"""The same key draws the same word on every machine, however its mathematical library rounds (theory, section 8).

IEEE arithmetic (+, −, ·, /) and integers are the same everywhere. Exponentials and logarithms are not: libraries differ
in the last digit. Here all of them are made to.
"""

from __future__ import annotations

import ast
import functools
import gc
import math
import warnings
import zlib
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core import elementary
from dpwords.core.compiled import kernel
from dpwords.core.limits import Limits
from dpwords.errors import TooLarge
from dpwords.mechanisms.choice import best_by_length
from dpwords.mechanisms.private import Private
from dpwords.privacy.certificates.certificate import on_grid
from test_contract import MECHANISMS
from zoo import ALL, FINITE

with warnings.catch_warnings(action="ignore"):  # that little of a word remains
    from draws import EVERY
pytestmark = pytest.mark.filterwarnings("ignore:of each word only")
KEY = bytes(range(32))
IN_NUMPY = ("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "power", "sin", "cos", "arctan2")
IN_MATH = ("exp", "exp2", "expm1", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "cos", "atan2")
CELLS, UNLISTED = dw.GridWorld(3, 3).by_states(), Limits(certified_words=0)
RATES: dict[str, tuple[Callable[[float], Private], int]] = {
    "listed": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon), 5),
    "listed, staircase": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon, k=2, utility=dw.Staircase()), 5),
    "range": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon, limits=UNLISTED), 6),
    "either": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon, k=2, limits=UNLISTED), 6),
    "blocks": (lambda epsilon: dw.Exponential(CELLS, epsilon, limits=UNLISTED), 9),
    "words by distance": (lambda epsilon: dw.Exponential(dw.Words("abcd"), epsilon, k=3), 12),
    "list by edits": (lambda epsilon: dw.Exponential(FINITE["cities"][0], epsilon, distance="levenshtein"), 6),
    "selection": (lambda epsilon: dw.Report(dw.GridWorld(6, 6), epsilon), 5),
    "best": (lambda epsilon: dw.best(ALL["walls"][0], epsilon, length=None), 6),
}
EPSILONS = (0.3, 0.9, 1.7, 2.6, 3.1, 4.4, 6.3, 9.2)


class Off:
    """A mathematical function whose results are one unit in the last place off, except those that every library has."""

    def __init__(self, function: Any, direction: Callable[[float], float]) -> None:
        self.function, self.direction = function, direction

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        found = self.function(*arguments, **options)
        if np.iscomplexobj(found):
            return found
        plain = np.asarray(found, dtype=np.float64)
        towards = np.array([self.direction(value) for value in plain.ravel().tolist()]).reshape(plain.shape)
        moved = np.where(np.isin(plain, (0.0, 1.0, np.inf, -np.inf)), plain, np.nextafter(plain, towards))
        return float(moved) if isinstance(found, float) and not isinstance(found, np.floating) else moved[()]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


DIRECTIONS: dict[str, Callable[[float], float]] = {
    "up": lambda value: math.inf,
    "down": lambda value: -math.inf,
    "either": lambda value: math.inf if zlib.crc32(value.hex().encode()) % 2 else -math.inf,
}


def forget() -> None:
    """Empty all caches of computed numbers."""
    for each in gc.get_objects():
        if type(each) is functools._lru_cache_wrapper and (each.__module__ or "").startswith("dpwords."):
            each.cache_clear()


def facts(mechanism: Private, length: int) -> str:
    """Everything that determines the draws at words of one length, given key, id and word."""
    return mechanism._parameters(mechanism._drawing(length))


def everything() -> dict[str, Any]:
    """What every mechanism draws with one key, and what its draws depend on."""
    forget()
    found: dict[str, Any] = {}
    for name, (mechanism, word) in EVERY.items():
        if isinstance(mechanism, Private):
            again = mechanism.like()
            found[name] = facts(again, len(word)), again.release_all([word] * 3, key=KEY)
    for name, (mechanism, length) in MECHANISMS.items():
        found[name] = facts(mechanism if name == "uniform" else mechanism.like(), length)
    for name, (make, length) in RATES.items():
        for epsilon in EPSILONS:
            found[f"{name}, {epsilon}"] = facts(make(epsilon), length)
    return found


@pytest.fixture(scope="module")
def here() -> dict[str, Any]:
    """What this machine draws."""
    return everything()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_last_digit_of_exp_and_log_has_no_effect(
    here: dict[str, Any], direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [math.exp(power / 7) for power in range(1, 50)]
    for module, names in ((np, IN_NUMPY), (math, IN_MATH)):
        for name in names:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, Off(getattr(module, name), DIRECTIONS[direction]))
    assert all(math.exp(power / 7) != true for power, true in enumerate(before, start=1))
    there = everything()
    assert {name for name in here if here[name] != there[name]} == set()


def test_a_machine_with_little_memory_does_not_choose_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_little(needed: int) -> None:
        raise MemoryError

    best_by_length(ALL["walls"][0], 2.0, limits=UNLISTED).at(6)
    monkeypatch.setattr("dpwords.spaces.lattice.check_memory", too_little)
    with pytest.raises(TooLarge, match="not enough memory"):
        best_by_length(ALL["walls"][0], 2.0, limits=UNLISTED).at(6)


PACKAGES = ("_kernels", "core", "languages", "mechanisms", "privacy", "spaces")
TELLING = {  # no draw depends on them: they tell probabilities, estimate, report progress or write messages
    "_kernels/alignments.py": {"add_uses", "forward"},
    "_kernels/by_distance.py": {"forward", "log_totals"},
    "_kernels/edit_channel.py": {"log_prob", "log_probs", "log_sum"},
    "_kernels/edit_model.py": {"add_uses", "add_uses_each", "forward"},
    "_kernels/edited.py": {"backward", "guess_of", "guessed_each", "scaled"},
    "_kernels/hidden.py": {"expected", "log_likelihoods"},
    "core/scaled.py": {"logs"},
    "privacy/certificates/reweighted_search.py": {"progress_of", "tick"},
    "privacy/guarantees.py": {"certainty", "ratio"},
    "spaces/edit_channel.py": {
        "_listed_edits", "_log_of_one_and", "distance_distribution", "log_insertions", "log_operations", "log_radius",
    },
    "spaces/exhaustive.py": {"_rounded", "log_probs"},
    "spaces/free_words.py": {"distances", "log_prob"},
    "spaces/online.py": {"log_prob"},
    "spaces/projection.py": {"log_prob", "probabilities"},
    "spaces/questions.py": {"log_prob", "log_proportions"},
}  # fmt: skip


def calls() -> Iterator[tuple[str, str, str]]:
    """File, function and name of every call of a mathematical library that is not exact."""
    top = Path(dw.__file__).parent
    for path in sorted(path for package in PACKAGES for path in (top / package).rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    names = {"np": IN_NUMPY, "math": IN_MATH}.get(node.value.id, ())
                    if node.attr in names:
                        yield path.relative_to(top).as_posix(), function.name, node.attr


def test_only_what_tells_of_draws_calls_the_mathematical_library() -> None:
    """Compiled loops among them, which cannot be made to round otherwise."""
    found: dict[str, set[str]] = {}
    for file, function, _ in calls():
        found.setdefault(file, set()).add(function)
    assert found == TELLING


def test_logarithms_are_right_and_alike_everywhere() -> None:
    """In plain Python, in arrays and in compiled loops; the truth is to 50 digits, by decimal arithmetic."""
    some = np.random.default_rng(1)
    values = np.concatenate([
        some.uniform(0.5, 2.0, 1000), 1 + some.uniform(-1e-9, 1e-9, 1000), 2.0 ** some.uniform(-1070, 1020, 1000),
        [1.0, 2.0, 5e-324, 1e-310, 0.5**0.5, 2**0.5, np.finfo(np.float64).max],
    ])  # fmt: skip
    for value, found in zip(values.tolist(), elementary.logs(values).tolist(), strict=True):
        assert found == elementary.log(value) == kernel("elementary").log(value)
        truth = Decimal(value).ln(Context(prec=50))
        assert abs(Decimal(found) - truth) <= 4 * Decimal(math.ulp(float(truth)))
    for log in (elementary.log, kernel("elementary").log):
        assert (log(0.0), log(math.inf)) == (-math.inf, math.inf)
        assert math.isnan(log(-1.0))
        assert math.isnan(log(math.nan))


def test_exponentials_are_rounded_once() -> None:
    for power in (-700.5, -3.0, -1e-9, 0.0, 0.7, 50.0):
        assert elementary.exp(power) == float(Decimal(power).exp(Context(prec=50)))
    assert elementary.exp(-800.0) == 0.0


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 0.7, 1.0, 3.999, 64.0, 1e6])
def test_rates_lose_less_than_a_millionth_on_their_grid(epsilon: float) -> None:
    for proportion in np.random.default_rng(3).uniform(0.5, 1.0, 100).tolist():
        c = proportion * epsilon
        assert c * (1 - 1e-6) < on_grid(c, epsilon) <= c
        assert on_grid(on_grid(c, epsilon), epsilon) == on_grid(c, epsilon)
    assert on_grid(-math.inf, epsilon) == -math.inf


def test_sums_have_an_order_of_their_own() -> None:
    """They are what IEEE additions in this order give, whatever the machine likes best."""
    rows, weights = np.array([[1e16, 3.0], [1.0, 0.5], [-1e16, 1.0]]), np.array([1.0, 1.0, 1.0])
    assert elementary.weighted_sum(rows, weights).tolist() == [1e16 - 1e16 + 1.0, 4.5]
    many = np.random.default_rng(2).random((1000, 70))
    found = elementary.weighted_sum(many, many[:, 0])
    assert found == pytest.approx([math.fsum(column * many[:, 0]) for column in many.T], rel=1e-13)


def test_ties_go_to_the_first_whatever_the_last_digit() -> None:
    third = 1 / 3
    assert elementary.index_of_least([third, math.nextafter(third, 0.0), 2.0]) == 0
    assert elementary.index_of_least([math.nan, 0.5, third]) == 2
    assert elementary.index_of_least([math.nan, math.nan]) == 0
    assert elementary.index_of_least([1.0, 0.0, 0.0]) == 1
