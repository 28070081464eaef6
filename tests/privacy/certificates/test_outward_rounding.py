"""Every step of a block certificate against the same step in exact arithmetic: its bounds contain the exact ones.

The loops of the kernels are run as plain Python on the numbers that a certificate really meets, once with floats and
once with fractions and no rounding. There is no tolerance anywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw
from dpwords.core import elementary
from dpwords.core.compiled import interpreted, kernel
from dpwords.languages.systems import TransitionSystem
from dpwords.privacy.certificates.reweighted_blocks import longer_blocks
from dpwords.privacy.certificates.reweighted_system import Detail
from dpwords.spaces.graph import Graph
from loops import callable_parts
from privacy.certificates.test_certificates import brute_excess, reweighted_blocks


class Exact(Fraction):
    """A fraction that stays one when it meets a float: 0.0 + x is x."""


def _operator(name: str) -> Callable[[Exact, Any], Exact]:
    exact = getattr(Fraction, name)

    def apply(self: Exact, other: Any) -> Exact:
        return Exact(exact(self, Fraction(int(other) if isinstance(other, np.bool_) else other)))

    return apply


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(Exact, f"__{_name}__", _operator(f"__{_name}__"))


def _filled(value: float) -> Callable[..., Any]:
    def make(shape: Any, *kind: Any) -> Any:
        return np.full(shape, 0) if kind else np.full(shape, value, dtype=object)

    return make


def exact(item: Any) -> Any:
    """The same numbers as fractions, in arrays of their own."""
    if isinstance(item, tuple):
        parts = [exact(part) for part in item]
        return type(item)(*parts) if hasattr(item, "_fields") else tuple(parts)
    if isinstance(item, np.ndarray):
        if item.dtype != np.float64:
            return item
        found = np.empty(item.size, dtype=object)
        found[:] = [Exact(each) if math.isfinite(each) else each for each in item.ravel().tolist()]
        return found.reshape(item.shape)
    return Exact(item) if isinstance(item, float) and math.isfinite(item) else item


def true_largest(one: Any, other: Any, lo: Any, hi: Any, count: int) -> Any:
    """The maximum of Σ one·t / Σ other·t over lo ≤ t ≤ hi: t is at its upper end where one/other is large."""
    if not sum(other[i] * lo[i] for i in range(count)) > 0:
        return math.inf
    best = Exact(0)
    while True:  # Dinkelbach's method, which ends after a few steps
        ends = [hi[i] if one[i] > best * other[i] else lo[i] for i in range(count)]
        found = sum((one[i] * ends[i] for i in range(count)), Exact(0)) / sum(other[i] * ends[i] for i in range(count))
        if found <= best:
            return best
        best = found


def true_quotients(one: Any, other: Any, upward: bool, lo: Any, hi: Any, rows: int, count: int, *into: Any) -> None:
    """The same for each column of `one`, or for `other` over it; written to the last argument."""
    for c in range(count):
        pair = (one[:, c], other) if upward else (other, one[:, c])
        into[-1][c] = true_largest(*pair, lo, hi, rows)


class References:
    """The loops of some kernels as plain Python, with floats and with fractions; arguments of logarithms are kept."""

    def __init__(self, *names: str) -> None:
        modules = [kernel(name) for name in ("rounding", *names)]
        self.logs: dict[str, list[Any]] = {"float": [], "exact": []}
        self.float, self.exact = self._plain("float", modules), self._plain("exact", modules)
        self.exact |= {
            "factors": lambda _: (1, 1),
            "lowered": lambda value, down: value * down,
            "raised": lambda value, up: value * up,
            "as_factor": lambda value: (value, value),
            "UNIT": 0,
            "LEAST": 0,
            "largest_quotients": true_quotients,
            "np": SimpleNamespace(inf=math.inf, int64=0, empty=_filled(0.0), zeros=_filled(0.0), full=_filled(0.0)),
        }

    def _plain(self, kind: str, modules: list[ModuleType]) -> dict[str, Any]:
        space: dict[str, Any] = {}
        for module in modules:
            space |= vars(module)
        for name, item in list(space.items()):
            if hasattr(item, "py_func"):
                space[name] = FunctionType(item.py_func.__code__, space, name)

        def log(value: Any) -> float:
            self.logs[kind].append(value)
            return elementary.log(float(value))

        space["log"] = log
        return space

    def check(self, name: str, *arguments: Any, low: Any = (), high: Any = ()) -> Any:
        """Run a loop both ways; the arrays at these positions, or fields of them, are lower and upper bounds."""
        for logs in self.logs.values():
            logs.clear()
        copies = exact(arguments)
        truth = self.exact[name](*copies)
        found = self.float[name](*arguments)
        for positions, holds in ((low, np.less_equal), (high, np.greater_equal)):
            for position in positions:
                one, other = pick(arguments, position), pick(copies, position)
                assert holds(exact(one), other).all()
        if isinstance(found, float) and name in ("forward", "backward"):
            assert exact(found) >= truth
        return found

    def check_logs(self, rising: Iterator[bool]) -> None:
        """Each argument of a logarithm is an upper bound, or a lower one."""
        for one, other, up in zip(self.logs["float"], self.logs["exact"], rising, strict=False):
            assert exact(float(one)) >= other if up else exact(float(one)) <= other
        assert len(self.logs["float"]) == len(self.logs["exact"])


def pick(arguments: Any, position: tuple[int, ...]) -> Any:
    for index in position:
        arguments = arguments[index]
    return arguments


def every(*pattern: bool) -> Iterator[bool]:
    while True:
        yield from pattern


def shadow_reweighted(patch: pytest.MonkeyPatch) -> None:
    """Check every step of `ReweightedBlocks.excess` from now on, except closings that are divided by a mixture."""
    references = References("reweighted_blocks_steps", "reweighted_blocks")
    blocks = kernel("reweighted_blocks")
    patch.setattr(
        blocks, "forward", lambda *a: references.check("forward", *a, low=[(7,), (9,)], high=[(8,), (10,), (11,)])
    )
    patch.setattr(blocks, "backward", lambda *a: references.check("backward", *a, low=[(8,)], high=[(9,)]))
    mixed = blocks.closings

    def closings(z: float, steps: int, *arguments: Any) -> None:
        if steps == 4:
            return mixed(z, steps, *arguments)
        references.check("closings", z, steps, *arguments)
        return references.check_logs(every(False, True))

    patch.setattr(blocks, "closings", closings)


@st.composite
def small_systems(draw: st.DrawFn) -> TransitionSystem:
    """A few states, some edges, and sometimes a hub that many states lead to and from."""
    size = draw(st.integers(2, 5))
    cells = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(cells, cells), min_size=3, max_size=10))
    edges += [(each, 0) for each in range(size)]
    if draw(st.booleans()):
        spokes = range(size, size + draw(st.integers(2, 6)))
        edges += [(0, each) for each in spokes] + [(each, draw(cells)) for each in spokes]
    rows: dict[int, dict[int, int]] = {0: {}}
    for source, target in edges:
        rows.setdefault(source, {})[target] = target
    return TransitionSystem(rows, start=0)


rates = st.one_of(st.floats(0.05, 8.0), st.sampled_from([30.0, 70.0, 120.0, 199.0]))


details = st.sampled_from([Detail(2, 1, 2), Detail(2, 1, 3), Detail(3, 2, 2)])


@given(small_systems(), st.integers(1, 5), rates, details)
@settings(max_examples=60, deadline=None)
def test_reweighted_boxes_contain_the_exact_ones(
    system: TransitionSystem, length: int, c: float, detail: Detail
) -> None:
    blocks = reweighted_blocks(Graph.of(system), detail)
    with pytest.MonkeyPatch.context() as patch:
        shadow_reweighted(patch)
        found = blocks.excess(length, c)
    assert found == blocks.excess(length, c)  # what was checked is what the compiled loops do, bit for bit


@pytest.mark.parametrize("spread", [0.0, 1e-15, 1e-3])
def test_one_step_of_proportions(spread: float) -> None:
    """With weights and proportions of every kind, and differences where the own node is 1 less the others."""
    kernels, draw, references = (
        kernel("reweighted_blocks_steps"),
        np.random.default_rng(11),
        References("reweighted_blocks_steps"),
    )
    graph = Graph.of(dw.GridWorld(3, 3).by_states())
    system = reweighted_blocks(graph, Detail(2, 1, 2)).system
    for _ in range(40):
        at_price = system.at_price(0.1)
        at_price = at_price._replace(pw=draw.uniform(0.5, 1.0, len(at_price.pw)))
        node = int(draw.integers(len(system.src)))
        own, new = int(system.src[node]), int(system.tgt[node])
        lo = draw.random((system.size[own], 1))
        hi = lo * (1 + spread * draw.random(lo.shape))
        single, outside = draw.random((2, 1))
        for pivot in range(system.lf[own + 1] - system.lf[own] + 1):
            masses = kernels.Masses(lo, hi, single, outside, np.array([pivot]))
            after = kernels.Masses(*np.zeros((2, system.size[new], 1)), *np.zeros((2, 1)), np.zeros(1, dtype=np.int64))
            reached = kernels.Reached(np.zeros((graph.size + 1, 1)), np.zeros(graph.size))
            for z in (1.0, 0.1):
                references.check(
                    "step", z, at_price, reached, own, 1, masses, new, after, 0,
                    low=[(7, 0)], high=[(7, 1), (7, 2), (7, 3)],
                )  # fmt: skip


@pytest.mark.parametrize("spread", [0.0, 1e-15, 1e-3, 1.0])
def test_quotients_are_never_below_the_truth(spread: float) -> None:
    """With intervals so narrow that only rounding matters, and wide ones."""
    draw, largest = np.random.default_rng(7), callable_parts("reweighted_blocks_steps").largest_quotients
    for most in [4] * 200 + [200] * 40:
        count = int(draw.integers(1, most))
        one, other = draw.random(count), draw.random(count)
        lo = draw.random(count) * 10.0 ** draw.integers(-30, 1, count)
        hi = lo * (1 + spread * draw.random(count))
        for upward in (True, False):
            found, (above, below) = np.zeros(1), (one, other) if upward else (other, one)
            largest(one[:, None], other, upward, lo, hi, count, 1, np.zeros((6, 1)), found)
            assert Exact(found[0]) >= true_largest(*map(exact, (above, below, lo, hi)), count)


def test_one_rounding_after_another() -> None:
    """Sums, products and quotients of as many numbers as stated, against fractions."""
    outward, draw = interpreted("rounding"), random.Random(3)
    for _ in range(2000):
        count = draw.randint(1, 60)
        terms = [(draw.random(), draw.random()) for _ in range(count)]
        low_factor, high_factor = outward.as_factor(terms[0][0])
        assert Exact(low_factor * terms[0][1]) <= Exact(terms[0][0]) * terms[0][1] <= Exact(high_factor * terms[0][1])
        total = 0.0
        for one, other in terms:
            total += one * other
        true = sum(Exact(one) * Exact(other) for one, other in terms) / Exact(terms[0][0])
        down, up = outward.factors(count + 1)
        assert Exact(outward.lowered(total / terms[0][0], down)) <= true
        assert Exact(outward.raised(total / terms[0][0], up)) >= true
    assert outward.raised(0.0, up) == outward.lowered(1e-101, down) == outward.lowered(math.nan, down) == 0.0
    assert outward.raised(1e-320, up) == outward.LEAST
    assert math.isnan(outward.raised(math.nan, up))


def test_sums_of_logarithms_are_rounded_up() -> None:
    draw = np.random.default_rng(5)
    for scale in (1e-3, 1.0, 100.0):
        opening, growth, closing = draw.random((3, 300)) * scale
        true = max(
            (Exact(opening[first]) + sum(map(Exact, growth[first + 1 : last])) + closing[last]) / (last - first + 1)
            for last in range(3, 299)
            for first in range(max(1, last - 20), last - 1)
        )
        assert Exact(longer_blocks(opening, growth, closing)) >= true


@pytest.mark.parametrize("spokes", [3, 12])
@pytest.mark.parametrize("c", [1.5, 3.0, 6.0])
def test_hubs(spokes: int, c: float) -> None:
    """A state with many successors: never below the truth, over all pairs of words."""
    edges = [("h", f"s{i}") for i in range(spokes)] + [(f"s{i}", "h") for i in range(spokes)] + [("s0", "s1")]
    system = dw.from_edges(edges, start="h")
    graph = Graph.of(system)
    for length in (2, 3, 4):
        reweighted = reweighted_blocks(graph, Detail(2, 1, 2)).excess(length, c)
        assert reweighted >= brute_excess(system, length, c, reweighted=True)
