"""Transition systems from DOT files, as tools that learn automata write them, and back.

The grammar of DOT is that of Graphviz (https://graphviz.org/doc/info/lang.html). Packages that read it in Python need
milliseconds for each edge, or a C library.
"""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from dpwords.core.files import AnyFile, naming, read_text
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue, TooLarge, named, within_memory
from dpwords.languages.systems import TransitionSystem, system_of, written

Attributes = dict[str, str]
DotSymbols = Literal["inputs", "outputs", "labels"]
_USED = ("label", "shape", "style", "peripheries")  # attributes that say what a node or an edge is
_ROW = re.compile(r"<\s*<table.*</table>\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")

_TOKENS = re.compile(
    r"""(?:\s++|//[^\n]*+|/\*.*?\*/|^\#[^\n]*+)*+
    (?:(?P<id>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<mark>->|--|[{}\[\]=;,:+])
    |"(?P<quoted>(?:[^"\\]|\\.)*+)"
    |(?P<html><)
    |(?P<end>\Z))""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ANGLES = re.compile("[<>]")
_NAMES = ("id", "quoted")
_KEYWORDS = {"strict", "graph", "digraph", "node", "edge", "subgraph"}
_Token = tuple[str, str, int]


@within_memory()
def from_dot(
    path: AnyFile, start: str | None = None, symbols: DotSymbols | None = None, accepting: Iterable[str] | None = None
) -> TransitionSystem:
    """A system from a DOT file, in the dialects of AALpy, LearnLib and the automata wiki; its states are the nodes.

    The labels of the edges are the symbols. If every label has the form "input/output", as those of Mealy machines,
    the symbol is the input; `symbols` takes "outputs", or whole "labels", instead. Without any labels the symbol is the
    node that an edge leads to. The start is where an arrow from `__start0`, or from an invisible node, points, unless
    `start` names it; without labels and without a start, a run starts in any state. States drawn with a double line
    are accepting; if there are none, a run may end anywhere.

    Raises `NotDeterministic` with the state and the action, `InvalidValue` for two starts or none, and `TooLarge` for
    more than a million nodes or edges, which a short text can stand for. Cost: the size of the file and the number of
    edges; some 15 µs for each.
    """
    text = read_text(path)
    if symbols not in (None, "inputs", "outputs", "labels"):
        raise InvalidValue('symbols must be "inputs", "outputs" or "labels"')
    with naming(path):
        return _system(read_dot(text, kept=_USED), start, symbols, accepting)


def to_dot(system: TransitionSystem) -> str:
    """The system as DOT in AALpy's dialect, one edge for each move; `from_dot` reads it. For pictures see `plots`.

    Cost: the number of edges.

    >>> print(to_dot(TransitionSystem({"s": {"a": "s"}}, start="s")))
    digraph {
    "s" [shape=circle];
    "s" -> "s" [label="a"];
    "__start0" [label="", shape=none];
    "__start0" -> "s";
    }
    """
    if not isinstance(system, TransitionSystem):
        raise InvalidValue("only a TransitionSystem can become DOT: pass a system")
    if len(set(map(written, system.states))) < len(system.states):
        raise InvalidValue("two states are written alike in DOT: give them names that differ as text")
    final = system.accepting or ()
    lines = [f"{_quoted(s)} [shape={'doublecircle' if s in final else 'circle'}];" for s in system.states]
    lines += (
        f"{_quoted(state)} -> {_quoted(target)} [label={_quoted(action)}];"
        for state, row in system.transitions.items()
        for action, target in row.items()
    )
    if system.start is not None:
        lines += ['"__start0" [label="", shape=none];', f'"__start0" -> {_quoted(system.start)};']
    return "\n".join(["digraph {", *lines, "}"])


def _quoted(name: object) -> str:
    text = written(name)
    if "\\" in text or "__start" in text or not text:
        raise InvalidValue("a state or action is empty, or has a backslash or __start in its name: rename it for DOT")
    return '"' + text.replace('"', '\\"') + '"'


def _system(
    graph: DotGraph, start: str | None, symbols: DotSymbols | None, accepting: Iterable[str] | None
) -> TransitionSystem:
    if not graph.directed:
        raise InvalidValue("the graph has no directions, and moves have: write digraph, and -> for edges")
    entered = {target for _, target, _ in graph.edges}
    marks = {name for name, attributes in graph.nodes.items() if name not in entered and _is_mark(name, attributes)}
    starts = dict.fromkeys(target for source, target, _ in graph.edges if source in marks)
    edges = [(source, target, _label(source, target, a)) for source, target, a in graph.edges if source not in marks]
    labelled = symbols is not None or any(label for _, _, label in edges)
    if start is None and len(starts) > 1:
        raise InvalidValue(
            f"there is more than one start ({', '.join(starts)}): mark one, or name the start ({named('start')})"
        )
    if start is None and not starts and labelled:
        raise InvalidValue(
            f"no start is marked: draw an arrow to it from a node __start0, or name the start ({named('start')})"
        )
    if accepting is None:
        final = [name for name, attributes in graph.nodes.items() if _is_final(attributes)]
        accepting = final or None
    states = (name for name in graph.nodes if name not in marks)
    moves = _symbols(edges, symbols) if labelled else ((source, target, target) for source, target, _ in edges)
    return system_of(moves, states, next(iter(starts), None) if start is None else start, accepting)


def _is_mark(name: str, attributes: Attributes) -> bool:
    """Whether a node that no edge enters only marks the start."""
    invisible = attributes.get("shape") in ("none", "point") or "invis" in attributes.get("style", "")
    return invisible or name.startswith("__start")


def _is_final(attributes: Attributes) -> bool:
    return attributes.get("shape") == "doublecircle" or attributes.get("peripheries") == "2"


def _label(source: str, target: str, attributes: Attributes) -> str:
    label = attributes.get("label", "")
    if not isinstance(label, Html):
        return label.strip()
    if _ROW.fullmatch(label):  # early versions of LearnLib: <<table …><tr><td>input</td><td>/</td><td>output</td>…>
        return html.unescape(_TAG.sub("", label[1:-1])).strip()
    raise InvalidValue(f"the label from {source} to {target} is HTML, for pictures: write it in quotes")


def _symbols(edges: list[tuple[str, str, str]], symbols: DotSymbols | None) -> Iterator[tuple[str, str, str]]:
    if symbols is None:
        symbols = "inputs" if all(label.count("/") == 1 for _, _, label in edges) else "labels"
    for source, target, label in edges:
        if not label:
            raise InvalidValue(f"the edge from {source} to {target} has no label: label every edge, or none of them")
        if symbols == "labels":
            yield source, label, target
            continue
        read, slash, wrote = label.partition("/")
        if not slash or "/" in wrote:
            raise InvalidValue(
                f'the label from {source} to {target} is not of the form "input/output": pass '
                f"{named('symbols', 'labels')}"
            )
        yield source, (read if symbols == "inputs" else wrote).strip(), target


class Html(str):
    """A value in HTML, with the angle brackets around it."""

    __slots__ = ()


@dataclass
class DotGraph:
    """The nodes of a graph with their attributes, and its edges (source, target, attributes), all in order."""

    directed: bool
    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes]] = field(default_factory=list)


def read_dot(text: str, limits: Limits = DEFAULTS, kept: Container[str] | None = None) -> DotGraph:
    """The one graph in a text; subgraphs are part of it, and defaults such as `node [shape=circle]` are filled in.

    Only the attributes in `kept` are read, or all of them: defaults are copied to every node and edge, so a short text
    with many can take much memory. Raises `InvalidValue` with the line of what is not DOT, and `TooLarge` beyond
    `limits.read_edges` nodes or edges, before they are made. Cost: the length of the text and the number of edges.
    """
    try:
        return _Reader(text, limits.read_edges, kept).graph()
    except RecursionError:
        raise InvalidValue("subgraphs are nested too deeply: write the graph without them") from None


def _tokens(text: str) -> Iterator[_Token]:
    """The pieces of a text: (kind, text, position). The kind is the mark or keyword itself, "quoted", "id", or
    "end"."""
    position, kind = 0, ""
    while kind != "end":
        match = _TOKENS.match(text, position)
        if match is None:
            raise _fault(text, len(text) - len(text[position:].lstrip()))
        kind, position = match.lastgroup or "", match.end()
        found = match[kind]
        if kind == "mark":
            yield found, found, position
        elif kind == "id":
            lower = found.lower()
            yield lower if lower in _KEYWORDS else "id", found, position
        elif kind == "html":
            found = _html(text, position - 1)
            position += len(found) - 1
            yield "id", Html(found), position
        else:
            yield kind, found.replace("\\\n", "").replace('\\"', '"') if "\\" in found else found, position


def _html(text: str, position: int) -> str:
    """The text in angle brackets that begins here."""
    depth = 0
    for match in _ANGLES.finditer(text, position):
        depth += 1 if match[0] == "<" else -1
        if not depth:
            return text[position : match.end()]
    raise _fault(text, position)


def _fault(text: str, position: int) -> InvalidValue:
    if position >= len(text):
        return InvalidValue("the graph does not end: is the file cut off?")
    return InvalidValue(f"line {text.count(chr(10), 0, position) + 1} is not valid DOT: correct it")


class _Reader:
    """Reads tokens one by one, with the next one in view."""

    def __init__(self, text: str, most: int, kept: Container[str] | None) -> None:
        self._text, self._rest, self._most, self._kept = text, _tokens(text), most, kept
        self._kind, self._value, self._position = next(self._rest)

    def graph(self) -> DotGraph:
        self._skip("strict")
        self._graph = DotGraph(directed=self._kind == "digraph")
        if not self._skip("digraph"):
            self._take("graph")
        if self._kind in _NAMES:
            self._name()
        self._body({}, {})
        if self._kind in ("digraph", "graph", "strict"):
            raise InvalidValue("there is more than one graph: write one file for each")
        self._take("end")
        return self._graph

    def _body(self, node: Attributes, edge: Attributes) -> dict[str, None]:
        """The nodes named between braces; defaults that are set there do not reach beyond them."""
        node, edge, named = dict(node), dict(edge), dict[str, None]()
        self._take("{")
        while not self._skip("}"):
            if self._skip(";"):
                continue
            if self._kind in ("node", "edge", "graph"):
                defaults = {"node": node, "edge": edge}.get(self._kind, {})
                self._take(self._kind)
                defaults |= self._attributes()
            else:
                named |= self._statement(node, edge)
        return named

    def _statement(self, node: Attributes, edge: Attributes) -> dict[str, None]:
        """The nodes named in a node, an edge, a subgraph, or an attribute of the graph, which names none."""
        is_name = self._kind in _NAMES
        name = self._name() if is_name else ""
        if is_name and self._skip("="):
            self._name()
            return {}
        ends = [self._node(name, node) if is_name else self._subgraph(node, edge)]
        while self._skip("->" if self._graph.directed else "--"):
            is_name = self._kind in _NAMES
            ends.append(self._node(self._name(), node) if is_name else self._subgraph(node, edge))
            self._refuse_more(len(ends) - 1)
        attributes = self._attributes()
        if len(ends) == 1 and is_name:
            self._graph.nodes[name] |= attributes
        shared = edge | attributes
        for sources, targets in pairwise(ends):
            self._refuse_more(len(self._graph.edges) + len(sources) * len(targets))
            self._graph.edges += ((source, target, shared) for source in sources for target in targets)
        return {name: None for end in ends for name in end}

    def _node(self, name: str, defaults: Attributes) -> dict[str, None]:
        if name not in self._graph.nodes:
            self._refuse_more(len(self._graph.nodes) + 1)
            self._graph.nodes[name] = dict(defaults)
        for _ in range(2):  # a port and a compass point, where an edge touches the node
            if self._skip(":"):
                self._name()
        return {name: None}

    def _subgraph(self, node: Attributes, edge: Attributes) -> dict[str, None]:
        if self._skip("subgraph") and self._kind in _NAMES:
            self._name()
        return self._body(node, edge)

    def _attributes(self) -> Attributes:
        found = {}
        while self._skip("["):
            while not self._skip("]"):
                name = self._name()
                value = self._name() if self._skip("=") else "true"
                if self._kept is None or name in self._kept:
                    found[name] = value
                if not self._skip(";"):
                    self._skip(",")
        return found

    def _refuse_more(self, number: int) -> None:
        if number > self._most:
            raise TooLarge(f"a graph may have at most {self._most} edges, and as many nodes: use a smaller one")

    def _name(self) -> str:
        """A name or value; texts in quotes may be joined by +."""
        if self._kind == "id":
            return self._take("id")
        name = self._take("quoted")
        while self._skip("+"):
            name += self._take("quoted")
        return name

    def _skip(self, kind: str) -> bool:
        """Whether the next token is of this kind; then it is passed over."""
        if self._kind != kind:
            return False
        self._take(kind)
        return True

    def _take(self, kind: str) -> str:
        if self._kind != kind:
            raise _fault(self._text, self._position)
        value = self._value
        if kind != "end":
            self._kind, self._value, self._position = next(self._rest)
        return value
