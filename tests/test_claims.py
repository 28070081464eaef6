"""Ways in which a program could give less privacy than it claims, each of them closed."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.privacy.utilities import Utility
from dpwords.spaces import exhaustive
from zoo import SYSTEMS


def certificates(path: Path, mechanism: dw.Exponential, length: int) -> list[Path]:
    """Two files with valid certificates of one mechanism: the best one, and the textbook's."""
    mechanism.certificate(length)
    best, textbook = path / "best.json", path / "textbook.json"
    mechanism.certificate.save(best)
    document = json.loads(best.read_text("utf-8"))
    document["certificates"][0] |= {"c": document["certificates"][0]["epsilon"] / 2, "method": "textbook"}
    textbook.write_text(json.dumps(document), encoding="utf-8")
    return [best, textbook]


def test_rate_and_base_measure_are_read_together(tmp_path: Path) -> None:
    """While another thread loads certificates, every law is that of one of them, never of the rate of one and the base
    measure of the other, which would lose more than ε."""
    cells = dw.GridWorld(3, 3).by_states()
    files = certificates(tmp_path, dw.Exponential(cells, 3.0), 4)
    mechanism = dw.Exponential(cells, 3.0)
    words = exhaustive.words(cells, 4)
    x, w = words[0], words[5]
    valid = set()
    for file in files:
        mechanism.certificate.load(file)
        valid.add(mechanism.log_prob(w, given=x))
    assert len(valid) == 2
    stop = threading.Event()

    def keep_loading() -> None:
        while not stop.is_set():
            for file in files:
                mechanism.certificate.load(file)

    interval = sys.getswitchinterval()
    loader = threading.Thread(target=keep_loading)
    try:
        sys.setswitchinterval(1e-6)
        loader.start()
        seen = {mechanism.log_prob(w, given=x) for _ in range(1500)}
    finally:
        stop.set()
        loader.join()
        sys.setswitchinterval(interval)
    assert seen <= valid


def test_a_forked_stream_does_not_repeat_its_randomness() -> None:
    script = """
import os
import dpwords as dw
stream = dw.Online(dw.Words("abcdefgh"), 0.1).stream()
stream.push("a")
pipes = []
for _ in range(2):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, "".join(stream.push("a") for _ in range(60)).encode())
        os._exit(0)
    os.close(write)
    pipes.append(read)
outs = [os.read(read, 100) for read in pipes]
print(len(outs[0]), outs[0] == outs[1])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["60", "False"]


@pytest.mark.parametrize("name", ["epsilon", "k", "distance", "language"])
def test_what_is_claimed_cannot_be_changed_afterwards(name: str) -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 10)
    before = str(mechanism.guarantee)
    with pytest.raises(AttributeError, match="read-only"):
        setattr(mechanism, name, 0.1)
    with pytest.raises(AttributeError, match="read-only"):
        delattr(mechanism, name)
    assert str(mechanism.guarantee) == before
    with pytest.raises(AttributeError, match="read-only"):
        mechanism.language.alphabet = dw.Words("abc").alphabet
    with pytest.raises(AttributeError, match="read-only"):
        mechanism.release = lambda word: word  # type: ignore[method-assign]
    with pytest.raises(TypeError):
        mechanism.language.alphabet.codes["a"] = 1  # type: ignore[index]
    for owner, new in (
        (mechanism.language, "max_length"),
        (mechanism, "anything"),
        (mechanism.certificate, "certified"),
    ):
        with pytest.raises(AttributeError, match="read-only"):
            setattr(owner, new, 2)


@pytest.mark.parametrize(
    "mechanism",
    [
        dw.Exponential(dw.Words("ab"), 1.0),
        dw.Exponential(dw.Words("ab"), 1.0, k=2),
        dw.Exponential(dw.GridWorld(3, 3).by_states(), 3.0),
        dw.Exponential(dw.GridWorld(3, 3).by_states(), 3.0, limits=Limits(certified_words=0)),
        dw.Exponential(dw.GridWorld(3, 3), 3.0, utility=dw.Inverse(1.0)),
        dw.EditChannel("ab", 3.0),
    ],
)
def test_arrays_that_mechanisms_proportion_are_read_only(mechanism: dw.Exponential) -> None:
    """Else a change to one distribution would change the draws of other mechanisms, whatever they claim."""
    word: Any = [(0, 1), (0, 2), (1, 2), (2, 2)] if (0, 1) in mechanism.language.alphabet else "abab"
    law: Any = mechanism.given(word if mechanism.language.accepts(word) else "EESS").law
    shared = [getattr(law, "weights", None), getattr(law, "channel", None), getattr(law, "words", None)]
    around, lattice = getattr(law, "around", None), getattr(law, "lattice", None)
    shared += [getattr(law.weights, "totals", None) if around is not None else None, getattr(around, "sizes", None)]
    shared += [getattr(each, "graph", None) for each in (lattice, getattr(around, "lattice", None))]
    arrays = [array for each in shared if each is not None for array in arrays_of(each)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)


def arrays_of(value: Any) -> list[Any]:
    """The arrays of a stored number, a channel or a graph."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_of(part)]
    names = ("operations", "growth", "symbol", "target", "first", "accepting", "weight", "ending", "totals", "rows")
    return [array for name in names for array in arrays_of(getattr(value, name, ()))]


class Bump(Utility):
    """A utility that grows at distance 1."""

    def values(self, length: int, k: int) -> list[Fraction]:
        return [Fraction(0), *(Fraction(5 - d) for d in range(length))]


class Floating(Utility):
    """A utility that is not exact."""

    def values(self, length: int, k: int) -> list[Fraction]:
        return [-0.5 * d for d in range(length + 1)]  # type: ignore[misc]


class Flat(Utility):
    """A utility without preference."""

    def values(self, length: int, k: int) -> list[Fraction]:
        return [Fraction(1)] * (length + 1)


def test_a_utility_that_the_proofs_do_not_cover_is_refused() -> None:
    for utility in (Bump(), Floating()):
        for language in (dw.Words("ab"), dw.GridWorld(3, 3)):
            with pytest.raises(dw.InvalidValue, match="never grow with the distance"):
                dw.Exponential(language, 1.0, utility=utility).expected_distance(length=3)
    assert dw.Exponential(dw.Words("ab"), 1.0, utility=Flat()).expected_distance("abab") == pytest.approx(2.0)


def crowded_lexicon() -> dw.Lexicon:
    """12,000 words that are alone, and one word with 300 others around it: the normalising constant of that one is far
    larger."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    alone = ["".join(draw.choices(letters, k=30)) for _ in range(12_000)]
    centre = "m" * 12
    beside = [f"{centre[:i]}{letter}{centre[i + 1 :]}" for i in range(12) for letter in letters if letter != "m"]
    return dw.Lexicon([*alone, centre, *beside])


def test_a_forged_certificate_of_a_large_lexicon_is_refused(tmp_path: Path) -> None:
    lexicon = crowded_lexicon()
    mechanism = dw.Exponential(lexicon, 2.0, distance="levenshtein")
    assert mechanism.guarantee.method == "textbook"  # type: ignore[union-attr]
    textbook = mechanism.certificate.certified(5).certificate
    forged = {
        "c": 0.9999 * textbook.epsilon,
        "bound": textbook.epsilon,
        "method": "listed",
        "epsilon": textbook.epsilon,
        "length": textbook.length,
        "system": textbook.system,
    }
    path = tmp_path / "forged.json"
    path.write_text(json.dumps({"dpwords": "certificates", "certificates": [forged]}), encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match="does not hold"):
        mechanism.certificate.load(path)
    assert mechanism.guarantee.method == "textbook"  # type: ignore[union-attr]


def test_a_file_with_one_bad_certificate_changes_nothing(tmp_path: Path) -> None:
    cells = dw.GridWorld(3, 3).by_states()
    made = dw.Exponential(cells, 3.0)
    for length in (3, 4):
        made.certificate(length)
    path = tmp_path / "certificates.json"
    made.certificate.save(path)
    document = json.loads(path.read_text("utf-8"))
    document["certificates"][1]["c"] = 2.9999999
    path.write_text(json.dumps(document), encoding="utf-8")
    loading = dw.Exponential(cells, 3.0)
    with pytest.raises(dw.InvalidValue, match="does not hold"):
        loading.certificate.load(path)
    assert "0 lengths" in repr(loading.certificate)


@pytest.mark.parametrize("epsilon", [700.0, 745.0, 760.0, 5000.0])
@pytest.mark.parametrize("name", ["dead ends", "grid", "any start"])
def test_online_at_large_epsilon(name: str, epsilon: float) -> None:
    """Probabilities below the smallest float still have logarithms."""
    language, length = SYSTEMS[name]
    mechanism = dw.Online(language, epsilon)
    words = exhaustive.words(language, length)
    logs = [mechanism.log_prob(w, given=words[0]) for w in words]
    assert all(math.isfinite(value) for value in logs)
    assert min(logs) < -epsilon / 2
    contract.check_promise(mechanism, length)


@pytest.mark.parametrize("epsilon", [1e4, 1e6])
def test_listed_systems_spend_all_of_a_large_epsilon(epsilon: float) -> None:
    certificate = dw.Exponential(dw.GridWorld(3, 3).by_states(), epsilon).certificate(4)
    assert certificate.c > 0.99 * epsilon


def test_children_of_a_fork_and_spawned_processes_have_the_same_law(tmp_path: Path) -> None:
    """Also where the mechanism was used before, and a certificate made, in the parent."""
    script = """
import multiprocessing
import dpwords as dw
cells = dw.GridWorld(3, 3).by_states()
mechanism = dw.Exponential(cells, 3.0)
run = [(0, 1), (0, 2), (1, 2), (2, 2)]
def law(mechanism):
    return mechanism.log_prob(run, given=run), mechanism.certificate(4)
if __name__ == "__main__":
    own = law(mechanism)
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(2) as pool:
            assert pool.map(law, [mechanism] * 4) == [own] * 4
            drawn = pool.map(mechanism.release_all, [[run] * 200] * 2)  # two runs are equal with 0.75
            assert drawn[0] != drawn[1]
    print("same")
"""
    file = tmp_path / "laws.py"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "same", done.stderr


def test_arrays_are_copied_before_they_are_used() -> None:
    """Another thread that writes into the array while words are drawn changes nothing."""
    rows = np.zeros((4, 3), dtype=np.int64)
    mechanism = dw.Exponential(dw.Words("ab"), 500.0)
    released = mechanism.release_codes(rows)
    rows[:] = 1
    assert (np.asarray(released) == 0).all()
