"""Draws of every public mechanism in several processes or threads, for `test_processes.py`.

Usage: python draws.py WAY

WAY is "fork", "spawn", "threads", or "forkserver", with processes of concurrent.futures. The mechanisms have
released words before, and streams are half used, when the others begin. What each of them draws is printed as JSON. An
output is one of at least 2⁶⁴ that are about equally likely, so that two alike tell of a shared stream of random bits.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import dpwords as dw

WORKERS, TIMES = 2, 4
LETTERS, WORLD = dw.Words("abcdefgh"), dw.GridWorld(4, 4, (1, 1))
TEXT, MOVES = "abcdefgh" * 8, "EWNS" * 16
CELLS = WORLD.run(MOVES)
EVERY: dict[str, tuple[Any, Any]] = {
    "words": (dw.Exponential(LETTERS, 0.1), TEXT),
    "words, k": (dw.Exponential(LETTERS, 0.1, k=3), TEXT),
    "moves": (dw.Exponential(WORLD, 0.1), MOVES),
    "cells": (dw.Exponential(WORLD.by_states(), 0.1, calibration="textbook"), CELLS),
    "plans": (dw.Exponential(WORLD.plans(), 0.1, calibration="textbook"), MOVES),
    "online": (dw.Online(WORLD, 0.1), MOVES),
    "online, words": (dw.Online(LETTERS, 0.1), TEXT),
    "channel": (dw.EditChannel("abcdefgh", 3.0), TEXT),
    "channel onto": (dw.EditChannel(WORLD.alphabet.symbols, 2.0, onto=WORLD), MOVES),
    "projected": (dw.Exponential(LETTERS, 0.1).onto(LETTERS & dw.rules.contains("a", "b")), TEXT),
    "report": (dw.Report(LETTERS, 1.0, "symbols"), TEXT),
    "best": (dw.best(WORLD, 0.1, length=None), MOVES),
    "lexicon": (dw.Exponential(dw.Lexicon([f"{number:04}" for number in range(1000)]), 0.1), "0123"),
    "literal": (dw.PaperLiteral(LETTERS, 0.1), TEXT),
}
REPEATED = {"report": 40, "lexicon": 10, "literal": 20}  # whose outputs are few, or one of them is likely


def used() -> dict[str, Any]:
    """The mechanisms after a release, and streams after some symbols."""
    for name, (mechanism, word) in EVERY.items():
        mechanism.simulate(word, 1) if name == "literal" else mechanism.release(word)
    streams = {name: EVERY[name][0].stream() for name in ("online", "online, words")}
    for name, stream in streams.items():
        for symbol in EVERY[name][1][:7]:
            stream.push(symbol)
    return {"mechanisms": {name: mechanism for name, (mechanism, _) in EVERY.items()}, "streams": streams}


def drawn(objects: dict[str, Any], _turn: int = 0) -> dict[str, str]:
    """What a worker draws: with every mechanism, in every way that it offers."""
    found: dict[str, Any] = {}
    for name, mechanism in objects["mechanisms"].items():
        word, times = EVERY[name][1], REPEATED.get(name, 1)
        found[f"{name}: simulate"] = mechanism.simulate(word, times)
        if name == "literal":
            continue
        found[f"{name}: release"] = [mechanism.release(word) for _ in range(times)]
        found[f"{name}: release_all"] = mechanism.release_all([word] * times)
        codes = np.array(
            [[mechanism.language.alphabet.codes[symbol] for symbol in mechanism.language.read(tuple(word))]] * times
        )
        found[f"{name}: release_codes"] = [row.tolist() for row in mechanism.release_codes(codes)]
        table = pa.table({"w": [word if isinstance(word, str) else [list(cell) for cell in word]] * times})
        found[f"{name}: frames"] = dw.frames.release(mechanism, table, "w")["w"].to_pylist()
    for name, stream in objects["streams"].items():
        own = pickle.loads(pickle.dumps(stream))  # threads do not share the position in a word
        found[f"{name}: stream"] = [own.push(symbol) for symbol in EVERY[name][1]]
    return {name: json.dumps(some, default=sorted) for name, some in found.items()} | {"process": str(os.getpid())}


SHARED: dict[str, Any] = {}  # what a forked process inherits


def inherited(turn: int) -> dict[str, str]:
    return drawn(SHARED, turn)


def main(way: str) -> None:
    SHARED.update(used())
    work: Callable[[int], dict[str, str]] = inherited if way in ("fork", "threads") else partial(drawn, SHARED)
    if way == "threads":
        with ThreadPoolExecutor(WORKERS) as threads:
            results = list(threads.map(work, range(TIMES)))
    elif way == "forkserver":
        with ProcessPoolExecutor(WORKERS, multiprocessing.get_context(way)) as processes:
            results = list(processes.map(work, range(TIMES)))
    else:
        with multiprocessing.get_context(way).Pool(WORKERS) as pool:
            results = pool.map(work, range(TIMES), chunksize=1)
    print(json.dumps([*results, drawn(SHARED)]))


if __name__ == "__main__":
    main(sys.argv[1])
