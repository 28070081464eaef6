"""No private word in the exceptions of the Python interface, nor in a mechanism after its releases."""

from __future__ import annotations

import logging
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpwords as dw
from canaries import CELLS, MOVES, RUN, SECRET, SIDE, START, chain, leaks, parts_of, raised

WORLD = dw.GridWorld(SIDE, SIDE, START)
LETTERS = dw.Words("abcdefghijklmnopqrstuvwxyz")
EPSILON = 0.01
LONG = tuple(CELLS)
PICK = random.Random(5)
OTHERS = ["".join(PICK.choices("abcdefghijklmnopqrstuvwxyz", k=len(RUN))) for _ in range(200)]
MECHANISMS: dict[str, tuple[Callable[[], Any], Any]] = {  # with a word of its language
    "words": (lambda: dw.Exponential(LETTERS, EPSILON), RUN),
    "words, k": (lambda: dw.Exponential(LETTERS, EPSILON, k=2), RUN),
    "words, inverse": (lambda: dw.Exponential(LETTERS, EPSILON, utility=dw.Inverse(1.0)), RUN),
    "moves": (lambda: dw.Exponential(WORLD, EPSILON), MOVES),
    "cells": (lambda: dw.Exponential(WORLD.by_states(), EPSILON, calibration="textbook"), LONG),
    "plans": (lambda: dw.Exponential(WORLD.plans(), EPSILON, calibration="textbook"), MOVES),
    "online, plans": (lambda: dw.Online(WORLD.plans(), EPSILON), MOVES),
    "rule": (lambda: dw.Exponential(LETTERS & dw.rules.contains("q"), EPSILON), RUN),
    "online": (lambda: dw.Online(WORLD, EPSILON), MOVES),
    "online, words": (lambda: dw.Online(LETTERS, EPSILON), RUN),
    "channel": (lambda: dw.EditChannel("abcdefghijklmnopqrstuvwxyz", 5.0), RUN * 3),
    "channel onto": (lambda: dw.EditChannel(WORLD.alphabet.symbols, 4.0, onto=WORLD), MOVES),
    "projected": (lambda: dw.Exponential(LETTERS, EPSILON).onto(LETTERS & dw.rules.contains("q")), RUN),
    "report": (lambda: dw.Report(LETTERS, 1.0, "symbols"), RUN),
    "best": (lambda: dw.best(WORLD, EPSILON, length=None), MOVES),
    "literal": (lambda: dw.PaperLiteral(LETTERS, 1.0), RUN),
}


class Odd:
    """A symbol that shows itself."""

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return SECRET


BAD: list[Any] = [
    SECRET,
    [SECRET],
    [SECRET] * 40,
    (SECRET, *RUN),
    [[SECRET]],
    [{SECRET}],
    {SECRET: 1},
    {SECRET},
    SECRET.encode(),
    Odd(),
    [Odd()] * 5,
    np.array([SECRET]),
    np.array([Odd()]),
    (letter for letter in SECRET),
    [(7, SECRET)] * 3,
    RUN + SECRET,
    MOVES + "N" * 20,
    "",
]
CALLS: dict[str, Callable[[Any, Any], object]] = {
    "release": lambda mechanism, word: mechanism.release(word),
    "release_all": lambda mechanism, word: mechanism.release_all([word]),
    "release_all of it": lambda mechanism, word: mechanism.release_all(word),
    "release_codes": lambda mechanism, word: mechanism.release_codes(word),
    "given": lambda mechanism, word: mechanism.given(word),
    "simulate": lambda mechanism, word: mechanism.simulate(word, 2),
    "expected_distance": lambda mechanism, word: mechanism.expected_distance(word),
    "distance_distribution": lambda mechanism, word: mechanism.distance_distribution(word),
    "log_prob": lambda mechanism, word: mechanism.log_prob(word, given=word),
    "push": lambda mechanism, word: mechanism.stream(length=3).push(word),
    "accepts": lambda mechanism, word: mechanism.language.accepts(word),
    "run": lambda mechanism, word: mechanism.language.run(word),
    "moves": lambda mechanism, word: mechanism.language.moves(word),
    "estimate": lambda mechanism, word: dw.estimate.lengths([word, word], mechanism),
    "automaton": lambda mechanism, word: dw.LevenshteinAutomaton(word, 1, "abc"),
    "runs": lambda mechanism, word: dw.plots.runs(WORLD, {"": [word]}),
}


@pytest.mark.filterwarnings("ignore:the estimates are rough")
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_exception_shows_a_symbol(name: str, caplog: pytest.LogCaptureFixture) -> None:
    make, _ = MECHANISMS[name]
    mechanism, refused = make(), 0
    with caplog.at_level(logging.DEBUG):
        for title, call in CALLS.items():
            for number, bad in enumerate(BAD):
                error = raised(lambda call=call, bad=bad: call(mechanism, bad))  # type: ignore[misc]
                if error is None or (isinstance(error, AttributeError) and "has no attribute" in str(error)):
                    continue
                refused += 1
                assert isinstance(error, dw.DPWordsError), (title, number, repr(error))
                assert not leaks(chain(error)), (title, number, chain(error))
    assert refused > 50
    assert not leaks(caplog.text)


TABLES: list[Any] = [
    {"w": [RUN, SECRET]},
    {"w": [RUN, None]},
    {"w": [list(RUN), [SECRET]]},
    {"w": [[1, 2], [3]]},
    {"w": [{"a": SECRET}]},
    {"w": [SECRET.encode()]},
    {SECRET[:1]: ["a"], "x": [SECRET]},
]


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_no_exception_about_a_table_shows_a_symbol(kind: Any) -> None:
    mechanism = dw.Exponential(LETTERS, EPSILON)
    for number, columns in enumerate(TABLES):
        for options in ({"column": "w"}, {"columns": "w*"}, {"case": "w", "symbol": "w"}, {"column": "w", "by": "v"}):
            error = raised(lambda c=columns, o=options: dw.frames.release(mechanism, kind(c), **o))  # type: ignore[misc]
            assert isinstance(error, dw.DPWordsError), (number, options, repr(error))
            assert not leaks(chain(error)), (number, options, chain(error))


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_forgets_its_words(name: str) -> None:
    """Its text, its attributes and its pickle are the same kind of public facts before and after releases."""
    make, word = MECHANISMS[name]
    mechanism = make()
    if name == "literal":
        mechanism.simulate(word, 2)
    else:
        mechanism.release(word)
        mechanism.release_all([word, word])
        mechanism.release_all([word], ids=[0], key=bytes(32))
        mechanism.summary(len(word))
    distribution = mechanism.given(word)
    distribution.simulate(2)
    assert not leaks(repr(mechanism) + str(mechanism.guarantee) + repr(distribution))
    assert not leaks(pickle.dumps(mechanism))
    for part in parts_of(mechanism):
        assert not leaks(part), part[:300]


def test_a_stream_forgets_its_symbols() -> None:
    stream = dw.Online(WORLD, EPSILON).stream()
    for move in MOVES:
        stream.push(move)
    assert not leaks(pickle.dumps(stream))
    assert not any(map(leaks, parts_of(stream)))


def test_the_search_reaches_attributes_and_chains() -> None:
    class Holder:
        def __init__(self, word: Any) -> None:
            self.held = {"deep": [word]}

    for word in (RUN, list(RUN), np.array([ord(letter) - ord("a") for letter in RUN])):
        assert any(map(leaks, parts_of(Holder(word))))

    def chained() -> None:
        try:
            {}[SECRET]
        except KeyError:
            raise dw.InvalidValue("a rule: a remedy") from None

    def decoded() -> None:
        try:
            (SECRET.encode() + b"\xff").decode()
        except UnicodeDecodeError:
            raise dw.InvalidValue("a rule: a remedy") from None

    def noted() -> None:
        error = dw.InvalidValue("a rule: a remedy")
        error.held = [SECRET]  # type: ignore[attr-defined]
        raise error

    for call in (chained, decoded, noted):
        error = raised(call)
        assert error is not None
        assert leaks(chain(error))


def test_released_tables_have_no_private_word_beside_their_rows() -> None:
    """Neither in metadata nor in dictionaries, categories, types or attributes, nor of a row that is left out."""
    mechanism = dw.Exponential(LETTERS, EPSILON)
    rows = {"who": ["ann", SECRET, "bob"], "word": [RUN, SECRET, RUN]}
    who = pa.field("who", pa.dictionary(pa.int32(), pa.string()), metadata={"vals": SECRET})
    schema = pa.schema([who, pa.field("word", pa.string())], metadata={"words": SECRET})
    arrow = pa.table([pa.array(rows["who"]).dictionary_encode(), rows["word"]], schema=schema)
    frame = pd.DataFrame(rows).astype("category").set_index(pd.CategoricalIndex(rows["who"], name="index"))
    frame.attrs = {"words": SECRET}
    enums = pl.DataFrame(rows).cast({"who": pl.Enum(rows["who"]), "word": pl.Enum([RUN, SECRET])})
    for table in (arrow, arrow.to_batches()[0], frame, frame["word"], enums, enums["word"]):
        assert any(map(leaks, parts_of(table)))
        where = {} if isinstance(table, (pd.Series, pl.Series)) else {"column": "word"}
        released = dw.frames.release(mechanism, table, invalid="skip", **where)
        assert [form for part in parts_of(released) for form in leaks(part)] == []
