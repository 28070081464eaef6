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
import pyarrow.compute as pc

from dpwords.core.encoding import Codes, Ragged
from dpwords.core.symbols import Alphabet
from dpwords.errors import InvalidValue
from dpwords.frames.coders import Coder, coder_of, is_list, is_text, symbols_as, told_kind
from dpwords.frames.columns import checked_column
from dpwords.frames.shapes import Found, Shape, TextWords, WideWords, read_lists
from dpwords.mechanisms.mechanism import NamedItems

ANSWER = "answer"  # the column of the answers, where words have no column of their own


@dataclass(frozen=True)
class AnswerColumn:
    """Reads words in any shape, and writes the items that a report names for each of them into one column."""

    words: Shape
    answers: NamedItems
    name: str
    kind: Any  # the Arrow type of a state or symbol; None if the column has text
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
        if isinstance(self.words, TextWords):
            return _text(self.name, self.words.written, self.words.separator, self.answers).write(words)
        ends, values = np.concatenate([[0], words.ends]), self._items.take(pa.array(words.values))
        if self.large:
            return [pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values)]
        return [pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)]

    @cached_property
    def _items(self) -> Any:
        """All items, as an Arrow array."""
        if self.answers.question != "transitions":
            return symbols_as(self.answers.items, self.kind)
        ends, pairs = _pairs(self.answers)
        flat = symbols_as(ends, self.kind).take(pa.array(pairs.reshape(-1)))
        return pa.ListArray.from_arrays(pa.array(np.arange(0, len(flat) + 1, 2), pa.int32()), flat)


@dataclass(frozen=True)
class AnswerLists:
    """Reads answers that were released as lists of items, each item as its number."""

    column: str
    answers: NamedItems
    kind: Any  # the Arrow type of a state or symbol

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def read(self, batch: Any) -> Found:
        """The answers of an Arrow record batch."""
        return read_lists(batch.column(self.column), self._coder)

    @cached_property
    def _coder(self) -> Coder:
        return _coder(self.answers, self.kind)


@dataclass(frozen=True, eq=False)
class PairCoder:
    """Pairs of states or symbols, each as a list of two."""

    inner: Coder
    pairs: Codes  # the numbers of the two ends of each pair

    def codes(self, values: Any) -> Codes:
        """The number of each pair; of a list that is none of them, the number of pairs."""
        whole = pc.equal(pc.list_value_length(values), 2).fill_null(False)
        ends = self.inner.codes(values.filter(whole).flatten()).astype(np.int64).reshape(-1, 2)
        base = int(max(self.pairs.max(), ends.max(initial=0))) + 1
        known = self.pairs[:, 0] * base + self.pairs[:, 1]
        order = np.argsort(known)
        wanted = ends[:, 0] * base + ends[:, 1]
        places = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(order) - 1)]
        found = np.full(len(values), len(known))
        found[whole.to_numpy(zero_copy_only=False)] = np.where(known[places] == wanted, places, len(known))
        return found


def answer_column(words: Shape, answers: NamedItems, alphabet: Alphabet) -> AnswerColumn:
    """Where the answers about these words over an alphabet go."""
    if isinstance(words, WideWords):
        found = AnswerColumn(words, answers, ANSWER, _item_kind(words.written[0], answers, alphabet))
    else:
        out = words.written  # type: ignore[attr-defined]
        kind = _item_kind(out.value_type, answers, alphabet) if is_list(out) else None
        found = AnswerColumn(words, answers, words.columns[0], kind, bool(pa.types.is_large_list(out)))
    found.write(Ragged(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))  # raises if items cannot be values
    return found


def released_answers(schema: Any, answers: NamedItems, column: str, separator: str | None) -> AnswerLists | TextWords:
    """What reads answers in a column of a released table."""
    kind = schema.field(checked_column(schema.names, column)).type
    if is_list(kind):
        inner = kind.value_type
        paired = answers.question == "transitions" and is_list(inner)
        return AnswerLists(column, answers, inner.value_type if paired else inner)
    if not is_text(kind.value_type if pa.types.is_dictionary(kind) else kind):
        raise InvalidValue(
            f"answers are lists or text, and column {column} has type {told_kind(kind)}: name another column"
        )
    return _text(column, kind, separator, answers)


def _coder(answers: NamedItems, kind: Any) -> Coder:
    """What reads the items, whose states or symbols have an Arrow type."""
    if answers.question != "transitions":
        return coder_of(answers.items, kind)
    ends, pairs = _pairs(answers)
    return PairCoder(coder_of(ends, kind), pairs)


def _pairs(answers: NamedItems) -> tuple[tuple[Any, ...], Codes]:
    """The states or symbols at the ends of transitions, and for each transition the numbers of its two ends."""
    ends = tuple(dict.fromkeys(end for pair in answers.items for end in pair))
    number = {end: place for place, end in enumerate(ends)}
    return ends, np.array([[number[one], number[other]] for one, other in answers.items])


def _item_kind(kind: Any, answers: NamedItems, alphabet: Alphabet) -> Any:
    """The Arrow type of states and symbols in answers: that of the column, unless it has moves and they are states."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    ends = [end for item in answers.items for end in (item if answers.question == "transitions" else (item,))]
    if set(ends) <= set(alphabet.symbols):
        return plain
    try:
        return pa.infer_type(ends)
    except (pa.ArrowException, TypeError, ValueError):
        return pa.string()


def _text(column: str, kind: Any, separator: str | None, answers: NamedItems) -> TextWords:
    """What reads and writes items as text, with the separator of the words between them, or a space."""
    separator = separator or None
    if any(name.split(separator) != [name] for name in answers.names):
        raise InvalidValue(
            "an item is empty, or contains what separates items in a text: choose another separator, or put words into "
            "lists"
        )
    return TextWords(column, kind, Alphabet(answers.names), separator)
