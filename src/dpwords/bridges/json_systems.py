"""Transition systems from JSON files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from dpwords.core.files import AnyFile, file_name, read_text
from dpwords.errors import InvalidValue, within_memory
from dpwords.languages.systems import TransitionSystem

_FORM = 'write {"start": "s0", "transitions": {"s0": {"action": "s1"}}}'
_KEYS = ("start", "accepting", "transitions", "positions")


class _Repeated(list[Any]):
    """The values of a key that a JSON object has more than once."""


@within_memory()
def from_json(path: AnyFile) -> TransitionSystem:
    """A system from a JSON file {"start": …, "accepting": […], "transitions": {state: {action: state}}}.

    The keys "accepting" and "positions", {state: [x, y]} for pictures, are optional; other keys are refused. States are
    strings; `"start": null` lets runs start in any state, for words of states. Cost: the size of the file.
    """
    name, text = file_name(path), read_text(path)
    try:
        document = json.loads(text, object_pairs_hook=_keep_repeated)
    except json.JSONDecodeError as error:
        raise InvalidValue(
            f"{name} is not valid JSON (line {error.lineno}, column {error.colno}): is the file cut off?"
        ) from None
    except (RecursionError, ValueError):
        raise InvalidValue(f"{name} is JSON but not a transition system: {_FORM}") from None
    if not isinstance(document, dict) or not {"start", "transitions"} <= document.keys():
        raise InvalidValue(f'{name} needs the keys "start" and "transitions": {_FORM}')
    for key, value in document.items():
        if key not in _KEYS:
            likely = get_close_matches(key, _KEYS, n=1) or [", ".join(_KEYS)]
            raise InvalidValue(f'{name} has an unknown key "{key[:20]}": leave it out, or write {likely[0]}')
        if isinstance(value, _Repeated):
            raise InvalidValue(f'{name} has the key "{key}" more than once: keep one of them')
    accepting = document.get("accepting")
    if not (accepting is None or isinstance(accepting, list)):
        raise InvalidValue(f'{name}: "accepting" must be a list of states: write ["{accepting}"]')
    for where, state in _states_named(document, accepting or []):
        if isinstance(state, (int, float)):
            raise InvalidValue(f'{name}, {where}: states must be strings in JSON: write "{json.dumps(state)}"')
        if not isinstance(state, str):
            raise InvalidValue(f'{name}, {where}: states must be strings in JSON: write for example "s0"')
    try:
        return TransitionSystem(document["transitions"], document["start"], accepting, document.get("positions"))
    except InvalidValue as error:
        raise type(error)(f"{name}: {error.message}") from None


def _keep_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dict in which a repeated key has the list of its values, so that it can be refused later."""
    values: dict[str, _Repeated] = {}
    for name, value in pairs:
        values.setdefault(name, _Repeated()).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


def _states_named(document: dict[str, Any], accepting: list[Any]) -> Iterator[tuple[str, Any]]:
    """Every value in a JSON system that should be a state, with a text that says where it is."""
    if document["start"] is not None:
        yield "start", document["start"]
    yield from (("accepting", state) for state in accepting)
    rows = document["transitions"]
    for state, row in rows.items() if isinstance(rows, dict) else ():
        for action, target in row.items() if isinstance(row, dict) else ():
            if isinstance(target, list):
                continue  # more than one state, which the system refuses
            yield f"state {state}, action {action}", target
