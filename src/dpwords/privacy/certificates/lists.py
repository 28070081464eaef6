"""Certificates for finite languages whose words can be compared one by one (docs/theory.md, section 13).

They count pairs of words by distance, and bound how much the normalising constant differs between words.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.compiled import kernel
from dpwords.core.elementary import logs, powers, weighted_sum
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue, TooLarge
from dpwords.privacy.certificates.certificate import Certificate, Certified, Excess, FractionDone
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.rounding import price
from dpwords.privacy.methods import Method
from dpwords.spaces.lists import FiniteSpace, Listing, distances
from dpwords.spaces.space import none_of_length

MARGIN = 1e-9  # more than floating point can be off in a difference of logarithms, for words of up to 10^6 symbols


class PairCounts:
    """The number of words at each distance from each word of a list, and the list of the nearest pairs.

    Of up to 5,793 words all pairs are kept; of larger lists only the pairs within a radius are, and others are compared
    where they can matter. Cost: words² / 2 distances once, a minute or two for 100,000 words. Memory: 150 MB for pairs,
    and 4 bytes · words · longest word for counts.
    """

    def __init__(self, listing: Listing, progress: FractionDone | None = None) -> None:
        limits = self._limits = listing.limits
        if len(listing) * (listing.longest + 1) > limits.pair_counts:
            raise TooLarge(f"a certificate counts at most {limits.pair_counts} words · distances: leave out long words")
        self._texts, self._distance = listing.texts, listing.distance
        self._by_length = {int(n): np.flatnonzero(listing.lengths == n) for n in np.unique(listing.lengths)}
        self.radius = listing.longest  # pairs at this distance or nearer are kept, all of them
        self.counts = np.zeros((len(listing), listing.longest + 1), dtype=np.int32)
        self.counts[:, 0] = 1
        tally = kernel("lists").tally
        kept: list[list[Any]] = []  # of pairs: one word, the other, their distance
        number = 0
        for first, apart in listing.blocks():
            tally(apart, first, self.counts)
            near = apart <= self.radius
            near &= np.arange(apart.shape[1]) > np.arange(len(apart))[:, None]
            one, other = (index.astype(np.int32) for index in np.nonzero(near))
            kept.append([one + np.int32(first), other + np.int32(first), apart[near]])
            number += len(one)
            while number > limits.stored_pairs:
                self.radius -= 1
                kept = [[part[block[2] <= self.radius] for part in block] for block in kept]
                number = sum(len(block[0]) for block in kept)
            if progress is not None:
                progress(1 - (1 - min(first + len(apart), len(listing)) / len(listing)) ** 2)
        self._one, self._other, self._apart = (np.concatenate(part) for part in zip(*kept, strict=True))

    def excess(self, c: float) -> float:
        """The largest ln Z(x′)/Z(x) for each unit of distance; a bound of it where too many pairs would be compared.

        Cost: words · longest + pairs kept, and seconds where far pairs may be the worst.
        """
        found = self.log_constants(c)
        largest = float((np.abs(found[self._one] - found[self._other]) / self._apart).max(initial=0.0))
        if self.radius < self.counts.shape[1] - 1:
            largest = self._beyond(found, largest)
        return largest + MARGIN

    def log_constants(self, c: float) -> Floats:
        """ln Z of each word."""
        return logs(weighted_sum(self.counts.T, powers(price(c), self.counts.shape[1])))

    def _beyond(self, logs: Floats, largest: float) -> float:
        """The largest ratio, given that of the pairs kept. Two words are at least as far apart as their lengths are.

        So a pair can have a larger one only if its difference is more than `largest` times that, or times the radius
        and one more. Between two lengths such a pair is of a word well above the least and one well below the most.
        """
        bound, suspects = largest, []
        for a, ones in self._by_length.items():
            for b, others in self._by_length.items():
                apart = max(abs(a - b), self.radius + 1)
                most, least = logs[ones].max(), logs[others].min()
                if most - least > largest * apart:
                    bound = max(bound, float(most - least) / apart)
                    high, low = least + largest * apart, most - largest * apart
                    suspects.append((ones[logs[ones] >= high], others[logs[others] <= low]))
        if sum(len(ones) * len(others) for ones, others in suspects) > self._limits.compared_pairs:
            return bound
        return max([largest, *(self._compared(logs, ones, others) for ones, others in suspects)])

    def _compared(self, logs: Floats, ones: Integers, others: Integers) -> float:
        """The largest ratio between some words and others."""
        largest, texts = 0.0, [self._texts[index] for index in others]
        for block in np.array_split(ones, len(ones) * len(others) // self._limits.distances + 1):
            apart = distances([self._texts[i] for i in block], texts, self._distance, self.counts.shape[1] - 1)
            ratios = (logs[block][:, None] - logs[others]) / np.maximum(apart, 1)
            largest = max(largest, float(ratios.max(initial=0.0)))
        return largest


_MADE: WeakKeyDictionary[Listing, PairCounts] = WeakKeyDictionary()  # they do not depend on ε


def _pair_counts(listing: Listing, progress: FractionDone | None) -> PairCounts:
    """The counts of a list, made once as long as the list is in use."""
    found = _MADE.get(listing)
    if found is None:
        found = _MADE[listing] = PairCounts(listing, progress)
    elif progress is not None:
        progress(1.0)
    return found


class ListCertifier(Certifier):
    """Certificates for a finite language: one for each length under Hamming distance, else one for all words.

    Classes of up to 2,000 words are certified when they are first used. For larger classes `certifier()` (under Hamming
    distance `certifier(7)`) makes the certificate; until then the textbook rate is in force. Cost: words² / 2
    distances, a minute or two for 100,000 words. `progress` is called with the fraction that is done, from 0 to 1.
    Mechanisms with another ε on the same lexicon reuse the distances.
    """

    section = 13
    _space: FiniteSpace

    def __call__(self, length: int | None = None, progress: FractionDone | None = None) -> Certificate:
        if self._space.distance == "levenshtein" and length is not None:
            raise InvalidValue("under Levenshtein distance one certificate is for all words: ask for certificate()")
        if self._space.distance == "hamming" and length is None:
            raise InvalidValue(
                "under Hamming distance each length has its own certificate: ask for one, certificate(7)"
            )
        if self._space.distance == "hamming" and whole_number(length, "length", 1) not in self._space.classes:
            raise none_of_length(length or 0)
        return self._certified(self._space.reach(length or 0), progress).certificate

    def __repr__(self) -> str:
        return f"<Certifier: {len(self._known)} of {len(self._space.classes)} classes of words certified>"

    def certified(self, length: int) -> Certified:
        """What a release uses: a certificate that was made or loaded, or is quickly made, or else the textbook rate."""
        reach = self._space.reach(length)
        if reach not in self._space.classes:
            raise none_of_length(length)
        return self._prepared(self._textbook(reach), reach) if self._waits(reach) else self._certified(reach)

    @property
    def complete(self) -> bool:
        """Whether, for every word, a better rate than the textbook's is in force or will be when it is first used."""
        known = {reach: found.certificate.method for reach, found in self._known.items()}
        return not any(known[c] is Method.TEXTBOOK if c in known else self._waits(c) for c in self._space.classes)

    def _waits(self, reach: int) -> bool:
        """Whether a class has no certificate yet and is too large to get one without being asked for."""
        listing = self._space.listing(reach)
        return reach not in self._known and (listing is None or len(listing) > self._space.limits.automatic_words)

    def _methods(self, reach: int, progress: FractionDone | None = None) -> dict[Method, Excess]:
        if reach not in self._space.classes:
            return {}
        methods: dict[Method, Excess] = {Method.TEXTBOOK: lambda c: c}
        listing = self._space.listing(reach)
        if self._textbook_only or listing is None:
            return methods
        return methods | {Method.LISTED: lambda c: _pair_counts(listing, progress).excess(c)}

    def _textbook(self, reach: int) -> Certificate:
        epsilon = self._epsilon(reach)
        return Certificate(epsilon / 2, epsilon, Method.TEXTBOOK, epsilon, reach, self._space.identity)
