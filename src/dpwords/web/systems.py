"""Systems that the page reads from a file: their states, moves and places, and a text that stands for them later."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from dpwords.bridges.system_files import SYSTEM_FILES, read_system
from dpwords.core.files import FileContent
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.systems import GridWorld, TransitionSystem, written
from dpwords.plots.places import cells_of, spots_of
from dpwords.web.fields import Fields
from dpwords.web.messages import Message
from dpwords.web.settings import MOST_SIDE
from dpwords.web.workers import ShowProgress

MOST_SPREAD = 200  # states on the page that have neither coordinates nor cells
MOST_PLACED = 1_000  # states on the page that have
MOST_MOVES = 4_000


def load(question: Message, _progress: ShowProgress) -> Message:
    """The system in a file: what the page draws, and its JSON, with which the page describes it from then on.

    Of a map, the cells come along, so that they can be edited. The file is not written to disk.
    """
    fields = Fields(question.values)
    name = fields.text("name", 300)
    start, action = (fields.text(each, 300) if fields.has(each) else None for each in ("start", "action"))
    fields.done()
    if PurePath(name).suffix.lower() not in SYSTEM_FILES:
        known = ", ".join(SYSTEM_FILES)
        raise InvalidValue(f"the page reads systems from files that end in {known}: convert or rename the file")
    system = read_system(FileContent(name, question.content), None, start, action)
    return Message({"grid": _editable(system), **_described(system)})


def _described(system: TransitionSystem) -> dict[str, Any]:
    states, moves = len(system.states), sum(len(row) for row in system.transitions.values())
    most = MOST_SPREAD if system.positions is None and cells_of(system) is None else MOST_PLACED
    if states > most or moves > MOST_MOVES:
        raise TooLarge(
            f"the page shows systems of at most {MOST_SPREAD} states, or {MOST_PLACED:,} with coordinates, and "
            f"{MOST_MOVES:,} moves, and this one has {states:,} and {moves:,}: use the command line"
        )
    numbers = {state: number for number, state in enumerate(system.states)}
    spots = spots_of(system)
    anywhere = system.start is None
    return {
        "system": system.to_json(),
        "states": [[written(state), *spots[state]] for state in system.states],
        "moves": [
            [numbers[state], written(action), numbers[target]]
            for state, row in system.transitions.items()
            for action, target in row.items()
        ],
        "start": None if anywhere else numbers[system.start],
        "accepting": None if system.accepting is None else sorted(numbers[state] for state in system.accepting),
        "words": ["states"] if anywhere or system.symbols_are == "states" else ["moves", "states"],
    }


def _editable(system: TransitionSystem) -> dict[str, Any] | None:
    """The cells of a map that the page can edit; None for other systems."""
    if not isinstance(system, GridWorld) or system.start is None or max(system.rows, system.columns) > MOST_SIDE:
        return None
    return {
        "rows": system.rows,
        "columns": system.columns,
        "start": system.start,
        "walls": sorted(system.walls),
        "goal": sorted(system.accepting or ()),
    }
