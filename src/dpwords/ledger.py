"""A ledger of ε: what has been spent for each id, over all releases, in an SQLite file.

A charge is recorded before anything is drawn. If the program is killed in between, the ledger counts a release that
never happened; it never misses one that did. When `charge` returns, the charge is on the disk (SQLite has synchronised
the file and its directory, `synchronous=EXTRA`), so that even a power failure does not undo it.

ε adds up as whole numbers of 10^(−9), without rounding: ten charges of 0.1 are exactly 1. An amount is read to 15
significant digits, as people would write it, and what is left over is rounded up.

Every call opens a connection of its own and closes it, so a ledger may be shared by threads, pickled, and used on both
sides of a fork. SQLite's locks keep two processes from spending the same ε. Keep the file on a local disk: on many
network file systems locks do not work.
"""

from __future__ import annotations

import math
import os
import secrets
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.files import resolved
from dpwords.core.id_kinds import KINDS, Id, asked_id, checked_id, refuse_several
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.values import Value
from dpwords.errors import InvalidValue
from dpwords.privacy.guarantees import PureDP

_PLACES = 9
_UNITS: int = 10**_PLACES  # of each ε
_MOST = 10**9  # ε of one id, so that sums fit into SQLite's integers
_APPLICATION = int.from_bytes(b"dpwl", "big")  # in the file's header, where SQLite has a place for it
_VERSION = 1
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS facts (one INTEGER PRIMARY KEY CHECK (one = 1), budget INTEGER);
CREATE TABLE IF NOT EXISTS runs (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, k INTEGER NOT NULL,
    distance TEXT NOT NULL, method TEXT NOT NULL, time TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS charges (id NOT NULL, run INTEGER NOT NULL REFERENCES runs, units INTEGER NOT NULL,
    PRIMARY KEY (id, run)) WITHOUT ROWID;
INSERT OR IGNORE INTO facts VALUES (1, NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""  # the column id has no type, so that ids keep theirs
_AS_TEXT = """
INSERT INTO charges SELECT CAST(id AS TEXT), run, units FROM charges WHERE typeof(id) = 'integer'
ON CONFLICT (id, run) DO UPDATE SET units = units + excluded.units
"""
_EXCEEDING = """
SELECT count(*), min(id), spent, missing FROM (
    SELECT id, (SELECT coalesce(sum(units), 0) FROM charges WHERE charges.id = wanted.id) AS spent,
        units - coalesce((SELECT units FROM charges WHERE charges.id = wanted.id AND run = :run), 0) AS missing
    FROM wanted)
WHERE missing > 0 AND spent + missing > :most
"""
_RECORD = """
INSERT INTO charges SELECT id, :run, units FROM wanted WHERE true
ON CONFLICT (id, run) DO UPDATE SET units = max(units, excluded.units)
"""
_FAULTS = {
    sqlite3.SQLITE_BUSY: "is in use by another program for too long: wait until that has finished, and try again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check the path, and the permissions of the file and its directory",
    sqlite3.SQLITE_CORRUPT: "is damaged: replace it by a copy",
    sqlite3.SQLITE_FULL: "cannot be written, because the disk is full: make room",
    sqlite3.SQLITE_NOTADB: "is not a ledger: pass the path of a ledger, or of a file that does not exist yet",
    sqlite3.SQLITE_READONLY: "may not be written: allow it for the file and its directory",
}


@dataclass(frozen=True)
class Charge:
    """What one run has spent for one id, for which promise; `time` is when the run was first charged, in UTC."""

    id: Id
    epsilon: float
    run: str
    k: int
    distance: str
    method: str
    time: str


@dataclass(frozen=True)
class Account:
    """What has been spent for one id, what is left of the budget (inf if there is none), and in how many runs."""

    id: Id
    spent: float
    left: float
    runs: int


class Ledger(Value):
    """ε spent for each id, over all releases that are charged to one file; charges beyond the budget are refused.

    The file is made if it does not exist, readable by its owner only. The first budget that is given is stored in it
    and holds for each id from then on: a different one is refused later, and without `budget` the stored one holds. If
    no budget was ever given, the ledger only counts. An id is a text, a whole number, or bytes, and all ids of a ledger
    are of one kind: otherwise 1 and "1" would have two budgets. Texts are compared as they are: "1", "01" and " 1" are
    three ids, and so are two ways to write an accent in Unicode.

    ε is added up whatever k and distance it was spent at. The sum is what is promised for a change that is within k of
    every charge: substitutions in at most the smallest of these k places of each word. Reports hide any change, so
    their k does not count.

    >>> import dpwords as dw, tempfile
    >>> promise = dw.Exponential(dw.Words("acgt"), epsilon=4).guarantee
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = dw.Ledger(f"{folder}/ledger.db", budget=10)
    ...     ledger.charge({"ann": 8, "bob": 4}, promise)  # two words of ann's, one of bob's
    ...     ledger.spent("ann"), ledger.left("ann"), ledger.spent("eve")
    (8.0, 2.0, 0.0)
    """

    def __init__(self, path: str | os.PathLike[str], budget: float | None = None, *, limits: Limits = DEFAULTS) -> None:
        units = None if budget is None else _budget_units(budget)
        self.path = _made(path)
        self._limits = limits
        with self._connected(made=True) as connection:
            _header(connection)  # undoes what a process that was killed had begun to write
            if not self.path.stat().st_size:
                connection.executescript(_SCHEMA)  # repeats nothing that another process has done in the meantime
            _check(connection, self.path.name)
            if units is not None and _stored_budget(connection) is None:
                connection.execute("UPDATE facts SET budget = ? WHERE budget IS NULL", (units,))
            stored = _stored_budget(connection)
        if units is not None and stored is not None and units != stored:
            raise InvalidValue(
                f"{self.path.name} has a budget of {_written(stored)}, not {_written(units)}: leave the budget out, or "
                "use another ledger"
            )

    def charge(self, amounts: Mapping[Any, float], guarantee: PureDP, run: str | None = None) -> None:
        """Record ε for each id, before anything is drawn: for all of them, or for none if one would exceed the budget.

        The amount of an id is the sum over its words. `run` names a release whose draws are the same when it is resumed
        or repeated: an id that is already charged for that run pays only what is missing to the new amount. Never give
        two different releases one name. Without `run` everything is paid. A `NotPrivate` guarantee is refused, because
        no ε is known to be spent. Cost: about 8 microseconds for each id, its earlier charges, and a write to the disk.
        """
        if not isinstance(guarantee, PureDP):
            raise InvalidValue("only a proven ε can be charged, and this mechanism is not private: use one that is")
        if not isinstance(amounts, Mapping):
            raise InvalidValue("amounts are a dict with the ε of each id: pass for example {'ann': 0.5}")
        if run is not None and (not isinstance(run, str) or not run):
            raise InvalidValue("a run is named by a text: pass a non-empty str, or leave it out")
        if not amounts:
            return
        name = checked_id(secrets.token_hex(16) if run is None else run)
        with self._connected() as connection:
            connection.execute("CREATE TEMP TABLE wanted (id PRIMARY KEY, units INTEGER) WITHOUT ROWID")
            connection.execute("BEGIN")
            rows = ((checked_id(id), _amount_units(amount)) for id, amount in amounts.items())
            connection.executemany("INSERT INTO wanted VALUES (?, ?)", rows)
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")  # from here on nobody else can write
            refuse_several(_kinds(connection, "charges"), _kinds(connection, "wanted"))
            number = _run_number(connection, name, guarantee)
            _refuse_excess(connection, number)
            connection.execute(_RECORD, {"run": number})
            connection.execute("COMMIT")

    def spent(self, id: Id) -> float:
        """The ε spent for an id so far; 0 if it is unknown. Cost: proportional to the number of its charges.

        An id of another kind than those in the ledger is refused, as in `left` and `entries`: it would always have 0.
        """
        with self._connected() as connection:
            return _spent_units(connection, _asked(connection, id)) / _UNITS

    def left(self, id: Id) -> float:
        """What is left of the budget for an id; inf if there is no budget. Cost: as `spent`."""
        with self._connected() as connection:
            return _left(_stored_budget(connection), _spent_units(connection, _asked(connection, id)))

    @property
    def budget(self) -> float | None:
        """The budget of each id; None if there is none. Cost: constant."""
        with self._connected() as connection:
            stored = _stored_budget(connection)
        return None if stored is None else stored / _UNITS

    def accounts(self, most: int | None = None) -> list[Account]:
        """What has been spent for each id: those that have spent most come first, and at most `most` of them.

        Cost: time proportional to the number of charges, memory to that of the accounts.
        """
        count = -1 if most is None else whole_number(most, "the number of accounts", 0)
        query = "SELECT id, sum(units), count(*) FROM charges GROUP BY id ORDER BY sum(units) DESC, id LIMIT ?"
        with self._connected() as connection:
            budget = _stored_budget(connection)
            rows = _rows(connection, query, (count,), int, int)
        return [Account(id, units / _UNITS, _left(budget, units), runs) for id, units, runs in rows]

    def entries(self, id: Id | None = None) -> list[Charge]:
        """All charges, or those of one id: by id, and the earliest run first. Cost: proportional to their number."""
        query = "SELECT id, units, name, k, distance, method, time FROM charges JOIN runs ON run = number"
        query, some = (f"{query} ORDER BY id, run", ()) if id is None else (f"{query} WHERE id = ? ORDER BY run", (id,))
        with self._connected() as connection:
            rows = _rows(connection, query, tuple(_asked(connection, x) for x in some), int, str, int, str, str, str)
        return [Charge(id, units / _UNITS, *rest) for id, units, *rest in rows]

    def as_text(self) -> None:
        """Write ids that are whole numbers as texts, as releases of tables name people. 1 and "1" become one id.

        What both have spent is added up, even beyond the budget. Cost: proportional to the number of charges.
        """
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_AS_TEXT)
            connection.execute("DELETE FROM charges WHERE typeof(id) = 'integer'")
            connection.execute("COMMIT")

    def kinds(self) -> set[type]:
        """The kinds of the ids, one or none; two only in a ledger of an earlier version. Cost: constant."""
        with self._connected() as connection:
            return _kinds(connection, "charges")

    def neighbours(self) -> list[tuple[str, int]]:
        """The distances and k at which ε was spent, each once. Cost: proportional to the number of runs."""
        with self._connected() as connection:
            return _rows(connection, "SELECT DISTINCT distance, k FROM runs ORDER BY distance, k", (), str, int)

    def __len__(self) -> int:
        """The number of ids that have been charged. Cost: proportional to the number of charges."""
        with self._connected() as connection:
            return int(connection.execute("SELECT count(DISTINCT id) FROM charges").fetchone()[0])

    def __bool__(self) -> bool:
        """True, also while it is empty: `if ledger:` asks whether there is one."""
        return True

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing has to be closed: no connection outlives a call."""

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @contextmanager
    def _connected(self, made: bool = False) -> Iterator[sqlite3.Connection]:
        """A connection for one call; what is not committed when it ends is undone."""
        address = f"{self.path.as_uri()}?mode=rw"  # a ledger that has gone is not made anew
        try:
            with closing(
                sqlite3.connect(address, uri=True, timeout=self._limits.ledger_wait, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA fullfsync = ON")  # on macOS, where fsync alone does not reach the disk
                connection.execute("PRAGMA temp_store = MEMORY")  # no ids in temporary files
                if not made:
                    _check(connection, self.path.name)
                yield connection
        except (TypeError, OverflowError, UnicodeDecodeError):  # what is stored is not of the kind that was stored
            raise InvalidValue(f"{self.path.name} {_FAULTS[sqlite3.SQLITE_CORRUPT]}") from None
        except sqlite3.Error as error:
            fault = _FAULTS.get(
                getattr(error, "sqlite_errorcode", 0) & 0xFF, f"cannot be used ({error}): check the file and the disk"
            )
            raise InvalidValue(f"{self.path.name} {fault}") from None


def _made(path: str | os.PathLike[str]) -> Path:
    """The full path of a ledger, as an empty file if there was none; only its owner may read it."""
    try:
        place = resolved(Path(path))
        if place.exists() and not place.is_file():
            raise InvalidValue(f"{place.name} is not a regular file: pass the path of a ledger")
        with suppress(FileExistsError):
            os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise InvalidValue(f"the ledger cannot be made ({error.strerror}): check the path") from None
    except InvalidValue:
        raise
    except (TypeError, ValueError, RuntimeError):
        raise InvalidValue("the ledger has no valid path: pass a path without null characters and loops") from None
    return place


def _header(connection: sqlite3.Connection) -> tuple[int, int]:
    (application,), (version,) = (
        connection.execute(f"PRAGMA {p}").fetchone() for p in ("application_id", "user_version")
    )
    return application, version


def _check(connection: sqlite3.Connection, name: str) -> None:
    """Raise `InvalidValue` unless the file is a ledger that this version can read."""
    application, version = _header(connection)
    if application != _APPLICATION:
        raise InvalidValue(f"{name} {_FAULTS[sqlite3.SQLITE_NOTADB]}")
    if version > _VERSION:
        raise InvalidValue(f"{name} was made by a newer version of dpwords: install that version")


def _rows(connection: sqlite3.Connection, query: str, values: tuple[Any, ...], *kinds: type) -> list[Any]:
    """What a query finds; raises TypeError if the last columns are not of these kinds, because the file is damaged."""
    rows = connection.execute(query, values).fetchall()
    if not all(isinstance(value, kind) for row in rows for value, kind in zip(row[-len(kinds) :], kinds, strict=True)):
        raise TypeError
    return rows


def _stored_budget(connection: sqlite3.Connection) -> int | None:
    budget = connection.execute("SELECT budget FROM facts").fetchone()[0]
    if not isinstance(budget, int | None):
        raise TypeError  # the file is damaged
    return budget


def _run_number(connection: sqlite3.Connection, name: Id, guarantee: PureDP) -> int:
    """The number of a run, which is recorded if it is new; one name cannot stand for two promises."""
    promise = (guarantee.k, guarantee.distance, guarantee.method)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    row = "INSERT INTO runs (name, k, distance, method, time) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    connection.execute(row, (name, *promise, now))
    query = "SELECT number, k, distance, method FROM runs WHERE name = ?"
    number, *stored = connection.execute(query, (name,)).fetchone()
    if tuple(stored) != promise:
        raise InvalidValue(
            "this run was charged with another k, distance or calibration: give each release a run of its own"
        )
    return int(number)


def _kinds(connection: sqlite3.Connection, table: str) -> set[type]:
    """The kinds of ids in a table, or two of three: whole numbers are sorted before texts, and texts before bytes."""
    ends = f"SELECT min(id) FROM {table} UNION ALL SELECT max(id) FROM {table}"
    found = {type(id) for (id,) in connection.execute(ends) if id is not None}
    if not found <= set(KINDS):
        raise TypeError  # the file is damaged
    return found


def _asked(connection: sqlite3.Connection, id: object) -> Id:
    return asked_id(id, _kinds(connection, "charges"))


def _refuse_excess(connection: sqlite3.Connection, run: int) -> None:
    """Raise `InvalidValue` if the wanted amounts are more than the budget leaves for one of the ids."""
    budget = _stored_budget(connection)
    most = _MOST * _UNITS if budget is None else budget
    count, id, spent, missing = connection.execute(_EXCEEDING, {"run": run, "most": most}).fetchone()
    if count:
        limit = "the most that a ledger counts" if budget is None else "the budget"
        whom = f"id {id!r:.80}" if count == 1 else f"{count} ids, the first of which is {id!r:.80},"
        raise InvalidValue(
            f"{limit}, {_written(most)} for each id, would be exceeded for {whom} with "
            f"{_written(max(most - spent, 0))} left and {_written(missing)} to pay: nothing is charged or drawn; "
            "use a smaller epsilon or fewer words, or leave such ids out"
        )


def _spent_units(connection: sqlite3.Connection, id: Id) -> int:
    return int(connection.execute("SELECT coalesce(sum(units), 0) FROM charges WHERE id = ?", (id,)).fetchone()[0])


def _left(budget: int | None, spent: int) -> float:
    return math.inf if budget is None else max(budget - spent, 0) / _UNITS


def _amount_units(amount: object) -> int:
    """An amount of ε in whole units, rounded up."""
    number = positive_number(amount, "the ε of an id", "{'ann': 0.5}")
    if number > _MOST:
        raise InvalidValue(f"the ε of an id is at most {_MOST:g}: beyond that nothing would be hidden")
    numerator, denominator = _as_written(number)
    return -(-numerator // denominator)


def _budget_units(budget: object) -> int:
    """A budget in whole units, rounded down."""
    number = positive_number(budget, "a budget", "budget=10")
    if not 1 <= number * _UNITS <= _MOST * _UNITS:
        raise InvalidValue(f"a budget is between {1 / _UNITS:g} and {_MOST:g}: pass for example budget=10")
    numerator, denominator = _as_written(number)
    return numerator // denominator


def _as_written(number: float) -> tuple[int, int]:
    """A number to 15 significant digits, as many as a float is good for, in units, as a fraction: 0.1 + 0.2 is 0.3."""
    digits, exponent = f"{number:.14e}".replace(".", "").split("e")
    shift = int(exponent) - 14 + _PLACES
    return int(digits) * 10 ** max(shift, 0), 10 ** max(-shift, 0)


def _written(units: int) -> str:
    return f"{units / _UNITS:.15g}"
