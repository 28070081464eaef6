"""What a user asks for, in one value: where the words are, whose they are, and what happens to bad rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpwords.errors import InvalidValue, named
from dpwords.frames.batches import BatchRelease, WordRule
from dpwords.frames.columns import checked_column, named_columns
from dpwords.frames.long import CASE, SYMBOL, LongWords
from dpwords.frames.people import Division
from dpwords.frames.shapes import answer_shape, shape_of
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.recipes.recipe import Recipe


@dataclass(frozen=True)
class Request:
    """The public options of a release of a table; see `dpwords.frames.release`."""

    column: str | None = None
    columns: str | Sequence[str] | None = None
    case: str | None = None
    symbol: str | None = None
    order: str | None = None
    separator: str | None = None
    id: str | None = None
    by: str | None = None
    budget: float | None = None
    split: str | None = None
    invalid: str = "fail"
    drop_others: bool = False
    reused_key: bool = False  # whether the user gives the key, which may be used again, so that rows need ids
    header: bool | None = None  # whether a header is confirmed to be one; None and False: see `confirms_header`
    inside: Language | None = None  # a language in which words have to be beyond that of the mechanism
    any_word: bool = True  # False: the language that the mechanism projects onto is `inside`
    row: str = "row"  # what messages call a row
    named: bool = False  # whether messages know a row by its id, because rows have no numbers

    @classmethod
    def of(cls, recipe: Recipe, inside: Language | None = None) -> Request:
        """What a recipe says about the table."""
        return cls(**recipe.table_values(), header=recipe.header or None, inside=inside)

    def log(self, names: Sequence[str]) -> LongWords | None:
        """The columns of an event log, if the table with columns of these names is one; otherwise None."""
        parts = (self.case, self.symbol, self.order)
        known = self.column is None and self.columns is None and CASE in names and SYMBOL in names
        if parts == (None, None, None) and not known:
            return None
        if (self.column, self.columns, self.separator, self.id) != (None, None, None, None):
            raise InvalidValue(
                f"{named('column')}, {named('columns')}, {named('separator')} and {named('id')} do not go with "
                f"{named('case')}, {named('symbol')} and {named('order')}: the case is the id"
            )
        return LongWords.of(names, *parts)

    def of_cases(self, log: LongWords) -> Request:
        """The request for the table in which each case of an event log has become one row."""
        bare = replace(self, case=None, symbol=None, order=None, drop_others=False)
        return replace(bare, column=log.symbol, id=log.case, row="case")

    def confirms_header(self, names: Sequence[str]) -> bool:
        """Whether it is known that a first line with these names is a header, and not a row of private values.

        It is if the user has spelled out one of them. A number does not count: without a header, columns have numbers.
        If `header` is False, a program has chosen the names, and the user has only seen them. That is enough if there
        are several columns, of which one has the words, and if none of them is called by a number.
        """
        if self.header:
            return True
        if self.header is False and (len(names) == 1 or self.columns is not None or any(map(str.isdigit, names))):
            return False
        ranges = [self.columns or ""] if isinstance(self.columns, str | None) else self.columns
        given = [end for text in ranges for end in ([text] if text in names else text.partition(":")[::2])]
        given += [name or "" for name in (self.column, self.case, self.symbol, self.order, self.id, self.by)]
        return any(name and name in names and not name.isdigit() for name in given)

    def needed(self, names: Sequence[str]) -> list[str]:
        """The columns that are read, of those with these names, in their order; all of them if that is not clear."""
        log = self.log(names)
        if log is not None:
            words: Sequence[str] = log.columns
        elif self.columns is not None:
            words = named_columns(names, self.columns)
        else:
            words = names if self.column is None else [checked_column(names, self.column)]
        others = [checked_column(names, name) for name in (self.id, self.by) if name is not None]
        return [name for name in names if name in {*words, *others}]

    def release(
        self,
        schema: Any,
        mechanism: Private,
        key: bytes | None,
        declared: Callable[[str], bool] = lambda name: False,
    ) -> BatchRelease:
        """What releases a batch of a table of this schema; `declared` is that of `shape_of`."""
        if not isinstance(mechanism, Private):
            raise InvalidValue(
                "tables are released by mechanisms with a proven guarantee: pass for example Exponential"
            )
        if self.invalid not in ("fail", "skip"):
            raise InvalidValue("invalid is 'fail', to stop at rows that are no words, or 'skip', to leave them out")
        if self.reused_key and self.id is None:
            raise InvalidValue(
                "a key that is reused needs ids that name the words, because equal words with equal ids, such as row "
                f"numbers, come out alike in all tables: name the column with {named('id')}, or leave out the key"
            )
        Division.of(mechanism.epsilon, self.budget, self.split)  # raises
        fixed = mechanism.distance != "levenshtein"
        where = (self.column, self.columns, self.separator)
        shape = shape_of(schema, mechanism.language, *where, same_length=fixed, declared=declared)
        given = [checked_column(schema.names, name) for name in (self.id, self.by) if name is not None]
        if set(given) & set(shape.columns):
            raise InvalidValue("a column of words cannot be the id or the person as well: name another column")
        output = [name for name in schema.names if name in {*shape.columns, *given}] if self.drop_others else None
        return BatchRelease(
            mechanism,
            shape,
            key,
            id=self.id,
            invalid=self.invalid,
            output=None if output is None else tuple(output),
            rule=WordRule(mechanism, self.inside if self.any_word else mechanism.projected_onto, self.row),
            named=self.named,
            answers=None if mechanism.answers is None else answer_shape(shape, mechanism.answers),
        )
