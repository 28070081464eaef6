"""Small populations of words, listed one by one, for tests of estimates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.hidden import Hidden
from dpwords.spaces import exhaustive

CELLS = dw.GridWorld(3, 3).by_states()
LANGUAGES: dict[str, tuple[Language, int]] = {
    "free words": (dw.Words("abc"), 3),
    "words of states": (CELLS, 4),
    "words of moves": (dw.GridWorld(3, 3), 4),
    "with a goal": (dw.GridWorld(3, 3, goal=(1, 1)).by_states(), 4),
    "moves with a goal": (dw.GridWorld(2, 3, goal=(1, 2)), 5),
    "any start": (dw.GridWorld(2, 3, start=None).by_states(), 3),
    "many starts": (dw.GridWorld(4, 4, start=None).by_states(), 2),
    "with a rule": (CELLS & dw.rules.contains((1, 1)), 4),
}
FREE = dw.Exponential(dw.Words("abc"), 200.0)  # releases are the words themselves
RUNS = dw.Online(CELLS, 200.0)
WORDS = ["abca", "abc", "ca", "b"] * 20
ROUTES = [[(0, 1), (0, 2), (1, 2)], [(1, 0), (1, 1), (1, 0)]] * 20


def random_chances(hidden: Hidden, seed: int = 1) -> Any:
    """The parameters of a chain, all of them positive."""
    drawn = np.random.default_rng(seed).gamma(1.0, size=len(hidden.groups)) + 0.05
    return drawn / np.bincount(hidden.groups, drawn)[hidden.groups]


def listed(language: Language, length: int) -> tuple[list[Any], Any]:
    """All words of one length, as symbols and as codes."""
    words = exhaustive.words(language, length)
    return words, np.array([[language.alphabet.codes[symbol] for symbol in word] for word in words])


def prior(hidden: Hidden, chances: Any, codes: Any) -> Any:
    """The probability of each listed word under the chain, among all of them: a walk along its edges, one by one."""
    found = []
    for word in codes.tolist():
        state, chance = 0, 1.0
        for symbol in word:
            (edge,) = [k for k in np.flatnonzero(hidden.source == state) if hidden.symbol[hidden.target[k]] == symbol]
            chance *= float(chances[hidden.parameter[edge]])
            state = int(hidden.target[edge])
        found.append(chance)
    return np.array(found) / math.fsum(found)


def channel(mechanism: Private, words: list[Any]) -> Any:
    """Entry [x, w]: the probability that word x is released as word w, by the mechanism's own `log_prob`."""
    laws = [mechanism.given(word) for word in words]
    return np.exp([[law.log_prob(output) for output in words] for law in laws])


def refuse(match: str, call: Any) -> None:
    """The call is refused in one line."""
    with pytest.raises(dw.DPWordsError, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
