"""The mechanism as a matrix, over listed words: ln of the probability of each output (column) at each word (row)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpwords.core import threads
from dpwords.core.compiled import kernel
from dpwords.core.encoding import Codes
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import TooLarge
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.online import Online
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report
from dpwords.models.evidence import seen
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph, edges_taken
from dpwords.spaces.lists import codes_of, distances, text_of
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.space import Weights
from dpwords.spaces.weighted_words import WeightedWords


@dataclass(frozen=True, eq=False)
class ListedChannel:
    """All words of one length as rows of codes, and the probabilities of the outputs at each of them."""

    mechanism: Mechanism
    words: Codes

    def every_output(self) -> Sequence[Codes] | Codes:
        """The codes of all outputs; raises `TooLarge` if there are too many to list."""
        mechanism, most = self.mechanism, self.mechanism.limits.attacked_words
        if isinstance(mechanism, Report):
            mechanism.every_output(most)  # refuses too many
            return np.array(list(combinations(range(len(mechanism.items)), mechanism.size)), dtype=np.int64)
        if isinstance(mechanism, EditChannel):
            raise TooLarge("the outputs of an edit channel have any length, so they cannot be listed: simulate them")
        if mechanism.distance == "levenshtein":
            language = mechanism.language
            if isinstance(language, Lexicon):
                if len(language.table) > most:
                    raise TooLarge(f"at most {most} outputs are listed one by one: use a smaller lexicon")
                return [codes_of(text) for text in language.table]
            known = language.alphabet.codes
            every = exhaustive.words_up_to(language, language.max_length or 0, most)
            return [np.array([known[symbol] for symbol in word], dtype=np.int64) for word in every]
        return self.words

    def log_probs(self, outputs: Sequence[Codes] | Codes) -> Floats:
        """The matrix for some outputs. Cost: words · outputs."""
        mechanism = self.mechanism
        if isinstance(mechanism, Report):
            return self._reported(mechanism, np.asarray(outputs))
        if isinstance(mechanism, Exponential) and mechanism.distance == "hamming":
            return self._weighted(mechanism.weights(self.words.shape[1]), np.asarray(outputs))
        if isinstance(mechanism, Online) and isinstance(mechanism._space, OnlineRuns):
            return self._online(mechanism, np.asarray(outputs))
        if isinstance(mechanism, EditChannel):
            return self._edited(mechanism, outputs)
        return self._by_distance(outputs)

    def _weighted(self, weights: Weights, outputs: Codes) -> Floats:
        """π(w)·f(d)/Z, with the weights of the exponential mechanism."""
        base = public_logs(weights, self.words)
        logs = weights.logs[hamming_distances(self.words, self.words)] + base
        normalisers = np.logaddexp.reduce(logs, axis=1)
        if outputs is self.words:
            return np.asarray(logs - normalisers[:, None])
        found = weights.logs[hamming_distances(self.words, outputs)] + public_logs(weights, outputs)
        return np.asarray(found - normalisers[:, None])

    def _online(self, mechanism: Online, outputs: Codes) -> Floats:
        """A product over places, of a factor that depends on the released word alone and one for favoured symbols."""
        rows, favours = seen(mechanism, outputs)
        table = np.zeros((len(favours.first) - 1, len(mechanism.language.alphabet)))
        table[np.repeat(np.arange(len(table)), np.diff(favours.first)), favours.symbol] = np.log(favours.times)
        found = np.zeros((len(self.words), len(outputs)))
        for place in range(self.words.shape[1]):
            found += table[rows[:, place]][:, self.words[:, place]].T
        law = mechanism._law(self.words[0])
        return np.asarray(found + np.array([law.log_prob(output) for output in outputs]) - found[0])

    def _reported(self, report: Report, outputs: Codes) -> Floats:
        """The share of the places whose answer is named, times the probability of a set that names it, and so on."""
        items = report._answers.at_places(self.words)
        counts = np.zeros((len(items), len(report.items)))
        np.add.at(counts, (np.arange(len(items))[:, None], items), 1.0 / items.shape[1])
        named = np.zeros((len(report.items), len(outputs)))
        named[outputs.T, np.arange(len(outputs))] = 1.0
        share = np.clip(counts @ named, 0.0, 1.0)
        inside, outside = np.exp(report._selection.log_shares)
        return np.asarray(np.log(share * inside + (1 - share) * outside))

    def _edited(self, channel: EditChannel, outputs: Sequence[Codes] | Codes) -> Floats:
        """Sums over alignments, once for each distinct output; a projection, which tells less, is left out."""
        texts = [text_of(output) for output in outputs]
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        order = np.lexsort(self.words.T[::-1])
        words = np.ascontiguousarray(self.words[order], dtype=np.int64)
        shared = np.zeros(len(words), dtype=np.int64)
        shared[1:] = np.cumprod(words[1:] == words[:-1], axis=1).sum(axis=1)
        noise, found = channel._channel, np.empty((len(distinct), len(words)))
        inserted = np.exp(noise.log_insertions(max(map(len, distinct))))
        job = (words, shared), (*np.exp(noise.log_operations()).tolist(), inserted)

        def fill(part: slice) -> None:
            for text, number in list(distinct.items())[part]:
                kernel("edit_channel").log_probs(*job[0], codes_of(text), *job[1], found[number])

        longest = max(map(len, distinct)) + 1
        threads.in_parts(fill, len(distinct), cost=words.size * longest**2, most=channel.limits.threads)
        plain = channel.without_projection()
        for number, row in zip(*np.nonzero(np.isneginf(found)), strict=True):  # less than floats can express
            found[number, row] = plain._law(words[row]).log_prob(codes_of(list(distinct)[number]))
        matrix = np.empty((len(words), len(texts)))
        matrix[order] = found[[distinct[text] for text in texts]].T
        return matrix

    def _by_distance(self, outputs: Sequence[Codes] | Codes) -> Floats:
        """Outputs at the same distance from a word are equally likely: one of them is asked for each distance."""
        mechanism = self.mechanism
        if mechanism.distance == "hamming":
            apart = hamming_distances(self.words, np.asarray(outputs))
        else:
            texts, own = [text_of(output) for output in outputs], [text_of(row) for row in self.words]
            apart = distances(own, texts, "levenshtein", max(map(len, texts + own))).astype(np.int64)
        found = np.zeros(apart.shape)
        for row, one, logs in zip(self.words, apart, found, strict=True):
            law = mechanism._law(row)
            _, first, place = np.unique(one, return_index=True, return_inverse=True)
            logs[:] = np.array([law.log_prob(outputs[int(number)]) for number in first])[place.reshape(len(one))]
        return found

    def drawn(self, numbers: Integers, releases: int) -> list[Sequence[Codes] | Codes]:
        """For each number of a word so many outputs, drawn with a fixed seed; the result has a list for each draw."""
        mechanism = self.mechanism
        if isinstance(mechanism, EditChannel):
            mechanism = mechanism.without_projection()
        assert isinstance(mechanism, Private)
        seeded = mechanism.seeded("outputs that an adversary sees")
        rows = np.ascontiguousarray(self.words[numbers])
        return [seeded.release_codes(rows) for _ in range(releases)]


def hamming_distances(ones: Codes, others: Codes) -> Integers:
    """The number of places in which each of some words (row) differs from each of others (column)."""
    found = np.zeros((len(ones), len(others)), dtype=np.int64)
    for place in range(ones.shape[1]):
        found += ones[:, place, None] != others[None, :, place]
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
