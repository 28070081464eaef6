"""What releases tell about private words: the evidence that they are, and what is then known of the words.

Where words can be listed, evidence is a matrix: ln of the probability of each output (column) at each word (row). Where
they are too many, what is known of them is computed without listing them, in a way of its own for each kind.

*Normalising constants that differ.* Let q be a distribution of words given releases that leaves out the normalising
constant Z of the mechanism. The word that was drawn first, and then released, is an exact draw given its releases. So a
Markov chain that starts there, proposes runs drawn from q, and accepts them by the ratio of normalising constants
(independence Metropolis–Hastings) consists of exact draws; docs/theory.md, section 17 e.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, NamedTuple, cast

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms.mechanism import Mechanism, estimates_refused
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report
from dpwords.models.chains import MarkovChain, PriorWords
from dpwords.models.normalising_constants import NormalisingConstants
from dpwords.models.state_ratios import Emissions
from dpwords.spaces import exhaustive
from dpwords.spaces.edit_channel import Channel
from dpwords.spaces.graph import Graph, edges_taken
from dpwords.spaces.lists import codes_of, distances, text_of
from dpwords.spaces.projection import ProjectedLaw
from dpwords.spaces.space import WeightedWords, Weights

SPREAD = 3.0  # probabilities between 0 and 1 that were corrected by up to 1 are between −1 and 2


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
        raise InvalidValue(self.mechanism.no_estimates(self.length) or estimates_refused())

    def posteriors(self, prior: PriorWords, releases: int) -> Posteriors | None:
        """What is known of words from so many releases of each, without listing words; None if no way is known."""
        return None

    def too_many(self) -> TooLarge:
        """The error that refuses more words than can be listed."""
        return TooLarge(
            "probabilities given releases of this mechanism are computed over at most "
            f"{self.mechanism.limits.attacked_words} words of one length, and there are more: {self.remedy}"
        )

    remedy = "use linear utility"

    def can_list(self, length: int) -> bool:
        """Whether probabilities are known where words of this length are few enough to be listed."""
        return True

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

        Edits that are projected, which tells less, are left as they are.
        """
        mechanism = cast("Private", self.mechanism)
        shown = mechanism if mechanism.distance == "hamming" else mechanism.without_projection()
        rows, seeded = np.ascontiguousarray(words), shown.seeded("outputs that an adversary sees")
        return [seeded.release_codes(rows) for _ in range(releases)]


class ProjectedEvidence(Evidence):
    """Draws that were replaced by nearest words: known by their probabilities alone, where words can be listed."""

    remedy = "attack without_projection(), from which as much can be guessed or more"

    def can_list(self, length: int) -> bool:
        return self.mechanism._has_probabilities(length)

    def every_output(self, words: Codes) -> Codes:
        law = cast(ProjectedLaw, self.mechanism._law(words[0]))
        if law.ties is None:
            raise TooLarge("words that can be drawn are too many to list: use a shorter length")
        return law.ties.words

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """The matrix for some words and outputs, one by one. Cost: words · (outputs + all draws)."""
        laws = (self.mechanism._law(row) for row in words)
        return np.array([[law.log_prob(output) for output in outputs] for law in laws])


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


class Known(NamedTuple):
    """What releases of one word tell: the probabilities of the symbols (columns) at each position (row), a likely
    word."""

    positions: Floats
    word: Codes
    probability: float
    error: float = 0.0  # standard error of every probability, at most; 0 if they are exact


class Simulated(NamedTuple):
    """For each simulated word, what guesses get right: by a guess that is known, and by the best one at most.

    Hits are the mean over the positions. Where the distribution given the releases is known exactly, both are the same.
    """

    hits_by_place: Floats  # mean over the words
    hits: Floats
    hits_at_most: Floats
    whole: Floats
    whole_at_most: Floats
    hits_spread: float = 1.0  # of the range of hits
    whole_spread: float = 1.0

    @classmethod
    def joined(cls, parts: Iterable[tuple[Floats, ...]], spread: float) -> Simulated:
        """From some words at a time: hits at each position (a row for each word), and what else there is of each
        word."""
        by_position, hits, hits_most, whole, whole_most = map(np.concatenate, zip(*parts, strict=True))
        return cls(by_position.mean(axis=0), hits, hits_most, whole, whole_most, spread, spread)


@dataclass(frozen=True, eq=False)
class Posteriors(ABC):
    """Words of one length with a prior, seen through some releases of each."""

    evidence: Evidence
    prior_words: PriorWords
    releases: int = 1

    too_large: ClassVar[str] = "the system is too large to simulate what can be guessed: use a shorter length"

    @property
    def mechanism(self) -> Private:
        """The mechanism that made the releases."""
        return cast("Private", self.evidence.mechanism)

    @property
    def length(self) -> int:
        """The length of the words."""
        return self.evidence.length

    @property
    def prior(self) -> MarkovChain:
        """The chain that the words come from."""
        return self.prior_words.known

    @property
    def gain(self) -> float:
        """How many times as likely a guess of the whole word can become by a release."""
        return math.inf

    @abstractmethod
    def cost(self) -> int:
        """About the number of additions for each simulated word."""

    @abstractmethod
    def simulated(self, samples: int) -> Simulated:
        """Draw words and releases with fixed seeds, and guess each of them. Cost: samples · `cost`."""

    def guessed(self, released: Codes) -> tuple[Floats, Floats]:
        """For releases of as many words, a row of codes each: the chance of guessing each position (a row for each
        word), and of the whole word. Cost: words · `cost`."""
        raise self.evidence.too_many()

    def guesses(self, released: Codes) -> tuple[Codes, Codes]:
        """For the same releases, the likeliest symbol at each position, and the likeliest word; where normalising
        constants differ, they are left out. Cost: words · `cost`."""
        raise self.evidence.too_many()

    def known(self, outputs: list[Codes]) -> Known | None:
        """What the releases of one word tell; None if no word that the prior allows can have led to them."""
        raise self.evidence.too_many()


class Corrections(NamedTuple):
    """What has to be added to probabilities under q, so that they become unbiased, for each of some words."""

    positions: Floats  # [position, symbol, word]: to that of a symbol at a position
    guess: Floats  # to that of one guess of the whole word
    largest: Floats  # at most, to that of any word

    def hits(self, proportions: Floats) -> tuple[Floats, Floats, Floats]:
        """From proportions[position, symbol, word] under q, for each word: the chance of a hit at each position, its
        mean for the likeliest symbols under q, and that for the best ones, at most."""
        corrected = proportions + self.positions
        at_guess = np.take_along_axis(corrected, proportions.argmax(axis=1)[:, None, :], axis=1)[:, 0].T
        most = corrected.max(axis=1).T
        return (at_guess + most) / 2, at_guess.mean(axis=1), most.mean(axis=1)


def corrections(
    words: Codes, runs: Codes, logs: Floats, proposed_logs: Floats, uniform: Floats, guesses: Codes, symbols: int
) -> Corrections:
    """Corrections from the proposals runs[word, number], whose logarithms of normalising constants are `proposed_logs`.

    There is a row for each word in `words`, its `logs` of normalising constants, `uniform` random numbers, one for each
    proposal, and `guesses`. For r releases, the logarithms are r times as large. Cost: the symbols of all runs.
    """
    number, length = words.shape
    proposed = runs.shape[1]
    wrong = np.zeros((length, symbols, number))
    own, missed, at = logs.copy(), np.zeros(number), words.copy()
    positions, lanes = np.arange(length)[:, None], np.arange(number)[None]
    every, ids = np.unique(np.concatenate([words, runs.reshape(-1, length)]), axis=0, return_inverse=True)
    ids = ids.ravel() + len(every) * np.concatenate([lanes[0], np.repeat(lanes[0], proposed)])
    at_id, run_ids, kept = ids[:number], ids[number:].reshape(number, proposed), []
    for step in range(proposed):
        with np.errstate(divide="ignore"):
            accepted = np.log(uniform[:, step]) < own - proposed_logs[:, step]
        at = np.where(accepted[:, None], runs[:, step], at)
        own = np.where(accepted, proposed_logs[:, step], own)
        at_id = np.where(accepted, run_ids[:, step], at_id)
        kept.append(at_id)
        np.add.at(wrong, (positions, at.T, lanes), 1.0 / proposed)
        np.add.at(wrong, (positions, runs[:, step].T, lanes), -1.0 / proposed)
        is_guess = (at == guesses).all(axis=1).astype(float) - (runs[:, step] == guesses).all(axis=1)
        missed += is_guess / proposed
    added, position = np.unique(np.concatenate([*kept, run_ids.ravel()]), return_inverse=True)
    more = np.bincount(position.ravel(), np.repeat([1.0, -1.0], number * proposed)) / proposed
    largest = np.zeros(number)
    np.maximum.at(largest, added // len(every), more)
    return Corrections(wrong, missed, largest)
