"""How large c may be on a transition system: certified bounds on what the normaliser tells. Proofs: docs/theory.md.

With weights e^(−c·d) a pair of words at distance d loses c·d + ln Z(x′)/Z(x), where Z is the sum of the weights. A
*certificate* bounds ln Z(x′)/Z(x) for all pairs of words of one length by `excess` · d, from public facts only and
without listing words; then c + excess ≤ ε is enough. The best of several wins:

- *blocks*, words of states: places that differ form blocks, which can be changed one at a time;
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
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dpwords.errors import InvalidValue
from dpwords.files import read_text, write_whole
from dpwords.lattice import Flags, Graph
from dpwords.scaled import Floats, Integers
from dpwords.shells import FreeWords, Space

Method = Literal["blocks", "range", "textbook", "every word"]
MARGIN = 1e-9  # more than floating point can be off in the bounds
_RADII = range(2, 9)  # steps within which states have bounds of their own
_NEARBY = 48  # states on average that have; more would take longer and gain little
_MEMORY_LIMIT = 2**30  # bytes for the boxes of all layers; beyond it the radius shrinks, then blocks are given up
_EVALUATIONS = 16
_PRECISION = 2e-4  # of ε, in c


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
    system, about ten evaluations of `Blocks.excess` for words of states, of `range_of_normalisers` for others.
    """

    def __init__(self, space: Space, epsilon: Callable[[int], float], textbook_only: bool = False) -> None:
        self.space, self._epsilon, self._textbook_only = space, epsilon, textbook_only
        self._known: dict[int, Certificate] = {}
        self._last: Certificate | None = None

    def __call__(self, length: int) -> Certificate:
        if length not in self._known:
            self._known[length] = self._best(length)
        self._last = self._known[length]
        return self._last

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
        """Read certificates and check each of them again. Cost: one evaluation of each, instead of about ten."""
        for certificate in _read(path):
            if certificate.system != self._system or certificate.epsilon != self._epsilon(certificate.length):
                raise InvalidValue("the certificate is for another system or another ε: make a new one with save")
            bounds = self._bounds(certificate.length).get(certificate.method)
            excess = math.inf if bounds is None else bounds(certificate.c)
            if not certificate.epsilon / 2 <= certificate.c <= certificate.epsilon - excess:
                raise InvalidValue("the certificate does not hold: make a new one with save")
            self._known[certificate.length] = replace(certificate, bound=certificate.c + excess)

    def _best(self, length: int) -> Certificate:
        epsilon = self._epsilon(length)
        found = [
            Certificate(*_largest(epsilon, excess), method, epsilon, length, self._system)
            for method, excess in self._bounds(length).items()
        ]
        return max(found, key=lambda certificate: certificate.c)

    def _bounds(self, length: int) -> dict[Method, Callable[[float], float]]:
        """For each method that applies, the excess as a function of c."""
        bounds: dict[Method, Callable[[float], float]] = {"textbook": lambda c: c}
        graph = self.space
        if self._textbook_only:
            return bounds
        if isinstance(graph, FreeWords) or _accepts_every_word(graph):
            return bounds | {"every word": lambda _: 0.0}
        bounds["range"] = lambda c: range_of_normalisers(graph, length, c)
        if _names_targets(graph):
            blocks = Blocks.of(graph, length)
            if blocks is not None:
                bounds["blocks"] = blocks.excess
        return bounds

    @cached_property
    def _system(self) -> str:
        graph = self.space
        if isinstance(graph, FreeWords):
            return f"all words over {graph.symbols} symbols"
        parts = (graph.start, graph.symbol, graph.target, graph.first, graph.accepting)
        content = b"".join(np.asarray(part, dtype="<i8").tobytes() + b"|" for part in parts)
        return hashlib.sha256(content).hexdigest()


def _read(path: str | os.PathLike[str]) -> list[Certificate]:
    try:
        return [Certificate(**each) for each in json.loads(read_text(path))["certificates"]]
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InvalidValue):
            raise
        raise InvalidValue(
            f"{Path(path).name} holds no certificates, or is cut off: make a new one with save"
        ) from None


def _largest(epsilon: float, excess: Callable[[float], float]) -> tuple[float, float]:
    """The largest c found with c + excess(c) ≤ ε, and c + excess(c); ε/2 if there is none, which is always allowed.

    Any c that passes is certified, however it was found. The excess falls about like e^(−c), hence the first steps.
    """
    fails, holds, c, last = math.inf, None, epsilon, math.inf
    for _ in range(_EVALUATIONS):
        last = excess(c)
        over = c + last - epsilon
        if over <= 0:
            holds = c, c + last
        else:
            fails = c
        if holds is None:
            c -= over / max(1 - last, 0.1) + _PRECISION * epsilon / 2
        elif fails - holds[0] > _PRECISION * epsilon:
            c = (holds[0] + fails) / 2
        else:
            break
        if c <= epsilon / 2:
            break
    return holds if holds is not None else (epsilon / 2, epsilon)


def _accepts_every_word(graph: Graph) -> bool:
    """Whether every state has every symbol and accepts: then Z is the same for all words."""
    full = np.all(np.diff(graph.first) == len(graph.alphabet))
    return bool(full and graph.accepting.all())


def _names_targets(graph: Graph) -> bool:
    """Whether symbols and the states they lead to determine each other: words of states."""
    pairs = np.unique(np.stack([graph.symbol, graph.target]), axis=1)
    return bool(len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1])


def range_of_normalisers(graph: Graph, length: int, c: float) -> float:
    """ln of the largest Z that a word can have, less ln of the least. Cost: length · edges · symbols.

    Backwards, layer by layer: the most and the least that completions of a state can weigh for any symbols to come,
    and, for states on the word's own run, the least for symbols that the run can take.
    """
    z = math.exp(-c)
    origins = np.flatnonzero(np.diff(graph.first))
    sources = graph.sources
    most = least = graph.accepting.astype(np.float64)
    own = np.where(graph.accepting, 1.0, math.inf)
    logs = np.zeros(3)
    for _ in range(length):
        high, low, run = most[graph.target], least[graph.target], own[graph.target]
        sums = np.zeros((2, graph.size))
        sums[:, origins] = np.add.reduceat(np.stack([high, low]), graph.first[origins], axis=1)
        best, worst, straight = np.zeros(graph.size), np.zeros(graph.size), np.full(graph.size, math.inf)
        np.maximum.at(best, sources, high)
        everywhere = np.diff(graph.first) == len(graph.alphabet)
        np.minimum.at(straight, sources, low)
        worst = np.where(everywhere, np.where(np.isfinite(straight), straight, 0.0), 0.0)
        most, least = z * sums[0] + (1 - z) * best, z * sums[1] + (1 - z) * worst
        own_run = np.full(graph.size, math.inf)
        np.minimum.at(own_run, sources, run + z * (sums[1][sources] - low))
        own = own_run
        scale = np.array([most.max(), most.max(), most.max()])
        most, least, own = most / scale[0], least / scale[1], own / scale[2]
        logs += np.log(scale)
    return math.log(most[graph.start]) - math.log(own[graph.start]) + MARGIN


class Blocks:
    """The bound for words of states, from boxes around every own state.

    Cost of `excess`: length · edges · states nearby · branching; memory: 16 bytes · length · states · states nearby.
    """

    def __init__(self, graph: Graph, length: int, radius: int) -> None:
        self.graph, self.length, self.radius = graph, length, radius
        self.nf, self.nid = _near(graph, radius)
        self.sf, self.st = graph.first, graph.target
        self.edge_of = np.argsort(graph.target, kind="stable")
        self.ps = graph.sources[self.edge_of]
        self.pf = np.searchsorted(graph.target[self.edge_of], np.arange(graph.size + 1))
        self.live = _live(graph, length)
        entered = np.isin(np.arange(graph.size), graph.target)
        self.branching = int(np.diff(graph.first)[entered].max(initial=1))  # of states that a run can be in later on
        self.entries = int(np.diff(self.pf).max())
        self.widest = max(graph.branching, self.entries)
        self.ef = _offsets(np.diff(self.nf)[graph.target])
        self.first = _offsets(np.maximum(np.diff(graph.first)[graph.target], 1))
        self.base = _offsets((self.first[graph.first[1:]] - self.first[graph.first[:-1]])[graph.target])

    @classmethod
    def of(cls, graph: Graph, length: int) -> Blocks | None:
        """With the largest radius that time and memory allow; None if there is none."""
        found = None
        for radius in _RADII:
            blocks = cls(graph, length, radius)
            if 16 * len(blocks.nid) * (length + 2) > _MEMORY_LIMIT:
                break
            if found is not None and len(blocks.nid) > _NEARBY * graph.size:
                break
            found = blocks
        return found

    def excess(self, c: float) -> float:
        """A bound on |ln Z(x′)/Z(x)| / d(x, x′) over all pairs of words."""
        kernel, boxes = _kernel("blocks"), _kernel("boxes")
        z, length, live = math.exp(-c), self.length, self.live
        system = (self.sf, self.st, self.pf, self.ps, self.nf, self.nid)
        after, far = self._completions(z)
        factor, pairs = 1.0, 0.0
        opening, closing, growth = np.zeros(length + 2), np.zeros(length + 2), np.zeros(length + 2)
        box, outside = np.zeros((2, len(self.nid))), np.zeros(self.graph.size)
        box[:, boxes.place_in_box(self.nf, self.nid, self.graph.start, self.graph.start)] = 1.0
        earlier, edge_box, far_before = (box[0], box[1], 0.0), np.zeros((2, self.ef[-1])), 0.0
        low, high = np.zeros(self.base[-1]), np.zeros(self.base[-1])
        accepting = self.graph.accepting
        for place in range(1, length + 1):
            last = place == length
            ahead = (after[place + 1, 0], after[place + 1, 1], far[place + 1], accepting, last)
            around = (live[place - 1], live[place], live[place + 1])
            nearby = (box[0], box[1], far_before)
            factor = kernel.one_place(z, factor, *system, *around, *nearby, *ahead, self.widest)
            opening[place] = kernel.openings(*system, *around[:2], *nearby)
            if place > 1:
                edges = (self.ef, edge_box[0], edge_box[1])
                within = (live[place - 2], *around)
                growth[place] = kernel.growth(*system, *within[:3], *edges, nearby[2])
                kernel.closings(
                    z, *system[:4], self.edge_of, *system[4:], *within, *edges, outside, *ahead,
                    *self._elsewhere(z, place), self.first, self.base, low, high,
                )  # fmt: skip
                table = (last, self.first, self.base, low, high)
                closing[place] = kernel.widest_closing(self.sf, self.st, *within, *table)
                pairs = max(pairs, kernel.two_places(*system, *within, *earlier, *table))
            earlier, left = nearby, outside
            box, outside, edge_box = np.zeros_like(box), np.zeros_like(outside), np.zeros_like(edge_box)
            boxes.forward(
                z, self.branching, *system, *around[:2], *earlier, left, *box, outside, self.edge_of, self.ef, *edge_box
            )
            far_before = min(float(outside.max()), z * self.entries * max(1.0, far_before, float(earlier[1].max())))
        return max(math.log(factor), pairs / 2, _longer(opening, growth, closing)) + MARGIN

    def _completions(self, z: float) -> tuple[Floats, Floats]:
        """Boxes of completions for each layer, and the bound for states outside of them."""
        kernel = _kernel("boxes")
        boxes = np.zeros((self.length + 2, 2, len(self.nid)))
        far = np.ones(self.length + 2)
        far[:-1] = [self._at_least_apart(z, self.radius + 1, layer) for layer in range(self.length + 1)]
        boxes[self.length] = self.graph.accepting[self.nid]
        for layer in range(self.length - 1, 0, -1):
            after = (*boxes[layer + 1], far[layer + 1])
            kernel.backward(
                z, self.sf, self.st, self.nf, self.nid, self.live[layer], self.live[layer + 1], *after, *boxes[layer]
            )
        return boxes, far

    def _at_least_apart(self, z: float, steps: int, place: int) -> float:
        """The most that the completions of a state so many steps away from the own one weigh, relative to its own.

        One step of both runs brings them nearer by two at most, and costs z while they are not side by side.
        """
        side, left = z * self.branching, self.length - place
        apart = min(max((steps - 1) // 2, 0), left)
        return float(min(side**apart, 1.0) * sum(side**layer for layer in range(left - apart + 1)))

    def _elsewhere(self, z: float, place: int) -> tuple[float, float]:
        """Bounds for closings: the completions of a state outside the box of q, and what one outside that of p adds."""
        side = z * self.branching
        if place == self.length:
            return 1.0, side
        beside = side * self._at_least_apart(z, self.radius - 3, place + 1)
        adds = beside if self.radius > 3 else self._at_least_apart(z, 0, place)
        return side * self._at_least_apart(z, self.radius, place + 1), side * adds


def _kernel(name: str) -> Any:
    """Compiled loops; importing the compiler takes half a second, so only who needs them does."""
    return import_module(f"dpwords._kernels.{name}")


def _longer(opening: Floats, growth: Floats, closing: Floats) -> float:
    """The largest bound for a block of three places or more, for each place of it. Cost: length²."""
    length, total = len(opening) - 2, np.cumsum(growth)
    most = 0.0
    for last in range(3, length + 1):
        first = np.arange(1, last - 1)
        change = opening[first] - total[first] + total[last - 1] + closing[last]
        most = max(most, float((change / (last - first + 1)).max()))
    return most


def _live(graph: Graph, length: int) -> Flags:
    """Which states a word can be in before each place, and after the last; one layer more, without any."""
    reached = np.zeros((length + 2, graph.size), dtype=np.bool_)
    reached[0, graph.start] = True
    for layer in range(length):
        reached[layer + 1, graph.target[reached[layer, graph.sources]]] = True
    reached[: length + 1] &= graph.useful(length)
    reached[length + 1] = False
    return reached


def _near(graph: Graph, radius: int) -> tuple[Integers, Integers]:
    """The states within so many steps of each state, edges taken both ways.

    A start that is never entered has nobody nearby, and is near everybody: its mass is known, 0 after the first step.
    """
    entered = np.isin(np.arange(graph.size), graph.target)
    beside: list[set[int]] = [set() for _ in range(graph.size)]
    for source, target in zip(graph.sources.tolist(), graph.target.tolist(), strict=True):
        if entered[source] or source != graph.start:
            beside[source].add(target)
            beside[target].add(source)
    rows = []
    for state in range(graph.size):
        found, edge = {state}, {state}
        for _ in range(radius):
            edge = {other for each in edge for other in beside[each]} - found
            found |= edge
        alone = {graph.start} if not entered[graph.start] and state != graph.start else set()
        rows.append(sorted(found | alone))
    return _offsets(np.array([len(row) for row in rows])), np.array([s for row in rows for s in row], dtype=np.int64)


def _offsets(sizes: Any) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
