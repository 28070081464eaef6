"""The answers of a report in a table: they take the place of the words, in one column.

A column of lists becomes one of lists of items, and a column of text stays text. Words that were spread over columns,
or over the rows of an event log, are answered in one list for each word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.encoding import Codes, Ragged
from dpwords.core.symbols import Alphabet
from dpwords.errors import InvalidValue
from dpwords.frames.coders import Coder, coder_of, is_list
from dpwords.frames.shapes import Found, Shape, TextWords, WideWords
from dpwords.mechanisms.report import Report

ANSWER = "answer"  # the column of the answers, where words have no column of their own


@dataclass(frozen=True)
class AnswerColumn:
    """Reads words in any shape, and writes the items that a report names for each of them into one column."""

    words: Shape
    report: Report
    name: str
    kind: Any  # the Arrow type of one item; None if the column has text
    large: bool = False  # whether the lists have large offsets

    @property
    def columns(self) -> tuple[str, ...]:
        return self.words.columns

    @property
    def released(self) -> tuple[str, ...]:
        return (self.name,)

    def read(self, batch: Any) -> Found:
        """The words of an Arrow record batch."""
        return self.words.read(batch)

    def write(self, words: Ragged) -> list[Any]:
        """The column of the items that are named, from their numbers."""
        if isinstance(self._writer, TextWords):
            return self._writer.write(words)
        ends, values = np.concatenate([[0], words.ends]), self._writer.values(words.values)
        if self.large:
            return [pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values)]
        return [pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)]

    @cached_property
    def _writer(self) -> TextWords | Coder:
        items = self.report.items
        if isinstance(self.words, TextWords):
            return _text(self.words, self.report)
        if self.report.question != "transitions":
            return coder_of(items, self.kind)
        ends = tuple(dict.fromkeys(end for pair in items for end in pair))
        number = {end: place for place, end in enumerate(ends)}
        return PairCoder(coder_of(ends, self.kind), np.array([[number[one], number[other]] for one, other in items]))


@dataclass(frozen=True, eq=False)
class PairCoder:
    """Pairs of states or symbols, each as a list of two."""

    inner: Coder
    pairs: Codes  # the numbers of the two ends of each pair

    def codes(self, values: Any) -> Codes:
        """Pairs are only written."""
        raise NotImplementedError

    def values(self, codes: Any) -> Any:
        """The Arrow array of the pairs with these numbers."""
        flat = self.inner.values(self.pairs[np.asarray(codes)].reshape(-1))
        return pa.ListArray.from_arrays(pa.array(np.arange(0, len(flat) + 1, 2), pa.int32()), flat)


def answer_column(schema: Any, words: Shape, report: Report) -> AnswerColumn:
    """Where the answers of a report about these words go, in a table of this schema."""
    first = schema.field(words.columns[0]).type
    if not isinstance(words, WideWords):
        kind = _item_kind(first.value_type, report) if is_list(first) else None
        found = AnswerColumn(words, report, words.columns[0], kind, bool(pa.types.is_large_list(first)))
    else:
        found = AnswerColumn(words, report, ANSWER, _item_kind(first, report))
    found.write(Ragged(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))  # raises if items cannot be values
    return found


def _item_kind(kind: Any, report: Report) -> Any:
    """The Arrow type of states and symbols in answers: that of the column, unless it has moves and they are states."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    ends = [end for item in report.items for end in (item if report.question == "transitions" else (item,))]
    if set(ends) <= set(report.language.alphabet.symbols):
        return plain
    try:
        return pa.infer_type(ends)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.string()


def _text(words: TextWords, report: Report) -> TextWords:
    """What writes items as text, with the separator of the words between them, or a space."""
    separator = words.separator or None
    if any(name.split(separator) != [name] for name in report.names):
        raise InvalidValue(
            "an item is empty, or contains what separates items in a text: choose another separator, or put words into "
            "lists"
        )
    return TextWords(words.column, words.kind, Alphabet(report.names), separator)
