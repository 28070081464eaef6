"""Draws in threads, forked and spawned processes; seeds."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import dpwords as dw


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


def test_threads_do_not_share_draws() -> None:
    mechanism = dw.Exponential(dw.Words("abcdefgh"), 0.1)
    with ThreadPoolExecutor(8) as pool:
        outs = list(pool.map(lambda _: mechanism.release("abcdefgh" * 8), range(200)))
    assert len(set(outs)) == 200


def test_a_forked_process_draws_anew() -> None:
    script = """
import os
import dpwords as dw
mechanism = dw.Exponential(dw.Words("abcdefgh"), 0.1)
mechanism.release("abcdefgh")
child = os.fork()
os.write(1, mechanism.release("abcdefgh" * 8).encode() + b"\\n")
if child: os.wait()
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert len(out) == 2
    assert out[0] != out[1]
