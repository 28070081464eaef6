"""Reading what a release has written: words, or the answers of a report, back into codes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import InvalidValue, NotInLanguage, named
from dpwords.frames.answers import ANSWER, released_answers
from dpwords.frames.columns import NoColumn
from dpwords.frames.faults import WordRule
from dpwords.frames.passes import TableSource
from dpwords.frames.requests import Request
from dpwords.frames.shapes import Fault
from dpwords.frames.word_table import WordTable
from dpwords.mechanisms.mechanism import NamedItems
from dpwords.mechanisms.private import Private


@dataclass(frozen=True, eq=False)
class Released:
    """The words of a released table as symbol codes, or the answers of a report as numbers of items, a row each."""

    codes: Ragged | Codes
    positions: tuple[str, ...] = ()  # the columns of the words, if each position has one

    def __len__(self) -> int:
        return len(self.codes)


def released(source: TableSource, mechanism: Private, request: Request, words: int | None = None) -> Released:
    """What a table has that this mechanism released; `request` says where, as it did for the release.

    `words` is the number in the receipt: in an event log and in plain text, the empty words that an edit channel has
    released leave no trace, so they are what is missing. Cost: that of reading the file.
    """
    plain = Request(**{name: getattr(request, name) for name in _WHERE}, drop_others=True)
    if mechanism.answers is not None:
        return Released(_answers(source, mechanism.answers, plain))
    table = WordTable.of(source.reader, plain, mechanism)
    rule = _ReleasedRule(mechanism, row=table.request.row, file=source.input.name)
    found = replace(table, release=replace(table.release, rule=rule)).words().words
    vanish = table.log is not None or source.form.kind == "text"
    if words is not None and vanish and not mechanism.least_length and words > len(found):
        rest = np.full(words - len(found), found.ends[-1] if len(found) else 0, dtype=np.int64)
        found = Ragged(found.values, np.concatenate([found.ends, rest]))
    return Released(found, table.release.shape.columns if plain.columns else ())


_WHERE = ("column", "columns", "case", "symbol", "order", "separator")


@dataclass(frozen=True, eq=False)
class _ReleasedRule(WordRule):
    """The rule for words that a mechanism is said to have released."""

    file: str = ""

    def error(self, fault: Fault, _codes: Codes, name: int | str) -> InvalidValue:
        return NotInLanguage(
            f"{self.row} {name} of {self.file} cannot come from this mechanism ({_REASONS[fault]}): check that the "
            "file is as it was released, where its words are, and which words could come out"
        )


_REASONS = {
    Fault.MISSING: "its value is null",
    Fault.GAP: "it has a null before its last symbol",
    Fault.UNKNOWN: "a symbol is not in the alphabet",
    Fault.EMPTY: "it is empty",
    Fault.OUTSIDE: "it is no word of the language",
    Fault.SHORT: "it is too short",
}


def _answers(source: TableSource, answers: NamedItems, request: Request) -> Codes:
    """The numbers of the items that each row names."""
    names = source.reader.schema.names
    column = _column_of_answers(names, request)
    shape, parts, rows = released_answers(source.reader.schema, answers, column, request.separator), [], 0
    for batch in source.reader.batches([column]):
        found = shape.read(batch)
        wrong = found.words.sizes != answers.size
        if not wrong.any():
            items = np.sort(found.words.values.astype(np.int64).reshape(-1, answers.size), axis=1)
            wrong = (items[:, -1] >= len(answers.items)) | (np.diff(items, axis=1) == 0).any(axis=1)
            parts.append(items)
        if wrong.any():
            raise NotInLanguage(
                f"row {rows + int(np.flatnonzero(wrong)[0]) + 1} of {source.input.name} does not name {answers.size} "
                "items of the report: see that the file is as it was released"
            )
        rows += len(batch)
    return np.concatenate([np.zeros((0, answers.size), dtype=np.int64), *parts])


def _column_of_answers(names: list[str], request: Request) -> str:
    if request.columns is not None:
        return ANSWER
    if request.column is not None:
        return request.column
    log = replace(request, order=None).log(names)  # answers about events have no order any more
    if log is not None:
        return log.symbol
    if len(names) != 1:
        raise NoColumn(f"say where the answers are, with {named('column')}", names)
    return names[0]
