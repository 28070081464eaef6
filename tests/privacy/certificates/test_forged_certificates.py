"""Certificates from elsewhere: whatever a file says, the promise is kept, as the exact audit measures it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpwords as dw

EPSILON = 3.0
CELLS = dw.GridWorld(2, 3).by_states()
LISTED = ["abc", "abd", "bbd", "aac", "ccc", "cab", "dab", "bad", "dad", "cad"]
MADE: dict[str, tuple[Callable[[], dw.Exponential], tuple[int | None, ...], int]] = {
    # a mechanism, what its certificates are asked for, and the length of the words that are audited
    "words of states": (lambda: dw.Exponential(CELLS, EPSILON), (3, 5, None), 5),
    "moves": (lambda: dw.Exponential(dw.GridWorld(2, 3), EPSILON), (3, 5), 5),
    "staircase": (lambda: dw.Exponential(CELLS, EPSILON, k=2, utility=dw.Staircase()), (5,), 5),
    "linear, k = 2": (lambda: dw.Exponential(CELLS, EPSILON, k=2, utility=dw.Linear()), (5, None), 5),
    "lexicon": (lambda: dw.Exponential(dw.Lexicon(LISTED), EPSILON), (3,), 3),
    "lexicon, all edits": (lambda: dw.Exponential(dw.Lexicon(LISTED), EPSILON, distance="levenshtein"), (None,), 3),
    "free words": (lambda: dw.Exponential(dw.Words("abc"), EPSILON), (4,), 4),
}
METHODS = ["listed", "listed, balanced", "blocks", "blocks, levelled", "range", "textbook", "every word"]


def forgeries(certificate: dict[str, Any], draw: random.Random) -> list[dict[str, Any]]:
    """Changes of one field, of each field in turn, and of several at once."""
    epsilon, length = certificate["epsilon"], certificate["length"]
    values: dict[str, list[Any]] = {
        "c": [epsilon, math.nextafter(epsilon, 0), 0.99 * epsilon, 0.8 * epsilon, epsilon / 2, 2 * epsilon, math.inf],
        "bound": [0.0, epsilon, -1.0],
        "method": METHODS,
        "epsilon": [2 * epsilon, epsilon + 0.5, math.inf],
        "length": [0, 1, length - 1, length + 1, 5, 10**6, 10**400],
        "step": [1, 2, 5],
        "first": [0, 1, 5, 10**400],
        "longest": [None, length, 5, 10**6, 10**400],
        "detail": [[], [2, 1, 9], [3, 2, 30], [0, 0, 0], [-1, 10**9, 5], [10**400, 1, 9]],
    }
    single = [{name: value} for name, found in values.items() for value in found]
    several = [
        {name: draw.choice(values[name]) for name in draw.sample(sorted(values), draw.randint(2, 5))} for _ in range(30)
    ]
    return single + several


@pytest.mark.parametrize("name", MADE)
def test_a_forged_file_never_costs_more_than_was_promised(name: str, tmp_path: Path) -> None:
    """A certificate is refused, and then nothing has changed; or it holds, as is measured over all pairs of words."""
    make, asked, audited = MADE[name]
    honest, path = make(), tmp_path / "certificates.json"
    for length in asked:
        honest.certificate(length)
    honest.certificate.save(path)
    document, draw = json.loads(path.read_text("utf-8")), random.Random(name)
    refused, loaded = 0, 0
    for number, certificate in enumerate(document["certificates"]):
        for change in forgeries(certificate, draw):
            forged = [*document["certificates"]]
            forged[number] = certificate | change
            path.write_text(json.dumps({"certificates": forged}), encoding="utf-8")
            mechanism = make()
            untouched = repr(mechanism.certificate)
            try:
                mechanism.certificate.load(path)
            except dw.InvalidValue:
                refused += 1
                assert repr(mechanism.certificate) == untouched
            else:
                loaded += 1
                assert dw.audit.exact(mechanism, audited, draws=0).epsilon <= EPSILON, change
    assert refused > 20  # most of them
    assert loaded > 0  # for instance one that claims another bound: it is computed anew
