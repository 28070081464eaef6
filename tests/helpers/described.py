"""Recipes of every kind, and what it means that two mechanisms are the same."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dpwords.frames.receipts import language_hash
from dpwords.recipes.description import LARGEST_INCLUDED

SYSTEM = {"start": "s", "transitions": {"s": {"a": "t"}, "t": {"b": "s", "a": "t"}}}
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
SYMBOLS = st.lists(NAMES.filter(lambda text: not set(text) & set("\r\n")), min_size=1, max_size=4, unique=True)
PROMISES = st.fixed_dictionaries(
    {"epsilon": st.floats(0.1, 20)},
    optional={
        "k": st.integers(1, 5),
        "certificate_time": st.floats(0, 100),
        "alpha": st.floats(0.5, 3),
        "utility": st.sampled_from(["best", "inverse", "linear"]),
        "calibration": st.sampled_from(["tight", "textbook"]),
        "mechanism": st.sampled_from(["best", "exponential", "online", "channel"]),
        "edits": st.sampled_from(["substitutions", "all"]),
        "any_word": st.booleans(),
    },
)
LANGUAGES = st.one_of(
    st.fixed_dictionaries({"alphabet": st.one_of(NAMES, SYMBOLS)}, optional={"rules": st.lists(NAMES, max_size=3)}),
    st.fixed_dictionaries(
        {"system": st.just("grid:3x3")},
        optional={"words": st.sampled_from(["moves", "states"]), "walls": st.just("1,1"), "goal": NAMES},
    ),
)
TABLES = st.fixed_dictionaries(
    {},
    optional={
        "input": NAMES,
        "output": NAMES,
        "format": st.sampled_from(["csv", "parquet"]),
        "column": NAMES,
        "separator": NAMES,
        "by": NAMES,
        "budget": st.floats(0.5, 50),
        "split": st.sampled_from(["equal", "first"]),
        "invalid": st.sampled_from(["fail", "skip"]),
        "drop_others": st.booleans(),
        "no_header": st.booleans(),
    },
)
RECIPES = st.builds(lambda *parts: {k: v for part in parts for k, v in part.items()}, LANGUAGES, PROMISES, TABLES)
LARGE = {"start": "0", "transitions": {str(each): {"a": str(each + 1)} for each in range(LARGEST_INCLUDED // 16)}}
EVERY = [
    {"alphabet": "a-c"},
    {"alphabet": ["pay", "ship it", "x'\"\\"], "rules": ["contains:pay"]},
    {"alphabet": "ab", "k": 2, "utility": "inverse", "alpha": 2.0, "calibration": "textbook"},
    {"alphabet": "ab", "edits": "all"},
    {"system": "grid:3x3"},
    {"system": "grid:3x3@any", "words": "states", "walls": "1,1", "rules": ["re:(0,0|0,1|0,2)*"]},
    {"system": "grid:3x3", "mechanism": "online", "goal": "2,2;0,1"},
    {"system": "grid:3x3", "edits": "all", "any_word": True},
    {"system": SYSTEM, "words": "states"},
    {"system": SYSTEM, "mechanism": "exponential", "utility": "linear"},
    {"system": {"name": "roads.csv", "content": "source,target\na,b\nb,a\nb,b\n"}, "start": "a"},
    {"system": {"name": "map.txt", "content": "S..\n.#G\n"}},
    {"lexicon": ["bern", "basel", "rome"]},
    {"lexicon": ["bern", "basel", "rome"], "edits": "all"},
    {"system": "grid:3x3", "words": "states", "report": "visits"},
    {"alphabet": "abc", "report": "symbols"},
    {"system": "grid:2x2", "words": "states", "mechanism": "exponential", "certificate_time": 0},
    {"system": "grid:2x2", "words": "states", "certificate_time": 0},
]


def same_mechanism(one: Any, other: Any) -> None:
    length = next(length for length in (4, 3, 5) if one.language.count(length))
    assert type(one) is type(other)
    assert language_hash(one) == language_hash(other)
    assert one.guarantee == other.guarantee
    assert one.parameters(length) == other.parameters(length)
