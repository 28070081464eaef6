"""Files with tables of words: those that are to be released or studied, and those that were released.

What a release has written is read back into codes: words, or the answers of a report.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import InvalidValue, NotInLanguage, named, within_memory
from dpwords.frames.batches import WordRule
from dpwords.frames.columns import NoColumn
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.frames.rows import TableReader
from dpwords.frames.shapes import ANSWER, Fault, WideWords, released_answers
from dpwords.frames.streams import Input, MemoryInput
from dpwords.frames.word_table import FoundWords, WordTable
from dpwords.mechanisms.mechanism import NamedItems
from dpwords.mechanisms.private import Private
from dpwords.recipes.table_formats import DELIMITED


@dataclass(frozen=True)
class TableSource:
    """An open file with its format, and what reads it."""

    input: Input
    form: FileForm
    reader: TableReader

    def words(self, request: Request, mechanism: Private, key: bytes | None = None) -> WordTable:
        """The words of the file. If its first line could have some, it has to be confirmed that it is a header."""
        self.reader.empty_words = not mechanism.least_length
        with self.hiding_columns():
            table = WordTable.of(self.reader, request, mechanism, key)
            table.survey()  # raises if something is missing that it needs
        self._check_header(request, table)
        return table

    @contextmanager
    def hiding_columns(self) -> Iterator[None]:
        """Show no names of columns in an error if these could be symbols of the first word."""
        try:
            yield
        except NoColumn as error:
            if self._has_first_line:  # it could be private words
                where = f"the first line of {self.input.name}"
                raise InvalidValue(
                    f"{error.fault}: see that {where} has the names of the columns, or use {named('no_header', True)}"
                ) from None
            raise

    def _check_header(self, request: Request, table: WordTable) -> None:
        """Raise `InvalidValue` if the first line, which is taken for a header and written, could have a private word.

        It could if a symbol occurs where words are, and nobody has confirmed that the line is a header. Even a word
        that is not in the language would have some.
        """
        names, alphabet = self.reader.schema.names, table.release.mechanism.language.letters
        if not self._has_first_line or request.confirms_header(names):
            return
        text = (pa.string(),)
        shape = table.release.shape if table.log is None else WideWords((table.log.symbol,), text, alphabet, text)
        first = pa.RecordBatch.from_arrays([pa.array([name]) for name in names], names=names)
        if (shape.read(first).words.values < len(alphabet)).any():
            raise InvalidValue(
                f"the first line of {self.input.name} could be a row of words and not the names of the columns: name "
                f"one of its columns ({named('column')}, a range in {named('columns')}, {named('id')}, {named('by')}) "
                f"or use {named('header', True)} if it is a header, or use {named('no_header', True)}"
            )

    @property
    def _has_first_line(self) -> bool:
        return self.form.kind in DELIMITED and self.form.header


def words_in(path: str, named: str | None, request: Request, mechanism: Private, header: bool = True) -> FoundWords:
    """All words of a file that the mechanism could release, for studies by their owner.

    `named` is the format, if the suffix does not say it. A row that is no word raises the error that a release would,
    or is left out with invalid="skip". Cost: that of reading the file; all words are in memory.
    """
    form = FileForm.of(path, named, header)
    with Input(path) as opened:
        return TableSource(opened, form, form.reader(opened)).words(request, mechanism).words()


@within_memory()
def memory_source(name: str, content: bytes, named: str | None = None, header: bool = True) -> TableSource:
    """The bytes of a table in a file of this name; `named` is its format if the suffix does not say it."""
    form = FileForm.of(name, named, header)
    source = MemoryInput(name, content)
    return TableSource(source, form, form.reader(source))


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
    Fault.LENGTH: "no word of its length can come out",
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
