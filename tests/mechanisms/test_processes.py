"""Draws in threads, forked and spawned processes; seeds."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import dpwords as dw
from paths import HELPERS


def test_seeded_draws_repeat_and_are_not_private() -> None:
    mechanism = dw.Exponential(dw.Words("abcd"), 1.0)
    one, two = mechanism.seeded(5), mechanism.seeded(5)
    first = [one.release("abcdabcd") for _ in range(20)]
    assert first == [two.release("abcdabcd") for _ in range(20)]
    assert len(set(first)) > 10
    assert isinstance(one.guarantee, dw.NotPrivate)
    assert isinstance(mechanism.guarantee, dw.PureDP)
    with pytest.raises(dw.InvalidValue, match="not known"):
        one.guarantee.true_epsilon(4)


@pytest.mark.parametrize("way", ["fork", "forkserver", "spawn", "threads"])
def test_no_two_proportion_their_randomness(way: str) -> None:
    """Every public mechanism, in every way that it draws, on objects that were used before: see `draws.py`."""
    program = HELPERS / "draws.py"
    done = subprocess.run([sys.executable, program, way], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert (len({result.pop("process") for result in results}) > 1) == (way != "threads")
    names = results[0].keys()
    assert len(names) > 50
    for name in names:
        assert len({result[name] for result in results}) == len(results) == 5, name
