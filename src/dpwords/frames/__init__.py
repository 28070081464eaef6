"""Tables of words: a pyarrow, pandas or Polars table in, a table of the same kind with released words out."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from dpwords.errors import MissingExtra

if TYPE_CHECKING:
    from dpwords.core.symbols import Ragged
    from dpwords.frames.people import PeopleFacts
    from dpwords.mechanisms.private import Private


def release(
    mechanism: Private,
    table: Any,
    column: str | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    case: str | None = None,
    symbol: str | None = None,
    order: str | None = None,
    separator: str | None = None,
    id: str | None = None,
    by: str | None = None,
    budget: float | None = None,
    split: Literal["equal", "first"] | None = None,
    key: bytes | None = None,
    ledger: Any = None,
    invalid: Literal["fail", "skip"] = "fail",
    drop_others: bool = False,
    any_word: bool = True,
) -> Any:
    """Return the table with each of its words released. Each word spends ε.

    `table` is a pyarrow Table or RecordBatch, a pandas DataFrame or a Polars DataFrame, and so is the result, with the
    same types (and the same index). A single column (a Series or an Arrow array) is accepted as well. Metadata,
    attributes and unused categories of the table are not copied. The words are

    - in one `column`: lists of symbols, or text. Text is split at `separator`; without one, it consists of single
      characters if the alphabet does, and otherwise of names with white space between them;
    - or in several `columns`, one for each step: a list of names, a range "m1:m12", or a pattern "m*". Nulls at the end
      of a row make its word shorter;
    - or in rows, as in an event log: `case`, `symbol` and `order` name the columns (in logs of the XES standard they
      are known). The result has these columns only, and the order column is rebuilt: 1, 2, 3, …, or seconds from
      2000-01-01 on. The original times would tell which events are true. A case that is released as the empty word has
      no rows.

    A `Report` does not release words: its answers, the items that it names for each word, take their place. They are in
    the column of the words, as lists of items, or as text if the words are; in a new column "answer", which replaces
    all `columns`; or in one row for each `case`.

    The values of all other columns are copied, and not protected; `drop_others` leaves only those that are named here.
    Where categories are listed with a column, they are those of the alphabet afterwards. A word shorter than k is
    released with its length as k. Rows whose word is missing or not in the language raise NotInLanguage before anything
    is drawn; with invalid="skip" they are left out, which shows that they were such rows. An `EditChannel` that is
    projected onto a language takes any word over its symbols; with any_word=False the words have to be in the language,
    as on the command line.

    `by` names the column that tells who one person is. With a `budget`, the words of each person spend no more than it:
    split="equal" gives each of n words budget/n, split="first" releases only as many words as it pays for at the
    mechanism's ε. A `ledger` is charged before the first draw. `id` names the column of the ids of `release_all`; a
    `key` needs one, or the `case` of an event log. Ids and people are named by text, as in files: the whole number 1 is
    "1" in a ledger, and to `release_all`.

    Cost: that of `release_codes`, and a few nanoseconds for each symbol.

    >>> import dpwords as dw, pyarrow as pa
    >>> table = pa.table({"user": [1, 1, 2], "route": ["abac", "cab", "bb"]})
    >>> private = dw.frames.release(dw.Exponential(dw.Words("abc"), epsilon=2), table, column="route", by="user")
    >>> [len(route) for route in private["route"].to_pylist()]
    [4, 3, 2]
    """
    need_pyarrow()
    from dpwords.frames import tables
    from dpwords.frames.requests import Request

    where = (column, columns, case, symbol, order, separator)
    request = Request(*where, id, by, budget, split, invalid, drop_others, any_word=any_word)
    return tables.release(mechanism, table, request, key, ledger)


def facts(mechanism: Private, table: Any, column: str | None = None, **options: Any) -> PeopleFacts:
    """What people would spend in a `release` with the same options; `by`, or else `id`, says who one person is.

    Nothing is drawn. The result has the number of people and words, the largest and the median number of words of a
    person, and the ε that these add up to; as a text it says so in a sentence. It is for the owner of the table.
    Cost: that of reading the table.

    >>> import dpwords as dw, pyarrow as pa
    >>> table = pa.table({"user": [1, 1, 2], "route": ["abac", "cab", "bb"]})
    >>> found = dw.frames.facts(dw.Exponential(dw.Words("abc"), epsilon=2), table, column="route", by="user")
    >>> found.most, found.most_spent
    (2, 4.0)
    """
    need_pyarrow()
    from dpwords.frames import tables
    from dpwords.frames.requests import Request

    return tables.facts(mechanism, table, Request(column, **options))


def words(
    mechanism: Private,
    table: Any,
    column: str | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    case: str | None = None,
    symbol: str | None = None,
    order: str | None = None,
    separator: str | None = None,
) -> Ragged:
    """The words of a table as they are, for `dpwords.estimate`: what a `release` by the mechanism returned.

    The options are those of `release`. Reports have no words: pass the column of their answers to `estimate` itself.
    Rows whose word is missing or not in the language raise NotInLanguage. Cost: that of reading the table.

    >>> import dpwords as dw, pyarrow as pa
    >>> mechanism = dw.Exponential(dw.Words(["pay", "ship"]), epsilon=2)
    >>> released = pa.table({"trace": ["pay>ship", "pay", "ship>ship"]})
    >>> words = dw.frames.words(mechanism, released, column="trace", separator=">")
    >>> dw.estimate.lengths(words, mechanism).counted
    {0: 0.0, 1: 0.3333333333333333, 2: 0.6666666666666666}
    """
    need_pyarrow()
    from dpwords.frames import tables
    from dpwords.frames.requests import Request

    return tables.words(mechanism, table, Request(column, columns, case, symbol, order, separator))


def need_pyarrow() -> None:
    """Raise a one-line error if pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise MissingExtra("tables need pyarrow: pip install 'dpwords[frames]'")
