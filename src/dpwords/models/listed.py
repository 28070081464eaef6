"""What releases tell in general: probabilities of outputs at listed words.

A matrix has ln of the probability of each output (column) at each word (row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, cast

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.report import Report
from dpwords.models.chains import PriorWords
from dpwords.models.hidden import Emissions
from dpwords.models.normalising_constants import NormalisingConstants
from dpwords.models.posteriors import Posteriors
from dpwords.spaces import exhaustive
from dpwords.spaces.edit_channel import Channel
from dpwords.spaces.graph import Graph, edges_taken
from dpwords.spaces.lists import codes_of, distances, text_of
from dpwords.spaces.space import Weights
from dpwords.spaces.weighted_words import WeightedWords

if TYPE_CHECKING:
    from dpwords.mechanisms.private import Private


@dataclass(frozen=True, eq=False)
class Evidence:
    """What releases of a mechanism tell about true words of one length; `evidence_of` makes the kind that fits.

    This one is for mechanisms of which nothing is known but their probabilities, and that outputs at the same distance
    from a word have the same. The others say more: what a release tells about each position (`seen`), how much of it is
    a normalising constant (`constants`), through which edit channel words went (`channel`), and what is known of a word
    given its releases (`posteriors`).
    """

    mechanism: Mechanism
    length: int
    rate: float | None = None  # ln of how many times as likely a symbol is shown at a position where it is the true one

    @property
    def channel(self) -> Channel | None:
        """The edit channel that words went through; None if they keep their length."""
        return None

    @property
    def constants(self) -> NormalisingConstants | None:
        """The normalising constants, if they depend on the word."""
        return None

    def uneven(self) -> NormalisingConstants | None:
        """The normalising constants, if they differ so much between words that estimates have to correct for them."""
        return None

    def seen(self, rows: Codes) -> Emissions:
        """What released words of this length tell about each position of their true words."""
        raise InvalidValue(
            f"estimates are not available for {self.mechanism!r}: release with Exponential under Hamming distance, "
            "Online, EditChannel over an alphabet alone, or Report"
        )

    def posteriors(self, prior: PriorWords, releases: int) -> Posteriors | None:
        """What is known of words from so many releases of each, without listing words; None if no way is known."""
        return None

    def too_many(self) -> TooLarge:
        """The error that refuses more words than can be listed."""
        return TooLarge(
            "probabilities given releases of this mechanism are computed over at most "
            f"{self.mechanism.limits.attacked_words} words of one length, and there are more: {self._remedy}"
        )

    _remedy = "use linear utility"

    def every_output(self, words: Codes) -> Sequence[Codes] | Codes:
        """The codes of all outputs, given those of all words; raises `TooLarge` if there are too many to list."""
        mechanism = self.mechanism
        language, most = mechanism.language, mechanism.limits.attacked_words
        if mechanism.distance == "hamming":
            return words
        if isinstance(language, Lexicon):
            if len(language.table) > most:
                raise TooLarge(f"at most {most} outputs are listed one by one: use a smaller lexicon")
            return [codes_of(text) for text in language.table]
        known = language.alphabet.codes
        every = exhaustive.words_up_to(language, language.max_length or 0, most)
        return [np.array([known[symbol] for symbol in word], dtype=np.int64) for word in every]

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """The matrix for some words and outputs. Cost: words · outputs.

        Outputs at the same distance from a word are equally likely: one of them is asked for each distance.
        """
        mechanism = self.mechanism
        if mechanism.distance == "hamming":
            apart = hamming_distances(words, np.asarray(outputs))
        else:
            texts, own = [text_of(output) for output in outputs], [text_of(row) for row in words]
            apart = distances(own, texts, "levenshtein", max(map(len, texts + own))).astype(np.int64)
        found = np.zeros(apart.shape)
        for row, one, logs in zip(words, apart, found, strict=True):
            law = mechanism._law(row)
            _, first, position = np.unique(one, return_index=True, return_inverse=True)
            logs[:] = np.array([law.log_prob(outputs[int(number)]) for number in first])[position.reshape(len(one))]
        return found

    def drawn(self, words: Codes, releases: int) -> list[Sequence[Codes] | Codes]:
        """For each word so many outputs, drawn with a fixed seed; the result has a list for each draw.

        A projection, which tells less, is left out.
        """
        seeded = cast("Private", self.mechanism).without_projection().seeded("outputs that an adversary sees")
        rows = np.ascontiguousarray(words)
        return [seeded.release_codes(rows) for _ in range(releases)]


def weighted_logs(weights: Weights, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
    """The matrix of the exponential mechanism, π(w)·f(d)/Z, where `words` are all words of their length."""
    logs = weights.logs[hamming_distances(words, words)] + public_logs(weights, words)
    constants = np.logaddexp.reduce(logs, axis=1)
    if outputs is not words:
        rows = np.asarray(outputs)
        logs = weights.logs[hamming_distances(words, rows)] + public_logs(weights, rows)
    return np.asarray(logs - constants[:, None])


def hamming_distances(ones: Codes, others: Codes) -> Integers:
    """The number of positions in which each of some words (row) differs from each of others (column)."""
    found = np.zeros((len(ones), len(others)), dtype=np.int64)
    for position in range(ones.shape[1]):
        found += ones[:, position, None] != others[None, :, position]
    return found


def public_logs(weights: Weights, words: Codes) -> Floats:
    """ln of the public weight of each word."""
    base = weights.base
    if isinstance(base, WeightedWords):
        return np.asarray(base.weight.logs()[[base.number(row) for row in words]])
    if not isinstance(base, Graph) or base.weight is None or base.ending is None:
        return np.zeros(len(words))
    taken = edges_taken(base.start, base.sources, base.symbol, base.target, words)
    ends = base.ending.logs()[base.target[taken[:, -1]]]
    return np.asarray(base.weight.logs()[taken].sum(axis=1) + ends)


class AnswerEvidence(Evidence):
    """Answers about words."""

    mechanism: Report

    def every_output(self, words: Codes) -> Codes:
        self.mechanism.answers.every(self.mechanism.limits.attacked_words)  # refuses too many
        answers = self.mechanism.answers
        return np.array(list(combinations(range(len(answers.items)), answers.size)), dtype=np.int64)

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """The proportion of the positions whose answer is named, times the probability of a set that names it, and so
        on."""
        items, sets = self.mechanism.answers.at_positions(words), np.asarray(outputs)
        counts = np.zeros((len(items), len(self.mechanism.items)))
        np.add.at(counts, (np.arange(len(items))[:, None], items), 1.0 / items.shape[1])
        named = np.zeros((counts.shape[1], len(sets)))
        named[sets.T, np.arange(len(sets))] = 1.0
        proportion = np.clip(counts @ named, 0.0, 1.0)
        inside, outside = np.exp(self.mechanism._selection.log_proportions)
        return np.asarray(np.log(proportion * inside + (1 - proportion) * outside))
