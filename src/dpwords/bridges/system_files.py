"""Systems from files, by the suffix of their names, as on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import NamedTuple

from dpwords.bridges.dot import from_dot
from dpwords.bridges.edge_lists import from_edges
from dpwords.bridges.graphml import from_graphml
from dpwords.bridges.json_systems import from_json
from dpwords.bridges.maps import from_map
from dpwords.core.files import AnyFile, file_name
from dpwords.errors import InvalidValue, named
from dpwords.languages.systems import TransitionSystem


class SystemFile(NamedTuple):
    """A kind of file: what reads it, and the options that this takes."""

    load: Callable[..., TransitionSystem]
    options: tuple[str, ...] = ()


SYSTEM_FILES = {
    ".json": SystemFile(from_json),
    ".csv": SystemFile(from_edges, ("start",)),
    ".dot": SystemFile(from_dot, ("start", "symbols")),
    ".gv": SystemFile(from_dot, ("start", "symbols")),
    ".graphml": SystemFile(from_graphml, ("start", "action")),
    ".txt": SystemFile(from_map),
}


def read_system(
    file: AnyFile, words: str | None, start: str | None, action: str | None, symbols: str | None = None
) -> TransitionSystem:
    """The system in a file. Options that have no effect on it are refused; `words` are "moves", "states" or None."""
    suffix = PurePath(file_name(file)).suffix.lower()
    if suffix not in SYSTEM_FILES:
        raise InvalidValue(
            f"a system must be a grid or a file: write grid:15x15, or name a file that ends in {_listed(SYSTEM_FILES)}"
        )
    load, options = SYSTEM_FILES[suffix]
    values = {"start": start, "action": action, "symbols": symbols}
    given = {name: value for name, value in values.items() if value is not None}
    for name in given:
        if name not in options:
            raise InvalidValue(f"{named(name)} has no effect on a {suffix} file: leave it out")
    if words == "moves" and suffix in (".csv", ".graphml") and action is None:
        more = f", or name the edge attribute that has the moves with {named('action')}" if "action" in options else ""
        raise InvalidValue(
            f"a {suffix} file has words of states only, not of moves: leave out {named('words', 'moves')}{more}"
        )
    return load(file, **given)


def _listed(names: dict[str, SystemFile]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"
