"""`release`, written once: only mechanisms with a proven guarantee derive from `Private`."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dpwords import __version__
from dpwords.core.keyed import Ids, Key, distinct
from dpwords.core.limits import check_memory
from dpwords.core.randomness import Stream
from dpwords.core.symbols import AnyWord, Codes, Ragged, Rows, Word, code_type
from dpwords.errors import DPWordsError, InvalidValue, NotInLanguage, within_memory
from dpwords.mechanisms.mechanism import kind_of
from dpwords.mechanisms.summary import Summarised
from dpwords.spaces.space import Distances, Law, Weights

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.privacy.certificates.certifier import Certifier

SomeWord = TypeVar("SomeWord", bound=Word | Codes)
Progress = Callable[[Sequence[Any]], Iterable[Any]]
StepDone = Callable[[str, float | None], None]  # what is being done, and the fraction from 0 to 1, None if unknown
_BYTES_A_CODE = 3  # bytes taken for each byte of codes while all rows are drawn; measured


@dataclass(frozen=True, eq=False)
class Drawing:
    """How words of one length are drawn. Everything that the draws need from calibration has been read once."""

    draw: Callable[[Codes, Stream], Rows]  # one output for each row of codes, each a word of the language
    parameters: Callable[[], tuple[Any, ...]]  # all numbers that determine the distribution of the outputs


class Private(Summarised):
    """A mechanism whose guarantee is proven. It can release one word, a list of words, or arrays of symbol codes."""

    epsilon: float  # the privacy loss that is promised for neighbours

    @abstractmethod
    def _drawing(self, length: int) -> Drawing:
        """How words of this length are drawn."""

    def like(self, *, epsilon: float | None = None, k: int | None = None) -> Self:
        """The same kind of mechanism on the same language, with another ε or another k, and with fresh randomness."""
        return self._like(self.epsilon if epsilon is None else epsilon, self.k if k is None else k)

    @abstractmethod
    def _like(self, epsilon: float, k: int) -> Self:
        """The same with this ε and k."""

    def seconds_to_prepare(self, length: int) -> tuple[float, float]:
        """About how many seconds the proofs take that `prepare` needs, at least and at most."""
        return 0.0, 0.0

    def within(self, length: int) -> Self:
        """The mechanism that tables use for words of this length: its k is at most the length."""
        k = min(self.k, max(length, 1)) if self.distance == "hamming" else self.k
        return self if k == self.k else self.like(k=k)

    def at(self, length: int) -> Private:
        return self

    def without_projection(self) -> Private:
        return self

    def onto(self, language: Language, words: Language | None = None) -> Private:
        """The same mechanism, each of whose draws is replaced by one of the nearest words of a public language.

        All nearest words are equally likely: those with the fewest changed positions, or edits where words do not keep
        their length. What is done with a draw spends nothing, so the promise stays the same. With `words`, only words
        of that language can go in, which have to be words of this mechanism's; otherwise all of these can.

        >>> from dpwords import Exponential, Words, rules
        >>> free = Words("abc")
        >>> "a" in Exponential(free, epsilon=2).onto(free & rules.contains("a")).release("bcacb")
        True
        """
        projected = import_module("dpwords.mechanisms.projected")  # by name, since a projection is itself a `Private`
        made: Private = projected.Projected(self, language, words)
        return made

    @property
    def certificates(self) -> Certifier | None:
        """The certificates that prove its rate, which can be saved and loaded; None if it needs none."""
        return None

    def prepare(self, length: int, progress: StepDone | None = None, *, in_full: bool = False) -> None:
        """Make everything that draws of words of this length need, so that none of them has to wait for it.

        That is above all a certificate, and a choice where there are several mechanisms. `progress` is called with what
        is being done, and with the fraction of it that is done. `in_full` also makes certificates that are otherwise
        made only when they are asked for, as those of large lexicons. Cost: nothing on free words.
        """
        self._drawing(length)

    def notes(self, lengths: Sequence[int]) -> list[str]:
        """What to say about words of these lengths, once they are released, besides the promise: which mechanism they
        used, and where nothing better than the textbook rate is proven. It is public."""
        return []

    @within_memory()
    def release(self, word: AnyWord) -> AnyWord:
        """Return one private word of the same kind (str, list or tuple); under Hamming distance of the same length.

        Each release spends ε. Cost: proportional to the length on free words, to length · edges on a system, and to the
        number of words of a lexicon.

        >>> from dpwords import Exponential, Words
        >>> len(Exponential(Words("abc"), epsilon=2).release("abacab"))
        6
        """
        codes = self._codes(word)
        drawn = self._drawing(len(codes)).draw(codes.reshape(1, -1), self._source.open())
        released: list[AnyWord] = self._outputs.words(drawn, kind_of(word))
        return released[0]

    @within_memory()
    def release_all(
        self,
        words: Iterable[SomeWord],
        ids: Iterable[Any] | None = None,
        key: bytes | None = None,
        *,
        progress: Progress = iter,
    ) -> list[SomeWord]:
        """Return one private word for each of many words, in the same order. Each of them spends ε.

        Words may be str, lists and tuples of symbols, or NumPy arrays of symbol codes. They may have any lengths, and
        each comes back as it went in. Words of one length are encoded, drawn and decoded together, as arrays. All words
        are checked before anything is drawn. `progress` receives the list of these groups and yields them one by one,
        as `tqdm` does. Cost: that of `release_codes`, and about 300 nanoseconds for each word.

        With a `key` of 32 secret bytes, the draw of each word is a function of the key, the word's id, the mechanism
        and the word: a retry, in whatever order and on whatever machine, gives the same output and spends nothing more.
        Another id, or another word with the same id, gets independent randomness. `ids` are str, whole numbers or
        bytes, all different; by default 0, 1, 2, …. With one key, equal outputs of an id tell that its word did not
        change: if a key serves for more than one list of words, pass ids that stand for one fixed word each. Whoever
        knows the key can undo the privacy: keep it secret, and destroy it once no retry can be needed.

        >>> from dpwords import Exponential, Words
        >>> [len(word) for word in Exponential(Words("abc"), epsilon=2).release_all(["abacab", "cab"])]
        [6, 3]
        >>> mechanism, secret = Exponential(Words("abc"), epsilon=2), bytes(range(32))
        >>> first = mechanism.release_all(["abacab", "cab"], ids=["ann", "bob"], key=secret)
        >>> mechanism.release_all(["cab"], ids=["bob"], key=secret) == first[1:]
        True
        """
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise InvalidValue("release_all takes a list of words: pass a list, or one word to release")
        given = words if isinstance(words, list) else list(words)
        draws = _Draws.of(self, ids, key, len(given))
        groups = []
        for kind, numbers in _groups(given):
            rows = self._encoded(kind, given if len(numbers) == len(given) else [given[number] for number in numbers])
            if rows is None:
                raise self._first_fault(given)
            groups.append((kind, numbers, rows))
        released: list[Any] = []
        order: list[int] = []
        for kind, numbers, rows in progress(groups):
            drawn = draws.each(rows, numbers)
            released += self._outputs.words(drawn, kind) if kind is not np.ndarray else list(drawn)
            order += numbers
        if len(released) != len(given):
            raise InvalidValue("progress must yield every group that it receives: correct it, or leave it out")
        if len(groups) < 2:
            return released
        in_order: list[Any] = [None] * len(given)
        for number, word in zip(order, released, strict=True):
            in_order[number] = word
        return in_order

    def _repeated(self, word: AnyWord, draws: int) -> list[AnyWord]:
        return self.release_all([word] * draws)

    @overload
    def release_codes(self, rows: Ragged, ids: Iterable[Any] | None = None, key: bytes | None = None) -> Ragged: ...

    @overload
    def release_codes(
        self, rows: Codes | Sequence[Codes], ids: Iterable[Any] | None = None, key: bytes | None = None
    ) -> Codes | list[Codes]: ...

    @within_memory()
    def release_codes(
        self, rows: Rows | Sequence[Codes], ids: Iterable[Any] | None = None, key: bytes | None = None
    ) -> Rows | list[Codes]:
        """Return one private word for each row of a two-dimensional array of symbol codes. Each row spends ε.

        The code of a symbol is its position in `language.alphabet.symbols`; those of plans are states. Where words keep
        their length, the result is an array of the same shape and dtype; otherwise it is a list with one array for each
        word. A list of one-dimensional arrays of any lengths is accepted too, and so is a `Ragged`, which comes back as
        one. For `ids` and `key` see `release_all`. Cost: one or two random bytes for each symbol on free words; on a
        system the edges within reach for each row, on all cores. A key costs 0.3 microseconds more for each word.

        >>> import numpy as np
        >>> from dpwords import Exponential, Words
        >>> Exponential(Words("acgt"), epsilon=5).release_codes(np.zeros((1000, 20), dtype=np.uint8)).shape
        (1000, 20)
        """
        if isinstance(rows, list) and all(isinstance(row, np.ndarray) and row.ndim == 1 for row in rows):
            return self.release_all(rows, ids, key)
        if isinstance(rows, Ragged):
            groups = [(numbers, self._checked_rows(rows.rows(numbers))) for numbers in rows.by_length()]
            return self._release_groups(groups, _Draws.of(self, ids, key, len(rows)))
        codes = self._checked_rows(rows)
        check_memory(_BYTES_A_CODE * codes.nbytes)
        draws = _Draws.of(self, ids, key, len(codes))
        if not len(codes):
            return codes if self.distance == "hamming" else []
        drawn = draws.each(codes, slice(None))
        return list(drawn) if isinstance(drawn, Ragged) else drawn

    @within_memory()
    def _release_checked(self, words: Ragged, ids: Iterable[Any] | None, key: bytes | None) -> Ragged:
        """`release_codes` for codes that the caller has made, and has just seen to be words that may go in."""
        groups = [(numbers, words.rows(numbers)) for numbers in words.by_length()]
        return self._release_groups(groups, _Draws.of(self, ids, key, len(words)))

    def _release_groups(self, groups: Sequence[tuple[NDArray[np.int64], Codes]], draws: _Draws) -> Ragged:
        """The releases of words in groups of one length, each with the numbers of its words."""
        drawn = [(numbers, draws.each(rows, numbers)) for numbers, rows in groups]
        return Ragged.gathered(drawn, sum(len(numbers) for numbers, _ in groups), self._outputs.kind)

    def parameters(self, length: int) -> str:
        """A text with everything public that determines the draws at words of this length, given key, id and word.

        Mechanisms with the same text draw the same words. Cost: hashing the alphabet, and on systems the edges once.
        """
        return self._parameters(self._drawing(self._public_length(length)))

    def _parameters(self, drawing: Drawing) -> str:
        symbols = hashlib.sha256(repr(self.language.alphabet.symbols).encode("utf-8", "surrogatepass")).hexdigest()
        promise = (self.epsilon, self.k, self.distance)
        parts = (self.limits.batch, self.limits.piece)  # in which long words are drawn
        return repr((__version__, self._space.identity, symbols, *promise, *parts, *drawing.parameters()))

    def _encoded(self, kind: type, words: list[Any]) -> Codes | None:
        """The codes of words of one kind and length; None if one of them may not go in."""
        try:
            if kind is np.ndarray:
                return self._checked_rows(np.stack(words))
            length = self._checked_length(len(words[0]))
            self._checked_kind(words[0])
        except DPWordsError:
            return None
        rows = self._encoder.texts(words, length) if kind is str else self._encoder.sequences(words, length)
        return rows if rows is not None and self._space.accepts(rows).all() else None

    def _first_fault(self, words: list[Any]) -> DPWordsError:
        """The error that the first bad word of a list causes, with its number."""
        for number, word in enumerate(words, start=1):
            try:
                self._checked_rows(word.reshape(1, -1)) if isinstance(word, np.ndarray) else self._codes(word)
            except DPWordsError as error:
                return type(error)(f"word {number}: {error.message}")
        raise AssertionError

    def _checked_rows(self, rows: Any) -> Codes:
        """A plain copy of an array of codes, each row of which is a word that may go in."""
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "iu":
            raise InvalidValue("codes are a two-dimensional array of whole numbers, a word in each row")
        if isinstance(rows, np.ma.MaskedArray):
            raise InvalidValue("a masked array hides some of its codes: fill it first")
        plain = np.array(rows, dtype=rows.dtype.newbyteorder("="), order="C", subok=False)  # nothing but codes
        most = len(self.language.alphabet) - 1
        self._checked_length(plain.shape[1])
        if most > np.iinfo(plain.dtype).max:
            raise InvalidValue(f"codes up to {most} do not fit into {plain.dtype}: take a wider kind of number")
        if plain.size and (plain.min() < 0 or plain.max() > most):
            raise NotInLanguage(f"a code is outside 0 to {most}: only symbols can go in")
        wrong = np.flatnonzero(~self._space.accepts(plain))
        if len(wrong):
            raise NotInLanguage(f"row {wrong[0]} is not in the language: only words of the language can go in")
        return plain


class Weighted(Private):
    """A mechanism that draws from the words of its language by weights, the same ones at all words of a length."""

    _kind: tuple[str, ...] = ()  # what tells its draws from others with the same weights

    @abstractmethod
    def weights(self, length: int) -> Weights:
        """The weights of the outputs at words of this length: everything public that determines their probabilities.

        Cost: on systems a certificate for the length, once.
        """

    def _law(self, codes: Codes) -> Law:
        return self._space.law(codes, self.weights(len(codes)))

    def _drawing(self, length: int) -> Drawing:
        weights = self.weights(length)
        return Drawing(
            lambda rows, stream: self._space.draw_each(rows, weights, stream),
            lambda: (*self._kind, *weights.parameters),
        )

    def _distances(self, rows: Rows, width: int | None) -> Distances:
        return self._space.distances(rows, self.weights(len(next(iter(rows)))), width)


@dataclass(frozen=True, eq=False)
class _Draws:
    """The randomness of one call that releases many words: fresh, or keyed."""

    mechanism: Private
    key: Key | None
    tags: NDArray[np.uint64]  # of the ids, if there is a key

    @classmethod
    def of(cls, mechanism: Private, ids: Iterable[Any] | None, key: bytes | None, number: int) -> _Draws:
        """Check ids and key. Two words with one id would come out alike exactly if they are equal: refused."""
        if ids is None and key is None:
            return cls(mechanism, None, np.zeros((0, 2), dtype=np.uint64))
        secret = Key.fresh() if key is None else Key(key)
        checked = Ids.numbers(np.arange(number)) if ids is None else Ids.of(ids)
        if len(checked) != number:
            raise InvalidValue(f"there are {number} words and {len(checked)} ids: pass one id for each word")
        tags = secret.id_tags(checked)
        numbers = checked.whole_numbers
        rising = numbers is not None and bool((numbers[1:] > numbers[:-1]).all())  # as the numbers of rows are
        if ids is not None and not rising and not distinct(tags):
            raise InvalidValue(
                "two words have the same id, so that equal outputs would tell that the words are equal: give each word "
                "an id of its own, or leave out the ids"
            )
        return cls(mechanism, None if key is None else secret, tags)

    def each(self, rows: Codes, numbers: Sequence[int] | slice | NDArray[np.int64]) -> Rows:
        """One output for each row; the numbers are those of the words in the call."""
        mechanism = self.mechanism
        drawing = mechanism._drawing(rows.shape[1])
        if self.key is None:
            return drawing.draw(rows, mechanism._source.open())
        codes = rows.astype(code_type(len(mechanism.language.alphabet)), copy=False)
        streams = self.key.streams(mechanism._parameters(drawing), self.tags[numbers], codes)
        return drawing.draw(rows, streams)


def _groups(given: list[Any]) -> list[tuple[type, Sequence[int]]]:
    """The words by kind and length: the kind of each group, and the positions of its words in the list."""
    kinds = set(map(type, given))
    if len(kinds) == 1 and kinds <= {str, list, tuple} and len(set(map(len, given))) == 1:
        return [(kinds.pop(), range(len(given)))]
    groups: dict[tuple[type, Any, int], list[int]] = {}
    for number, word in enumerate(given):
        kind = np.ndarray if isinstance(word, np.ndarray) else kind_of(word)
        if kind is np.ndarray and (word.ndim != 1 or word.dtype.kind not in "iu"):
            raise InvalidValue(f"word {number + 1} is an array, but not of symbol codes: pass one row of whole numbers")
        if kind is tuple and not isinstance(word, tuple):
            raise InvalidValue(f"word {number + 1} is no word: pass a str, a list or a tuple of symbols")
        groups.setdefault((kind, getattr(word, "dtype", None), len(word)), []).append(number)
    return [(kind, numbers) for (kind, *_), numbers in groups.items()]
