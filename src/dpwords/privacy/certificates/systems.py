"""How large c may be on a transition system: certified bounds on what the normaliser tells. Proofs: docs/theory.md.

With weights e^(−c·d) a pair of words at distance d loses c·d + ln Z(x′)/Z(x), where Z is the sum of the weights. A
*certificate* bounds ln Z(x′)/Z(x) for all pairs of words of one length by `excess` · d, from public facts only and
without listing words; then c + excess ≤ ε is enough. The best of several wins:

- *listed*, languages of at most 1,024 words: the exact value, over all pairs;
- *blocks*, words of states: places that differ form blocks, which can be changed one at a time;
- *listed, levelled* and *blocks, levelled*: the same where words have the weights of `levelling`, which are public;
- *range*, any words: the largest and the least value of Z;
- *textbook*: ln Z(x′)/Z(x) ≤ c·d always, so c = ε/2.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.files import read_text, write_whole
from dpwords.errors import InvalidValue, TooLarge
from dpwords.privacy.certificates.blocks import Blocks, accepts_every_word, names_targets
from dpwords.privacy.certificates.levelled_blocks import LevelledBlocks
from dpwords.privacy.certificates.normaliser_range import range_of_normalisers
from dpwords.privacy.certificates.small_languages import Listed
from dpwords.spaces.free_words import FreeWords, Space
from dpwords.spaces.graph import Graph
from dpwords.spaces.levelling import Levelling

Method = Literal["listed", "listed, levelled", "blocks", "blocks, levelled", "range", "textbook", "every word"]
LEVELLED: tuple[Method, ...] = ("listed, levelled", "blocks, levelled")
_TRIES = 12  # more, where an evaluation is quick
_SHORT = 10  # symbols; the search for longer words starts where it ended for these
_LARGEST = 2**31  # states · symbols
_PRECISION = 2e-4  # of ε, in c
_GOOD = 0.985  # of ε: a rate that needs no better one


@dataclass(frozen=True)
class Certificate:
    """c is certified: no pair of words of this length loses more than `bound` ≤ ε for each place that differs."""

    c: float
    bound: float
    method: Method
    epsilon: float  # for each place
    length: int
    system: str  # a hash


class Certifier:
    """Certificates for the words of one language at one ε for each place, made when a length is first asked for.

    `certifier(18)` is the certificate for words of 18 symbols; `save` writes all that were made, `load` reads them and
    checks them again. `c`, `bound` and `method` are those of the length that was used last. Cost of making one: on a
    system, a few evaluations of `LevelledBlocks.excess` for words of states, of `range_of_normalisers` for others.
    """

    def __init__(self, space: Space, epsilon: Callable[[int], float], textbook_only: bool = False) -> None:
        self.space, self._epsilon, self._textbook_only = space, epsilon, textbook_only
        self._known: dict[int, Certificate] = {}
        self._last: Certificate | None = None

    def __call__(self, length: int | None = None) -> Certificate:
        places = whole_number(length, "length", 1)
        if places not in self._known:
            self._known[places] = self._best(places)
        self._last = self._known[places]
        return self._last

    def in_force(self, length: int) -> Certificate:
        """The certificate that a release of words of this length uses."""
        return self(length)

    @property
    def complete(self) -> bool:
        """Whether every length has, or gets when it is first used, the best rate that can be proven."""
        return True

    def weighted_space(self, length: int) -> Space:
        """The space with the weights for which c is certified at this length."""
        found = self(length)
        if found.method not in LEVELLED or self._levelling is None:
            return self.space
        return self._levelling.weighted(Fraction(found.c))

    def __repr__(self) -> str:
        return f"<Certifier: {len(self._known)} lengths certified>"

    @property
    def c(self) -> float:
        """The certified rate at the length that was used last."""
        return self._used.c

    @property
    def bound(self) -> float:
        """The certified loss for each place that differs, at the length that was used last."""
        return self._used.bound

    @property
    def method(self) -> Method:
        """How the certificate was found, at the length that was used last."""
        return self._used.method

    @property
    def _used(self) -> Certificate:
        if self._last is None:
            raise InvalidValue("a certificate is for one length, and none was used yet: ask for certificate(18)")
        return self._last

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificates made so far as JSON."""
        document = {"dpwords": "certificates", "certificates": [asdict(each) for each in self._known.values()]}
        write_whole({Path(path): json.dumps(document, indent=1).encode()})

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read certificates and check each of them again. Cost: one evaluation of each, instead of several."""
        for found in _read(path):
            if found.system != self._system or found.epsilon != self._epsilon(found.length):
                raise InvalidValue("the certificate is for another system or another ε: make a new one with save")
            usable = found.epsilon / 2 <= found.c <= found.epsilon
            excess = self._excess_again(found) if usable else math.inf
            if not found.c + excess <= found.epsilon:
                raise InvalidValue("the certificate does not hold: make a new one with save")
            self._known[found.length] = replace(found, bound=found.c + excess)

    def _excess_again(self, found: Certificate) -> float:
        """The excess of a certificate that was read, computed anew; infinite where its method does not apply."""
        bound = self._bounds(found.length)[0].get(found.method)
        return bound(found.c) if bound is not None else math.inf

    def _best(self, length: int) -> Certificate:
        epsilon = self._epsilon(length)
        bounds, listed = self._bounds(length)
        found: list[Certificate] = []
        short = self._short if length > _SHORT else None
        for method, excess in bounds.items():
            good = max((each.c for each in found), default=0.0) >= _GOOD * epsilon
            if method == "blocks, levelled" and (good or (short is not None and short.method == "blocks")):
                continue  # it would take time, and hardly be better
            tries = 0 if "blocks" in method else _TRIES
            c, bound = _largest(epsilon, excess, epsilon if short is None else min(short.c, epsilon), tries)
            found.append(Certificate(c, bound, method, epsilon, length, self._system))
        if listed is not None:
            return min(found, key=lambda each: listed.mean_distance(each.c, each.method in LEVELLED))
        return max(found, key=lambda each: each.c)

    @cached_property
    def _short(self) -> Certificate | None:
        """What is certified for short words, always of the same length: where the search for longer ones starts.

        What was asked for before plays no part, so that a system, a length and an ε always give the same rate.
        """
        space = self.space
        if isinstance(space, FreeWords) or not space.useful(_SHORT)[0, space.start]:
            return None
        return self._best(_SHORT)

    def _bounds(self, length: int) -> tuple[dict[Method, Callable[[float], float]], Listed | None]:
        """For each method that applies, the excess as a function of c; and the words, where they can be listed."""
        bounds: dict[Method, Callable[[float], float]] = {"textbook": lambda c: c}
        graph = self.space
        if isinstance(graph, Graph):
            if graph.size * length > _LARGEST:
                raise TooLarge(f"certificates are for up to {_LARGEST} states · symbols: take shorter words")
            if not graph.useful(length)[0, graph.start]:
                raise InvalidValue(f"the language has no word of length {length}: choose another length")
        if self._textbook_only:
            return bounds, None
        if isinstance(graph, FreeWords) or accepts_every_word(graph):
            return bounds | {"every word": lambda _: 0.0}, None
        listed = Listed.of(graph, length, self._levelling)
        if listed is not None:  # nothing else can be better
            bounds["listed"] = listed.excess
            if self._levelling is not None:
                bounds["listed, levelled"] = listed.levelled_excess
            return bounds, listed
        bounds["range"] = lambda c: range_of_normalisers(graph, length, c)
        if names_targets(graph):
            blocks = Blocks.of(graph, length, self._epsilon(length))
            if blocks is not None:
                bounds["blocks"] = blocks.excess
            levelled = None if self._levelling is None else LevelledBlocks.of(graph, length, self._levelling)
            if levelled is not None:
                bounds["blocks, levelled"] = levelled.excess
        return bounds, None

    @cached_property
    def _levelling(self) -> Levelling | None:
        """For words of states."""
        graph = self.space
        return Levelling.of(graph) if isinstance(graph, Graph) and names_targets(graph) else None

    @cached_property
    def _system(self) -> str:
        graph = self.space
        if isinstance(graph, FreeWords):
            return f"all words over {graph.symbols} symbols"
        parts = (graph.start, graph.symbol, graph.target, graph.first, graph.accepting)
        content = b"".join(np.asarray(part, dtype="<i8").tobytes() + b"|" for part in parts)
        return hashlib.sha256(content).hexdigest()


def _read(path: str | os.PathLike[str]) -> list[Certificate]:
    """The certificates of a file, each with fields of the right kinds."""
    try:
        document = json.loads(read_text(path))
        found = [Certificate(**each) for each in document["certificates"]]
    except InvalidValue:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        found = []
    kinds = {"c": float, "bound": float, "method": str, "epsilon": float, "length": int, "system": str}
    if not found or any(type(getattr(each, name)) is not kind for each in found for name, kind in kinds.items()):
        raise InvalidValue(f"{Path(path).name} holds no certificates, or is cut off: make a new one with save")
    return found


def _largest(epsilon: float, excess: Callable[[float], float], start: float, tries: int = 0) -> tuple[float, float]:
    """The largest c found with c + excess(c) ≤ ε, and c + excess(c); ε/2 if there is none, which is always allowed.

    Any c that passes is certified, however it was found: `start`, if it does, else less. The excess falls about like
    e^(−c), hence the first steps; if they miss, some `tries` between ε and ε/2. Then the gap to what failed is halved.
    """
    fails, c = math.inf, start
    steps = [epsilon * (1 - share / (2 * tries)) for share in range(1, tries)]
    while c > epsilon / 2:
        more = excess(c)
        over = c + more - epsilon
        if over <= 0:
            break
        fails = c
        c -= over / max(1 - more, 0.1) + _PRECISION * epsilon / 2
        if c <= epsilon / 2 and steps:
            c = steps.pop(0)
    else:
        return epsilon / 2, epsilon
    holds = c, c + more
    while math.isfinite(fails) and min(fails - holds[0], epsilon - holds[1]) > _PRECISION * epsilon:
        c = (holds[0] + fails) / 2
        more = excess(c)
        if c + more <= epsilon:
            holds = c, c + more
        else:
            fails = c
    return holds
