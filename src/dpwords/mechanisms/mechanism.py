"""The base class of all mechanisms: given a word, it provides the exact distribution of the outputs."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace
from enum import Enum
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import SeededSource, Source, SystemSource
from dpwords.core.symbols import (
    AnyWord,
    Codes,
    Encoder,
    PromisedDistance,
    Rows,
    Word,
    code_type,
    is_hashable,
    symbols_of,
)
from dpwords.core.values import Value
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge, named, within_memory
from dpwords.languages.language import Language
from dpwords.languages.systems import written
from dpwords.privacy.guarantees import Guarantee, NotPrivate, PureDP
from dpwords.spaces.space import Distances, Law, Space, distances_of

if TYPE_CHECKING:
    from dpwords.spaces.questions import Answers, Question, Selection


def estimates_refused(of: str = "of this mechanism", remedy: str | None = None) -> str:
    """Why no proportions are estimated from releases of some kind, and how to release instead: of a kind that can be
    fitted, or by another remedy."""
    fitted = (
        f"release with Online ({named('mechanism', 'online')}) or a linear utility ({named('utility', 'linear')}), "
        "without a projection"
    )
    return (
        f"proportions of a population cannot be estimated from releases {of}: where they are wanted, {remedy or fitted}"
    )


class OutputKind(Enum):
    """What a mechanism releases."""

    WORDS = "words"
    ANSWERS = "answers"  # about words: each names some of the possible items


class Mechanism(Value, ABC):
    """A randomised map from words of a public language to words of the same language, or to answers about them.

    Under Hamming distance words keep their length; under Levenshtein distance they need not. A mechanism is a value:
    nothing about it changes once it is built, it can be pickled, and threads may share it.

    Other packages never ask which class a mechanism has. They ask the mechanism: what it `releases`, which mechanism
    is in use `at` a length, what draws are `projected_onto`, and whether its distances count `edits_made`. What a
    release tells about the true word is asked of `dpwords.models`.
    """

    language: Language
    k: int
    distance: PromisedDistance
    limits: Limits
    answers: NamedItems | None = None  # the form of the answers, if what is released are no words
    projected_onto: Language | None = None  # draws are replaced by the nearest words of this language
    edits_made: bool = False  # whether distances count the edits made: an upper bound of the distance between words
    _space: Space
    _source: Source

    def __init__(
        self,
        language: Language,
        space: Space,
        k: int,
        distance: PromisedDistance = "hamming",
        limits: Limits = DEFAULTS,
    ) -> None:
        self.language, self.distance, self.limits = language, distance, limits
        self.k = whole_number(k, "k", 1)
        self._space = space
        self._source = SystemSource()

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised about the draws."""

    @property
    def releases(self) -> OutputKind:
        """Whether words or answers are released; answers have the form `answers`."""
        return OutputKind.WORDS if self.answers is None else OutputKind.ANSWERS

    @property
    def warning(self) -> str | None:
        """Why little of a word will survive, whatever its length; None if there is nothing to warn of."""
        return None

    def at(self, length: int) -> Mechanism:
        """The mechanism that words of this length use: this one, unless there is a choice for each length."""
        return self

    def without_projection(self) -> Mechanism:
        """The same mechanism before draws are replaced by the nearest words of a language, if they are."""
        return self

    @abstractmethod
    def _law(self, codes: Codes) -> Law:
        """The output distribution at a word of the language."""

    @within_memory()
    def given(self, word: AnyWord) -> Distribution[AnyWord]:
        """The exact output distribution at a word, prepared once. It is for the owner of the word, not for release."""
        return Distribution(word, self._law(self._codes(word)), self._outputs, self._source)

    def simulate(self, word: AnyWord, draws: int) -> list[AnyWord]:
        """Independent draws for studies. Publishing r of them spends r·ε."""
        return self.given(word).simulate(draws)

    def _repeated(self, word: AnyWord, draws: int) -> list[AnyWord]:
        """Independent outputs at one word, as releases of it are drawn; for audits."""
        return self.simulate(word, draws)

    def log_prob(self, output: Word, given: AnyWord) -> float:
        """The natural logarithm of the probability that `given` is released as `output`; −inf if it cannot be."""
        return self.given(given).log_prob(output)

    def expected_distance(self, word: AnyWord | None = None, *, length: int | None = None) -> float:
        """The expected distance of a release from `word`, or the average of that over the words of one length.

        The figure for one word is private: it is for the word's owner. The average is public. It is exact on free words
        and where the language has at most 256 words of that length. Otherwise it is taken over words drawn uniformly
        from the language, the same ones each time: 256 of them, or as few as 8 on large systems and for long words.
        """
        if (word is None) == (length is None):
            raise InvalidValue(f"expected_distance takes either a word or {named('length')}")
        return self.given(word).expected_distance() if word is not None else self._average(length, 0)[0]

    def distance_distribution(
        self, word: AnyWord | None = None, *, length: int | None = None, at_most: int | None = None
    ) -> list[float]:
        """The probability of each distance 0, 1, 2, … of a release from `word`, or the average over a length.

        The probabilities for one word are private, and the average is public: it is over the same words as that of
        `expected_distance`. With `at_most`, only distances up to that one are listed, so the sum of the list is the
        probability that a release has at most so many changes. Cost: (at_most + 2) times that of `expected_distance`.

        >>> from dpwords import Exponential, Words
        >>> [round(proportion, 3) for proportion in Exponential(Words("ab"), epsilon=2).distance_distribution(length=3)]
        [0.683, 0.277, 0.038, 0.002]
        """
        if (word is None) == (length is None):
            raise InvalidValue(f"distance_distribution takes either a word or {named('length')}")
        width = None if at_most is None else whole_number(at_most, "at_most", 0) + 1
        if word is not None:
            return self.given(word).distance_distribution()[:width]
        return self._average(length, width)[1]

    @within_memory()
    def _average(self, length: int | None, width: int | None) -> tuple[float, list[float]]:
        """The public averages over words of one length: of the distance, and of the probability of each distance."""
        positions = self._public_length(length)
        words, times = self._space.typical(positions, steps=1 if self.is_linear else positions)
        means, proportions = self._distances(words, width)
        return math.fsum(times * means) / int(times.sum()), (times @ proportions / times.sum()).tolist()

    def standard_error(self, length: int) -> float | None:
        """The standard error of `expected_distance(length=…)` where that is simulated; None where it is computed."""
        return None

    def _at_best(self, length: int) -> float:
        """About the least expected distance that it can turn out to have, if that is known sooner than the distance."""
        return 0.0

    def _distances(self, rows: Rows, width: int | None) -> Distances:
        """The distances of the outputs of some words of one length from these words."""
        return distances_of((self._law(codes) for codes in rows), width)

    def seeded(self, seed: int | str) -> Self:
        """The same mechanism with reproducible draws, for tests and studies. Its guarantee is `NotPrivate`."""
        return self._with(_source=SeededSource(seed))

    def _with(self, **changed: Any) -> Self:
        """A copy with some attributes changed."""
        other = copy.copy(self)
        vars(other).update(changed)  # the copy is closed as well
        return other

    def _unless_seeded(self, promise: PureDP) -> Guarantee:
        """The promise, if the draws use fresh randomness."""
        if isinstance(self._source, SystemSource):
            return replace(promise, spelled=self._spelled)
        reason = "the draws can be repeated by whoever knows the seed"
        return NotPrivate(reason, promise.epsilon, self.k, spelled=self._spelled)

    @property
    def _spelled(self) -> Language | None:
        """The language, if its words are written in other symbols than those that distances are about."""
        return None if self.language.spelling is None else self.language

    def no_estimates(self, length: int) -> str | None:
        """Why no proportions of a population can be estimated from releases of words of this length, and how to release
        instead, in words; None if they can be."""
        return None

    @property
    def is_linear(self) -> bool:
        """Whether the weights fall linearly in the exponent, so that words need not be counted by distance.

        Counting them costs another factor of the length.
        """
        return True

    @cached_property
    def _encoder(self) -> Encoder:
        return self.language.encoder()

    @cached_property
    def _outputs(self) -> OutputWords | NamedItems:
        """What comes out: words of the language, unless a mechanism says otherwise."""
        return OutputWords(self.language, self._encoder, same_length=self.distance == "hamming")

    @property
    def least_length(self) -> int:
        """The length of the shortest words that may go in."""
        return 0 if self.distance == "levenshtein" else 1

    def has_outputs(self, length: int) -> bool:
        """Whether something can come out for words of this length."""
        return True

    def _has_probabilities(self, length: int) -> bool:
        """Whether the probabilities of all outputs can be asked for, where words of this length can be listed."""
        return True

    def _codes(self, word: Word) -> Codes:
        """The codes of a word; raises before any draw if the word may not go in."""
        symbols = symbols_of(word)
        self._checked_length(len(symbols))
        self._checked_kind(word)
        fault = self.language.fault(symbols)
        if fault is not None:
            raise NotInLanguage(f"the word is not in the language ({fault}): only words of the language can go in")
        codes = self.language.alphabet.codes
        return np.array([codes[symbol] for symbol in self.language.read(symbols)], dtype=np.int64)

    def _checked_kind(self, word: Word) -> None:
        if isinstance(word, str) and not self.language.letters.of_characters:
            raise InvalidValue("a str is a word of single characters, and this language has other symbols: pass a list")

    def _public_length(self, length: object) -> int:
        return self._checked_length(whole_number(length, "length", 1))

    def _checked_length(self, length: int) -> int:
        if length == 0 < self.least_length:
            raise InvalidValue("the empty word has nothing to hide: pass a word of at least one symbol")
        if length > self.limits.word:
            raise TooLarge(f"a word may have at most {self.limits.word} symbols: split it into shorter ones")
        longest = self.language.max_length
        if longest is not None and length > longest:
            raise InvalidValue(f"words of this language have at most {longest} symbols: this one is longer")
        if length < self.k and self.distance == "hamming":
            raise InvalidValue(f"k is at most the word's length, and here k = {self.k} is beyond it: take a smaller k")
        return length


class OutputWords:
    """Outputs that are words of a language.

    `kind` is the smallest kind of number that holds their codes, and `words` returns them for rows of codes.
    """

    def __init__(self, language: Language, encoder: Encoder, same_length: bool) -> None:
        self.kind, self.words = encoder.kind, encoder.words
        self._language, self._same_length = language, same_length

    def codes(self, output: Word, length: int) -> Codes | None:
        """The codes of an output; None if it is impossible for words of this length."""
        symbols = symbols_of(output)
        if (self._same_length and len(symbols) != length) or self._language.fault(symbols) is not None:
            return None
        codes = self._language.alphabet.codes
        return np.array([codes[symbol] for symbol in self._language.read(symbols)], dtype=np.int64)


class NamedItems:
    """Outputs that are answers to a question: each names `size` of the `items`; their codes are ascending.

    An item is named with probability `share_if_true` if it is the true one, and with `share_if_not` if it is not.
    """

    def __init__(self, question: Question, answers: Answers, selection: Selection) -> None:
        self.question, self.items, self.size = question, answers.items, selection.size
        self.share_if_true, self.share_if_not = selection.share_if_true, selection.share_if_not
        self.at_positions = answers.at_positions  # the numbers of the true items at each position, for one length
        self.kind = code_type(len(self.items))
        self._code_of = {item: code for code, item in enumerate(self.items)}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The items as text, in the same order: the cell (0, 1) is written 0,1, and a transition 0,0>0,1."""
        if self.question != "transitions":
            return tuple(map(written, self.items))
        return tuple(f"{written(one)}>{written(other)}" for one, other in self.items)

    def written(self, answer: Collection[Any], separator: str = " ") -> str:
        """An answer as text: the names of its items, in their order."""
        codes = self.codes(answer, 0)
        if codes is None:
            raise InvalidValue("this is no answer of the report: pass what its release returned")
        return separator.join(self.names[code] for code in codes)

    def every(self, most: int = DEFAULTS.listed_outputs) -> list[frozenset[Any]]:
        """All answers that can come out; raises `TooLarge` if there are more than `most`. Cost: their number."""
        if math.comb(len(self.items), self.size) > most:
            raise TooLarge(f"more than {most} sets of {self.size} items can be named: use a smaller language")
        return [frozenset(some) for some in combinations(self.items, self.size)]

    def codes(self, output: Any, length: int) -> Codes | None:
        """The codes of a set of items; None if it is not one that can be named."""
        if isinstance(output, str) or not isinstance(output, Collection):
            raise InvalidValue(
                "an output of a report is a set of items: pass for example the set that release returned"
            )
        found = {self._code_of.get(item, -1) if is_hashable(item) else -1 for item in output}
        if len(output) != self.size or len(found) != self.size or -1 in found:
            return None
        return np.array(sorted(found), dtype=np.int64)

    def words(self, rows: Rows, kind: type) -> list[Any]:
        """The sets of rows of codes."""
        return [frozenset([self.items[code] for code in codes.tolist()]) for codes in rows]


class Distribution(Generic[AnyWord]):
    """The output distribution at one private word. Everything here depends on the word, so it is for its owner only."""

    def __init__(self, word: AnyWord, law: Law, outputs: OutputWords | NamedItems, source: Source) -> None:
        self.law = law
        self._kind = kind_of(word)  # not the word itself: its owner may change it
        self._length, self._outputs, self._source = len(word), outputs, source

    def __repr__(self) -> str:
        return f"<Distribution at a word of {self._length} symbols>"

    @within_memory()
    def log_prob(self, output: Word) -> float:
        """The natural logarithm of the probability of an output; −inf if it is impossible. Cost: mostly its length."""
        codes = self._outputs.codes(output, self._length)
        return -math.inf if codes is None else self.law.log_prob(codes)

    @within_memory()
    def simulate(self, draws: int) -> list[AnyWord]:
        """Independent words of the same kind as the one given. Cost: draws · length · branching."""
        count = whole_number(draws, "draws", 0)
        return self._outputs.words(self.law.draw(count, self._source.open()), self._kind) if count else []

    @within_memory()
    def distance_distribution(self) -> list[float]:
        """The probability of each distance 0, 1, 2, …. Cost: length² · edges on systems, length² / 64 on free words."""
        return [float(probability) for probability in self.law.distance_distribution()]

    @within_memory()
    def expected_distance(self) -> float:
        """The mean distance of an output. Cost: length · edges on systems, length on free words."""
        return self.law.expected_distance()


def kind_of(word: Word) -> type:
    """The type in which a word is returned: str, list or tuple."""
    return str if isinstance(word, str) else list if isinstance(word, list) else tuple


def check_mechanism(mechanism: object) -> None:
    """Raise `InvalidValue` unless users have passed a mechanism."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidValue("the mechanism is an Exponential, an Online, …: pass for example Online(Words('ab'), 1)")
