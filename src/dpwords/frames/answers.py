"""The answers of a report in a table: they take the place of the words, in one column.

A column of lists becomes one of lists of items, and a column of text stays text. Words that were spread over columns,
or over the rows of an event log, are answered in one list for each word.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.symbols import Alphabet, Ragged
from dpwords.errors import InvalidValue
from dpwords.frames.coders import is_list, is_text, kind_name, own_kind, plain_kind
from dpwords.frames.columns import checked_column
from dpwords.frames.shapes import ListWords, Shape, TextWords, WideWords
from dpwords.mechanisms.mechanism import NamedItems

ANSWER = "answer"  # the column of the answers, where words have no column of their own


class AnswerColumn:
    """Reads words in any shape, and writes the items that are named for each of them into one column.

    Each item is a symbol of the shape `items`.
    """

    def __init__(self, words: Shape, items: Shape) -> None:
        self.columns, self.read = words.columns, words.read
        self.released, self.write = items.columns, items.write


def answer_column(words: Shape, answers: NamedItems, alphabet: Alphabet) -> AnswerColumn:
    """Where the answers about these words over an alphabet go."""
    if isinstance(words, TextWords):
        return AnswerColumn(words, _text(words.column, words.written, words.separator, answers))
    name, out = words.columns[0], words.written  # type: ignore[attr-defined]
    if isinstance(words, WideWords):
        name, out = ANSWER, pa.list_(words.written[0])
    kind = _item_kind(out.value_type, answers, alphabet)
    kind = pa.list_(kind) if answers.question == "transitions" else kind
    out = pa.large_list(kind) if pa.types.is_large_list(out) else pa.list_(kind)
    found = AnswerColumn(words, ListWords(name, out, out, Alphabet(answers.items)))
    found.write(Ragged(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))  # raises if items cannot be values
    return found


def released_answers(schema: Any, answers: NamedItems, column: str, separator: str | None) -> ListWords | TextWords:
    """What reads answers in a column of a released table, each item as its number."""
    kind = schema.field(checked_column(schema.names, column)).type
    if is_list(kind):
        return ListWords(column, kind, kind, Alphabet(answers.items))
    if not is_text(plain_kind(kind)):
        raise InvalidValue(
            f"answers are lists or text, and column {column} has type {kind_name(kind)}: name another column"
        )
    return _text(column, kind, separator, answers)


def _item_kind(kind: Any, answers: NamedItems, alphabet: Alphabet) -> Any:
    """The Arrow type of states and symbols in answers: that of the column, unless it has moves and they are states."""
    ends = [end for item in answers.items for end in (item if answers.question == "transitions" else (item,))]
    return plain_kind(kind) if set(ends) <= set(alphabet.symbols) else own_kind(ends)


def _text(column: str, kind: Any, separator: str | None, answers: NamedItems) -> TextWords:
    """What reads and writes items as text, with the separator of the words between them, or a space."""
    separator = separator or None
    if any(name.split(separator) != [name] for name in answers.names):
        raise InvalidValue(
            "an item is empty, or contains what separates items in a text: choose another separator, or put words into "
            "lists"
        )
    return TextWords(column, kind, Alphabet(answers.names), separator)
