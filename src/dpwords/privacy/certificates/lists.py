"""Certificates for finite languages whose words can be compared one by one (docs/theory.md, section 13)."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.certificate import Certificate, Certified, Excess, FractionDone
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.pair_counts import PairCounts
from dpwords.privacy.methods import Method
from dpwords.spaces.lists import FiniteSpace, Listing
from dpwords.spaces.space import none_of_length

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

    def _best(self, reach: int, progress: FractionDone | None = None) -> Certificate:
        return max(self._proven(reach, progress), key=lambda each: each.c)

    def _textbook(self, reach: int) -> Certificate:
        epsilon = self._epsilon(reach)
        return Certificate(epsilon / 2, epsilon, Method.TEXTBOOK, epsilon, reach, self._space.identity)
