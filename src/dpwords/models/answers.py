"""What answers of a report tell: each names some items, the true one of a random place more often than others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dpwords.core.encoding import Codes
from dpwords.core.scaled import Floats
from dpwords.mechanisms.report import Report
from dpwords.models.listed import Evidence


class AnswerEvidence(Evidence):
    """Answers about words."""

    mechanism: Report

    def every_output(self, words: Codes) -> Codes:
        self.mechanism.answers.every(self.mechanism.limits.attacked_words)  # refuses too many
        answers = self.mechanism.answers
        return np.array(list(combinations(range(len(answers.items)), answers.size)), dtype=np.int64)

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """The share of the places whose answer is named, times the probability of a set that names it, and so on."""
        items, sets = self.mechanism.answers.at_places(words), np.asarray(outputs)
        counts = np.zeros((len(items), len(self.mechanism.items)))
        np.add.at(counts, (np.arange(len(items))[:, None], items), 1.0 / items.shape[1])
        named = np.zeros((counts.shape[1], len(sets)))
        named[sets.T, np.arange(len(sets))] = 1.0
        share = np.clip(counts @ named, 0.0, 1.0)
        inside, outside = np.exp(self.mechanism._selection.log_shares)
        return np.asarray(np.log(share * inside + (1 - share) * outside))
