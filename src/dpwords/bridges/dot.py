"""Transition systems from DOT files, as tools that learn automata write them, and back."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from dpwords.bridges.dot_language import Attributes, DotGraph, Html, read_dot
from dpwords.bridges.labelled_edges import system_of
from dpwords.core.files import AnyFile, file_name, read_text
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.languages.systems import TransitionSystem, written

DotSymbols = Literal["inputs", "outputs", "labels"]
_USED = ("label", "shape", "style", "peripheries")  # attributes that say what a node or an edge is
_ROW = re.compile(r"<\s*<table.*</table>\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]*>")


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
    name, text = file_name(path), read_text(path)
    if symbols not in (None, "inputs", "outputs", "labels"):
        raise InvalidValue('symbols must be "inputs", "outputs" or "labels"')
    try:
        return _system(read_dot(text, kept=_USED), start, symbols, accepting)
    except InvalidValue as error:
        raise type(error)(f"{name}: {error.message}") from None


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
