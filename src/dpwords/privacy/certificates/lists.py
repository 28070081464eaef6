"""How large c may be on a finite language whose words can be compared one by one. Proofs: docs/theory.md, 13."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from weakref import WeakKeyDictionary

from dpwords.core.checks import whole_number
from dpwords.core.randomness import SystemSource
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.pair_counts import Census, Progress, sampled_excess
from dpwords.privacy.certificates.systems import Certificate, Certifier, Method
from dpwords.spaces.lists import Listing, Surroundings

AUTOMATIC = 2_000  # words of a class that is certified without being asked for; it takes a second or less

_MADE: WeakKeyDictionary[Listing, Census] = WeakKeyDictionary()  # it does not depend on ε


def _census(listing: Listing, progress: Progress | None) -> Census:
    """The census of a list, made once as long as the list is in use."""
    found = _MADE.get(listing)
    if found is None:
        found = _MADE[listing] = Census(listing, progress)
    elif progress is not None:
        progress(1.0)
    return found


class ListCertifier(Certifier):
    """Certificates for a finite language: one for each length under Hamming distance, else one for all words.

    Classes of up to 2,000 words are certified when they are first used. For larger ones `certifier()` (under Hamming
    distance `certifier(7)`) makes the certificate, and until then the textbook rate is in force. Cost: words² / 2
    distances, a minute or two for 100,000 words, whose share done goes to `progress`, from 0 to 1; mechanisms with
    another ε on the same lexicon reuse them.
    """

    def __init__(self, around: Surroundings, epsilon: Callable[[int], float], textbook_only: bool = False) -> None:
        self._around, self._epsilon, self._textbook_only = around, epsilon, textbook_only
        self._known: dict[int, Certificate] = {}
        self._last: Certificate | None = None
        self._progress: Progress | None = None

    def __call__(self, length: int | None = None, progress: Progress | None = None) -> Certificate:
        if self._around.distance == "levenshtein" and length is not None:
            raise InvalidValue("under Levenshtein distance one certificate is for all words: ask for certificate()")
        if self._around.distance == "hamming" and whole_number(length, "length", 1) not in self._around.classes:
            raise InvalidValue(f"the language has no word of length {length}: choose another length")
        self._progress = progress
        return self._certified(self._around.reach(length or 0))

    def __repr__(self) -> str:
        return f"<Certifier: {len(self._known)} of {len(self._around.classes)} classes of words certified>"

    def in_force(self, length: int) -> Certificate:
        """The certificate that a release uses: made or loaded, else made at once, else that of the textbook."""
        reach = self._around.reach(length)
        if not self._waits(reach):
            return self._certified(reach)
        epsilon = self._epsilon(reach)
        self._last = Certificate(epsilon / 2, epsilon, "textbook", epsilon, reach, self._system)
        return self._last

    @property
    def complete(self) -> bool:
        """Whether more than the textbook's rate is in force, or is to be when first used, for every word."""
        known = self._known
        return not any(known[c].method == "textbook" if c in known else self._waits(c) for c in self._around.classes)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read certificates and check them again.

        Up to 2,000 words of a class all pairs are compared again. Beyond that it would take as long as making the
        certificate: language, distance, ε and the range of c are checked, and the bound at some words drawn at random
        with those nearest to them. Whoever can write the file could weaken the promise; keep it as the program is kept.
        """
        super().load(path)

    def _certified(self, reach: int) -> Certificate:
        if reach not in self._known:
            self._known[reach] = self._best(reach)
        self._last = self._known[reach]
        return self._last

    def _waits(self, reach: int) -> bool:
        """Whether a class has no certificate and is too large to be given one without being asked for."""
        listing = self._around.listing(reach)
        return reach not in self._known and (listing is None or len(listing) > AUTOMATIC)

    @property
    def _short(self) -> None:
        """Classes are not compared with each other."""

    def _bounds(self, length: int) -> tuple[dict[Method, Callable[[float], float]], None]:
        bounds: dict[Method, Callable[[float], float]] = {"textbook": lambda c: c}
        listing = self._around.listing(length)
        if self._textbook_only or listing is None:
            return bounds, None
        return bounds | {"listed": lambda c: _census(listing, self._progress).excess(c)}, None

    def _excess_again(self, found: Certificate) -> float:
        if found.length not in self._around.classes:
            return math.inf
        listing = self._around.listing(found.length)
        if found.method != "listed" or self._textbook_only or listing is None or len(listing) <= AUTOMATIC:
            return super()._excess_again(found)
        stated = found.bound - found.c
        return stated if sampled_excess(listing, found.c, SystemSource().open()) <= stated else math.inf

    @property
    def _system(self) -> str:
        return self._around.identity
