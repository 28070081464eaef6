"""Released words as they are given to an estimate: checked, encoded and grouped by length."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dpwords.core.symbols import Codes, Ragged, is_hashable
from dpwords.errors import InvalidValue, NotInLanguage, within_memory
from dpwords.languages.language import Language
from dpwords.languages.spelling import SpellingEncoder
from dpwords.mechanisms.private import Private
from dpwords.spaces.choice import space_of


@dataclass(frozen=True, eq=False)
class Releases:
    """Released words as symbol codes."""

    words: Ragged

    @classmethod
    @within_memory()
    def of(cls, releases: Any, mechanism: Private) -> Releases:
        """Check that these can be releases of the mechanism. Cost: their symbols.

        `releases` is a list of words, an array of symbol codes (a word in each row), a `Ragged`, or a column of words
        of a pyarrow, pandas or Polars table.
        """
        if not isinstance(mechanism, Private) or mechanism.answers is not None:  # users may pass anything
            raise InvalidValue(
                "this question is answered by releases of words: pass releases of Exponential, Online, EditChannel or "
                "what best returns, and the mechanism itself"
            )
        if isinstance(releases, Ragged):
            words = releases
        elif isinstance(releases, np.ndarray) and releases.ndim == 2 and releases.dtype.kind in "iu":
            words = Ragged.even(releases)
        else:
            words = _encoded(listed(releases), mechanism.language)
        if not len(words):
            raise InvalidValue("there are no releases to estimate from: pass at least one")
        if len(words.values) and (words.values.min() < 0 or words.values.max() >= len(mechanism.language.alphabet)):
            raise NotInLanguage("a code is outside the alphabet: pass releases of this mechanism")
        _check(words, mechanism)
        return cls(words)

    @classmethod
    def of_rows(cls, words: Mapping[int, Codes]) -> Releases:
        """From rows of codes of each length, which have been checked. Cost: their symbols."""
        return cls(Ragged.of([row for rows in words.values() for row in rows]))

    def __len__(self) -> int:
        return len(self.words)

    def by_length(self) -> dict[int, Codes]:
        """The words of each length, a row of codes each."""
        groups = [self.words.rows(numbers) for numbers in self.words.by_length()]
        return {rows.shape[1]: rows for rows in groups}

    def fingerprint(self, mechanism: Private) -> str:
        """What releases with other words, or of another mechanism, do not have. Cost: the symbols of the releases."""
        promise = (repr(mechanism), mechanism.epsilon, mechanism.k)
        facts = repr((mechanism._space.identity, mechanism.language.alphabet.symbols, promise))
        found = hashlib.sha256(facts.encode("utf-8", "surrogatepass"))
        for numbers in (self.words.values, self.words.ends):
            found.update(numbers.astype(np.int64).tobytes())
        return found.hexdigest()


@within_memory()
def listed(releases: Any) -> list[Any]:
    """The words, or other releases, of a list or a column."""
    if hasattr(type(releases), "columns"):  # pandas, Polars, pyarrow and Spark
        raise InvalidValue(
            "releases are one column of a table, not the whole table: pass a column, as in table['word']"
        )
    for name in ("to_pylist", "to_list", "tolist"):  # pyarrow; Polars and pandas; NumPy
        convert = getattr(releases, name, None)
        if convert is not None:
            return list(convert())
    if isinstance(releases, str) or not isinstance(releases, Iterable):
        raise InvalidValue("releases are a list of words, or a column of a table: pass the releases of many words")
    return list(releases)


def _encoded(words: list[Any], language: Language) -> Ragged:
    """The codes of words of any lengths; raises an error that names the first word that has none."""
    found, codes = [], language.letters.codes
    if all(isinstance(word, (str, list, tuple)) for word in words):
        with suppress(KeyError, TypeError):  # something is wrong with a word, or cells are lists
            flat = np.fromiter(map(codes.__getitem__, chain.from_iterable(words)), dtype=np.int64)
            ends = np.cumsum([len(word) for word in words], dtype=np.int64)
            return _of_symbols(Ragged(flat, ends), language)
    for number, word in enumerate(words, start=1):
        given = word.tolist() if isinstance(word, np.ndarray) else word
        if not isinstance(given, (str, list, tuple)):
            raise InvalidValue(f"release {number} is no word: pass words, each a str, a list or a tuple of symbols")
        symbols = [tuple(symbol) if isinstance(symbol, list) else symbol for symbol in given]
        if not all(is_hashable(symbol) and symbol in codes for symbol in symbols):
            raise NotInLanguage(
                f"release {number} has a symbol that is not in the alphabet of the mechanism: pass releases of this "
                "mechanism"
            )
        found.append(np.array([codes[symbol] for symbol in symbols], dtype=np.int64))
    return _of_symbols(Ragged.of(found), language)


def _of_symbols(words: Ragged, language: Language) -> Ragged:
    """The codes of symbols, from those of what words are written in."""
    if language.spelling is None:
        return words
    found = SpellingEncoder(language.alphabet, language.spelling).read(words)
    wrong = np.flatnonzero(found.values >= len(language.alphabet))
    if len(wrong):
        number = int(np.searchsorted(found.ends, wrong[0], side="right")) + 1
        raise NotInLanguage(f"release {number} is no word of the mechanism's language: pass releases of this mechanism")
    return found


def _check(words: Ragged, mechanism: Private) -> None:
    """Raise if a word cannot have been released by the mechanism."""
    if mechanism.distance != "hamming":
        return
    space = space_of(mechanism.language, "hamming", mechanism.limits)
    for numbers in words.by_length():
        rows = words.rows(numbers)
        wrong = ~space.accepts(rows) if rows.shape[1] else np.ones(len(rows), dtype=np.bool_)
        if wrong.any():
            raise NotInLanguage(
                f"release {int(numbers[np.flatnonzero(wrong)[0]]) + 1} is no word of the mechanism's language: pass "
                "releases of this mechanism"
            )
