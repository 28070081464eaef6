"""What reweighted certificates need to know of a system: nodes, boxes, prefixes and labels (docs/theory.md, section 9).

Arrays are named as in `_kernels/reweighted_blocks_steps.py` and `reweighted_blocks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.reweighting import Reweighting, position_weights

LEAST_RADIUS = 2


@dataclass(frozen=True)
class Detail:
    """How much of an own run is known: more proves a larger rate, and takes longer."""

    back: int = 2  # nodes before a position
    ahead: int = 1  # nodes from the position on where completions begin
    radius: int = 4  # steps within which states have bounds of their own

    def __post_init__(self) -> None:
        if self.radius < LEAST_RADIUS:
            raise InvalidValue(f"a radius is {LEAST_RADIUS} or more: what is outside may not touch the own run")
        if self.back < 2 or self.ahead < 1:
            raise InvalidValue("a certificate looks back 2 nodes or more, and ahead 1 or more")


class ReweightedSystem:
    """The nodes of a system in the order of their targets, and all prefixes and labels of runs."""

    def __init__(self, graph: Graph, reweighting: Reweighting, detail: Detail) -> None:
        self.graph, self.detail = graph, detail
        order = np.argsort(graph.target, kind="stable")
        self.src, self.tgt, self.out = graph.sources[order], graph.target[order], np.argsort(order)
        self.lf = np.searchsorted(self.tgt, np.arange(graph.size + 1))
        self.turn = np.empty(len(order), dtype=np.int64)
        self.turn[self.out] = np.arange(len(order)) - graph.first[graph.sources]
        entering, leaving = np.diff(self.lf), np.diff(graph.first)
        steps = self._line_steps(reweighting)
        self._others, self._at_start = reweighting.others[steps], reweighting.at_start[steps]
        self._others_at_end = reweighting.others_at_end[1 + order]
        self.near = self._near(entering)
        self.size = np.diff(self.near[0])
        self._nodes = (
            self.lf, graph.first, self.out, self.src, self.tgt, int(leaving[self.tgt].max(initial=1)),
            int(entering.max()), offsets(entering[self.src]),
        )  # fmt: skip
        self.first = self.out[graph.first[graph.start] : graph.first[graph.start + 1]]
        following = [self.out[graph.first[state] : graph.first[state + 1]].tolist() for state in self.tgt.tolist()]
        self._find_prefixes(following)
        self._find_labels(following, entering)
        self._find_paths()

    def at_price(self, z: float) -> Any:
        """The system as `System` of the kernels, with the weights of words at z."""
        kernels, weights = kernel("reweighted_blocks_steps"), position_weights(self._others, self._at_start, z)
        return kernels.System(kernels.Near(*self.near), *self._nodes, weights)

    def ends(self, z: float) -> Floats:
        """The weights of the end of a word after each node."""
        return np.asarray(self.graph.accepting[self.tgt] * position_weights(self._others_at_end, True, z))

    def prefixes_between(self, symbols: int, begun: Flags, ended: Flags) -> Flags:
        """The prefixes of so many symbols (H: of H or more) from one of some states to one of some others."""
        known: Flags = self.symbols == symbols
        known &= ended[self.state]
        if symbols == self.detail.back:
            known &= begun[self.src[self.head]]
        return known

    def _line_steps(self, reweighting: Reweighting) -> Integers:
        """The edges of the line graph, which are steps between nodes, in the order of `pf`."""
        line, number = reweighting.line, self.out
        inside = np.flatnonzero(line.sources)
        return inside[np.lexsort((number[line.sources[inside] - 1], number[line.target[inside] - 1]))]

    def _near(self, entering: Integers) -> tuple[Any, ...]:
        """The states near each state, and where their nodes begin in its box, as `Near` of the kernels."""
        radius = self.detail.radius
        rows = neighbourhood(self.graph, radius)
        states = np.array([state for row in rows for state in row], dtype=np.int64)
        far = np.array([row[state] >= radius - 1 for row in rows for state in row], dtype=np.bool_)
        number = entering[states]
        ns = np.arange(number.sum()) + np.repeat(self.lf[states] - offsets(number)[:-1], number)
        slot = _slots(rows)
        at = np.full((self.graph.size, slot.max() + 1, 2), -1, dtype=np.int32)
        sizes = []
        for state, row in enumerate(rows):
            positions, columns = offsets(entering[list(row)]), slot[list(row)]
            at[state, columns, 0], at[state, columns, 1] = list(row), positions[:-1]
            sizes.append(positions[-1])
        return offsets(sizes), ns, np.repeat(far, number), slot, at

    def _find_prefixes(self, following: list[list[int]]) -> None:
        """All prefixes of runs from the start, each as the tuple of its nodes; the empty one is the last."""
        back = self.detail.back
        found: dict[tuple[int, ...], int] = {}
        queue: list[tuple[int, ...]] = [()]
        children: list[list[int]] = []
        for prefix in queue:  # it grows meanwhile
            children.append([])
            for node in following[prefix[-1]] if prefix else self.first.tolist():
                longer = (*prefix, node)[-back:]
                if longer not in found:
                    found[longer] = len(found)
                    queue.append(longer)
                children[-1].append(found[longer])
        numbers: dict[tuple[int, ...], int] = {}  # of the nodes before the last one
        before = [numbers.setdefault(prefix[:-1], len(numbers)) if prefix[1:] else -1 for prefix in found]
        opens = [numbers.setdefault(prefix[1 - back :], len(numbers)) for prefix in found]
        self.last = np.array([prefix[-1] for prefix in found] + [-1])
        self.head = np.array([prefix[0] for prefix in found] + [-1])
        self.symbols = np.array([len(prefix) for prefix in found] + [0])
        self.before = np.array([*before, -2])
        self.state = np.where(self.last >= 0, self.tgt[self.last], self.graph.start)
        self.bf = offsets(np.append(self.size[self.state[:-1]], 0))
        follows = offsets([len(following[nodes[-1]]) ** 2 for nodes in numbers])
        row = follows[self.before] + self.turn[self.last] * np.diff(self.graph.first)[self.src[self.last]]
        children = children[1:] + children[:1]
        tf = offsets([len(each) for each in children])
        child = np.array([each for some in children for each in some], dtype=np.int64)
        begun = np.full(len(self.tgt), -1)
        begun[self.last[self.symbols == 1]] = np.flatnonzero(self.symbols == 1)
        turn, row = self.turn[self.last], np.where(self.before >= 0, row, -1)
        self.prefixes = (self.last, self.before, turn, row, tf, child, begun)
        self._find_turns(tf[:-1], follows[opens])
        self.turns = int(follows[-1])

    def _find_turns(self, tf: Integers, begins: Integers) -> None:
        """All pairs of nodes that can follow the same prefix, and the numbers for them: one for all prefixes that agree
        but for their first node."""
        sizes = np.diff(tf)
        self.follows = np.repeat(np.arange(len(sizes)), sizes)  # the prefix, for each node that can follow one
        number = sizes[self.follows]
        one = np.repeat(np.arange(len(number)), number)
        prefix, turn = self.follows[one], np.arange(len(one)) - offsets(number)[one]
        other, index = tf[prefix] + turn, begins[prefix] + (one - tf[prefix]) * number[one] + turn
        self.pairs = np.stack([one, other, index])[:, one != other]

    def _find_labels(self, following: list[list[int]], entering: Integers) -> None:
        """All sequences of K nodes, or of fewer that nothing can follow."""
        ahead = self.detail.ahead
        labels: list[tuple[int, ...]] = [(node,) for node in range(len(following))]
        for _ in range(1, ahead):
            labels = [
                longer for label in labels for longer in ([(*label, node) for node in following[label[-1]]] or [label])
            ]
        number = {label: each for each, label in enumerate(labels)}
        first = np.array([label[0] for label in labels], dtype=np.int64)
        source = self.src[first].tolist()
        parents = [
            number[(node, *label)[:ahead]]
            for label, state in zip(labels, source, strict=True)
            for node in range(self.lf[state], self.lf[state + 1])
        ]
        of_node = np.searchsorted(first, np.arange(len(following) + 1))
        self.af = offsets(self.size[self.tgt[first]])
        self.labels = (first, of_node, self.af, offsets(entering[source]), np.array(parents, dtype=np.int64))
        self.label_nodes = np.array([label + (-1,) * (ahead - len(label)) for label in labels], dtype=np.int64)

    def _find_paths(self) -> None:
        """The paths from prefixes one step on, and two steps on, in order, and their order by what is before."""
        prefix, edges = self.graph.leaving(self.state)
        first = self.out[edges]
        path, edges = self.graph.leaving(self.tgt[first])
        self._paths = list[tuple[Integers, ...]]()
        for some, node in ((np.arange(len(first)), first), (path, self.out[edges])):
            by = np.lexsort((prefix[some], first[some], node))
            group = self.tgt[node[by]] if self._paths else np.zeros_like(by)
            alike = np.lexsort((self.before[prefix[some[by]]], group))
            self._paths.append((prefix[some[by]], first[some[by]], node[by], group, alike))

    def paths(self, steps: int, known: Flags, live: Any) -> Any:
        """The paths that words have, as `Paths` of the kernels: from known prefixes over nodes that are live."""
        prefix, first, node, group, alike = self._paths[steps - 1]
        keep = known[prefix] & live[0, first] & live[steps - 1, node]
        number, node, group = np.cumsum(keep) - 1, node[keep], group[keep]
        wf = np.searchsorted(group, np.arange(2 if steps == 1 else self.graph.size + 1))
        width = np.bincount(self.tgt[node] if steps == 1 else node, minlength=1).max()
        kept = number[alike[keep[alike]]], prefix[keep], first[keep]
        return kernel("reweighted_blocks").Paths(wf, *kept, int(width))


def neighbourhood(graph: Graph, radius: int, states: Sequence[int] | None = None) -> list[dict[int, int]]:
    """For each state (or some) those within so many steps, edges taken both ways, ascending, and how far they are.

    Edges from a start that is never entered do not count.
    """
    is_entered = np.isin(np.arange(graph.size), graph.target)
    beside: list[set[int]] = [set() for _ in range(graph.size)]
    for source, target in zip(graph.sources.tolist(), graph.target.tolist(), strict=True):
        if is_entered[source] or source != graph.start:
            beside[source].add(target)
            beside[target].add(source)
    rows = []
    for state in range(graph.size) if states is None else states:
        found, edge = {state: 0}, {state}
        for step in range(1, radius + 1):
            edge = {other for each in edge for other in beside[each]} - found.keys()
            found |= dict.fromkeys(edge, step)
        rows.append({each: found[each] for each in sorted(found)})
    return rows


def offsets(sizes: Any) -> Integers:
    """Where each of several rows of these sizes begins when they stand one after another, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _slots(rows: list[dict[int, int]]) -> Integers:
    """A small number for each state; all states of a row have different ones. Rows are symmetric, as nearness is."""
    taken, slots = [0] * len(rows), []  # by the members of each row, as bits
    for row in rows:
        some = reduce(or_, (taken[other] for other in row))
        free = ~some & (some + 1)  # the lowest bit that is 0
        slots.append(free.bit_length() - 1)
        for other in row:
            taken[other] |= free
    return np.array(slots)
