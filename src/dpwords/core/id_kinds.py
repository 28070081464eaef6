"""Ids that name people in a ledger: texts, whole numbers or bytes, and all of them of one kind."""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress
from numbers import Integral

from dpwords.errors import InvalidValue

Id = str | int | bytes
KINDS = {int: "whole numbers", str: "texts", bytes: "bytes"}


def checked_id(id: object) -> Id:
    """An id as SQLite stores it."""
    if isinstance(id, str):
        with suppress(UnicodeEncodeError):
            id.encode()
            return id
    elif isinstance(id, bytes):
        return id
    elif isinstance(id, Integral) and not isinstance(id, bool) and -(2**63) <= int(id) < 2**63:
        return int(id)
    raise InvalidValue("an id is a text, bytes, or a whole number of at most 64 bits: pass others as a text")


def asked_id(id: object, kinds: Set[type]) -> Id:
    """An id that somebody asks for, where there are ids of these kinds: of another kind there would always be none."""
    asked = checked_id(id)
    if len(kinds) == 1 and type(asked) not in kinds:
        (kind,) = kinds
        raise InvalidValue(f"the ids in this ledger are {KINDS[kind]}: ask for one of that kind")
    return asked


def refuse_several(there: Set[type], new: Set[type]) -> None:
    """Raise `InvalidValue` if ids are of several kinds: those that are there, in a ledger, and those that are new."""
    kinds = there | new
    if len(kinds) > 1:
        named = " and ".join(name for kind, name in KINDS.items() if kind in kinds)
        moved = int in there and bytes not in kinds
        written = ", or write the ledger's as text with 'dpwords ledger as-text FILE'" if moved else ""
        raise InvalidValue(
            f"all ids of a ledger are of one kind, and these are {named}, so that one person could have two budgets: "
            f"nothing is charged or drawn; pass ids of the ledger's kind{written}"
        )
