"""The public names are frozen: adding one is a decision, losing one is a break."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature

import pytest

import dpwords as dw
from dpwords.core.limits import Limits

PUBLIC = [
    "DPWordsError",
    "EditChannel",
    "Exponential",
    "GridWorld",
    "InvalidValue",
    "Inverse",
    "Ledger",
    "LevenshteinAutomaton",
    "Lexicon",
    "Linear",
    "MissingExtra",
    "NotDeterministic",
    "NotInLanguage",
    "NotPrivate",
    "Online",
    "PaperLiteral",
    "Pattern",
    "PureDP",
    "Recipe",
    "Report",
    "Staircase",
    "TooLarge",
    "TransitionSystem",
    "Words",
    "accuracy",
    "attack",
    "audit",
    "estimate",
    "best",
    "frames",
    "from_dfa",
    "from_dot",
    "from_edges",
    "from_graphml",
    "from_gymnasium",
    "from_json",
    "from_log",
    "from_map",
    "from_networkx",
    "from_tulip",
    "plots",
    "rules",
    "spark",
    "to_dfa",
    "to_dot",
    "to_networkx",
]


def test_public_names() -> None:
    assert sorted(dw.__all__) == sorted(PUBLIC)
    assert set(PUBLIC) <= set(dir(dw))
    for name in PUBLIC:
        assert getattr(dw, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Secret'"):
        dw.Secret  # noqa: B018


def test_signatures_are_those_of_the_constructors() -> None:
    """`help` and editors show what a class takes, and of its limits only those that are not the usual ones."""
    assert [*signature(dw.Words).parameters] == ["alphabet", "max_length"]
    assert [*signature(dw.Online).parameters] == ["language", "epsilon", "k", "limits"]
    assert str(signature(dw.Online).parameters["limits"]).endswith("= Limits()")
    assert repr(Limits(memory=2**20, threads=10**6)) == "Limits(memory=1048576, threads=1000000)"


def test_errors_are_what_they_say() -> None:
    assert issubclass(dw.InvalidValue, ValueError)
    assert issubclass(dw.TooLarge, MemoryError)
    assert issubclass(dw.MissingExtra, ImportError)
    for error in (dw.MissingExtra, dw.InvalidValue, dw.NotInLanguage, dw.NotDeterministic, dw.TooLarge):
        assert issubclass(error, dw.DPWordsError)


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ("numpy", "numba", "cryptography", "click", "rich", "starlette")
    script = f"import sys, dpwords; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
