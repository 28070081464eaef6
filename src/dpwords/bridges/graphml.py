"""Transition systems from GraphML files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterable
from typing import Any
from xml.parsers import expat

from dpwords.bridges.networkx_graphs import from_networkx
from dpwords.core.extras import optional
from dpwords.core.files import AnyFile, file_name, read_bytes
from dpwords.errors import InvalidValue, within_memory
from dpwords.languages.exploring import State
from dpwords.languages.systems import TransitionSystem


@within_memory()
def from_graphml(
    path: AnyFile,
    start: State | None = None,
    action: str | None = None,
    accepting: Iterable[State] | None = None,
    node_type: Callable[[str], Any] = str,
) -> TransitionSystem:
    """A system from a GraphML file with a directed graph, as osmnx, networkx, Gephi or yEd write it.

    `start` and `action` are those of `from_networkx`. The states are the ids of the nodes, as text; `node_type=int`
    makes numbers of them, as in graphs of osmnx. Document type declarations, and with them entities, are refused.
    Cost: the size of the file; about 1 KiB of memory for each node and edge.
    """
    name, content = file_name(path), read_bytes(path)
    networkx = optional("networkx", "networkx", "GraphML files")
    from xml.etree.ElementTree import ParseError

    _check_xml(name, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # attributes of an undeclared type are read as text
            graph = networkx.read_graphml(io.BytesIO(content), node_type=node_type)
    except (networkx.NetworkXException, ParseError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InvalidValue(f"{name} is XML but no GraphML that networkx can read ({reason}): export it again") from None
    if not graph.is_directed():
        raise InvalidValue(f'{name} has no directions, and moves have: export it with edgedefault="directed"')
    try:
        return from_networkx(graph, start, action, accepting)
    except InvalidValue as error:
        raise type(error)(f"{name}: {error.message}") from None


def _check_xml(name: str, content: bytes) -> None:
    """Raise `InvalidValue` for XML that is not well-formed, has a DOCTYPE, or has an edge without source or target."""

    def refuse(*_declaration: object) -> None:
        raise InvalidValue(f"{name} has a document type declaration (DOCTYPE), which is refused for safety: remove it")

    def check_edge(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(":")[2] == "edge" and not {"source", "target"} <= attributes.keys():
            line = parser.CurrentLineNumber
            raise InvalidValue(f"{name}, line {line}: the source or the target of an edge is missing")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = check_edge
    try:
        parser.Parse(content, True)
    except InvalidValue:
        raise
    except expat.ExpatError as error:
        reason = f"line {error.lineno}, column {error.offset + 1}: {expat.ErrorString(error.code)}"
        raise InvalidValue(f"{name} is not valid XML ({reason}): is the file cut off?") from None
    except (LookupError, ValueError):
        raise InvalidValue(f"{name} is in an encoding that cannot be read: convert it to UTF-8") from None
