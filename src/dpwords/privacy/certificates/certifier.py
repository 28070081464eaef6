"""The object that makes, keeps, saves and loads the certificates of a space.

With weights e^(−c·d) a pair of words at distance d loses c·d + ln Z(x′)/Z(x), where Z is the sum of the weights. A
*certificate* bounds ln Z(x′)/Z(x) for all pairs of words by `excess` · d, from public facts only. Then it is enough
that c + excess ≤ ε. Proofs: docs/theory.md, section 9.
"""

from __future__ import annotations

import json
import math
import os
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from dpwords.core.checks import whole_number
from dpwords.core.files import write_whole
from dpwords.core.values import Value
from dpwords.errors import InvalidValue, within_memory
from dpwords.privacy.certificates.certificate import (
    Certificate,
    Certified,
    Excess,
    FractionDone,
    cached_certificate,
    certificates_in,
    largest_rate,
    store_certificate,
)
from dpwords.privacy.certificates.tuning import NEARLY, RANGE_TRIES, RATE_BITS, TRIES
from dpwords.privacy.guarantees import Budget
from dpwords.privacy.methods import Method
from dpwords.spaces.space import Space, Weights


class Certifier(Value):
    """Certificates for the words of one space, within one budget.

    `certifier(18)` is the certificate in force for words of 18 symbols, made when it is first needed. `certifier()` is
    the one for all lengths from `least_length` on, where there is one. `save` writes all that were made; `load` reads
    some and proves each of them again.
    """

    section: ClassVar[int]  # of docs/theory.md, which proves its methods
    _step, _first = 1, 0  # of the weights, as in `Certificate`

    def __init__(self, space: Space, budget: Budget, textbook_only: bool = False) -> None:
        self._space, self._budget, self._textbook_only = space, budget, textbook_only
        self._known: dict[int, Certified] = {}  # by reach; entries are replaced as a whole
        self._for_all: list[Certificate] = []  # the one for all lengths, once it is known

    @property
    def proof(self) -> int:
        """The section of docs/theory.md that proves the rates in force."""
        return 2 if self._textbook_only else self.section

    def __call__(self, length: int | None = None, progress: FractionDone | None = None) -> Certificate:
        if length is None:
            found = self._of_all_lengths(progress)
            if found is None:
                raise InvalidValue("no certificate is for all lengths of these words: ask for one, certificate(18)")
            return found
        reach = self._space.reach(whole_number(length, "length", 1))
        return self._certified(reach, progress).certificate

    def certified(self, length: int) -> Certified:
        """What a release of words of this length uses: certificate and weights, read together."""
        return self._certified(self._space.reach(length))

    def seconds(self, length: int) -> tuple[float, float]:
        """About how many seconds the certificate for words of this length takes, at least and at most.

        Both are 0 if it is quick or made.
        """
        return 0.0, 0.0

    @property
    def complete(self) -> bool:
        """Whether every length has, or gets when it is first used, the best rate that can be proven."""
        return True

    def __repr__(self) -> str:
        return f"<Certifier: {len(self._known)} lengths certified>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificates made so far as JSON."""
        made = [
            asdict(each) for each in dict.fromkeys([*self._for_all, *(k.certificate for k in self._known.values())])
        ]
        document = {"dpwords": "certificates", "certificates": made}
        write_whole({Path(path): json.dumps(document, indent=1).encode()})

    @within_memory()
    def load(self, path: str | os.PathLike[str], progress: FractionDone | None = None) -> None:
        """Read certificates and prove each of them again in full; raises, and loads none, if one does not hold.

        Cost: one evaluation of the bound for each, where making it took several. For a lexicon that is nearly the whole
        cost of making it, because every pair of words is compared.
        """
        proven: dict[int, Certified] = {}
        for_all: list[tuple[Certifier, Certificate]] = []
        for found in certificates_in(path):
            maker = self._maker(found)
            if maker is None or found.epsilon != maker._epsilon(found.longest or found.length):
                raise InvalidValue(
                    "the certificate is for another system or another ε: delete the file, or make a new one"
                )
            bound = maker._bound(found, progress)
            if not bound <= found.epsilon:
                raise InvalidValue("the certificate does not hold: delete the file, or make a new one")
            again = replace(found, bound=bound)
            if again.longest is None:
                proven[again.length] = maker._prepared(again, again.length)
            else:
                for_all.append((maker, again))
        self._known.update(proven)
        for maker, again in for_all:
            maker._for_all[:] = [again]

    def _bound(self, found: Certificate, progress: FractionDone | None = None) -> float:
        """What a certificate that somebody brings really proves; ∞ if nothing."""
        usable = found.epsilon / 2 <= found.c <= found.epsilon and found.longest is None
        excess = self._methods(found.length, progress).get(found.method) if usable else None
        return found.c + excess(found.c) if excess is not None else math.inf

    @abstractmethod
    def _methods(self, reach: int, progress: FractionDone | None = None) -> dict[Method, Excess]:
        """For each method that applies, the excess as a function of c."""

    def _proven(self, reach: int, methods: dict[Method, Excess]) -> list[Certificate]:
        """The best certificate of each of some methods."""
        epsilon, found = self._epsilon(reach), []
        for method, excess in methods.items():
            how: tuple[Any, ...] = epsilon, TRIES
            if method is Method.BALANCED:
                how = epsilon * NEARLY, 0
            elif method is Method.RANGE:
                how = epsilon, RANGE_TRIES, 2.0**-RATE_BITS, RATE_BITS
            c, bound = largest_rate(epsilon, excess, *how)
            system = self._space.identity
            found.append(Certificate(c, bound, method, epsilon, reach, system, self._step, self._first))
        return found

    def _best(self, reach: int, progress: FractionDone | None = None) -> Certificate:
        """The best certificate that can be proven."""
        return max(self._proven(reach, self._methods(reach, progress)), key=lambda each: each.c)

    def _of_all_lengths(self, progress: FractionDone | None = None) -> Certificate | None:
        """The best certificate for all lengths that can be proven; None if there is none."""
        return None

    def _prepared(self, certificate: Certificate, reach: int) -> Certified:
        """The certificate with the weights for words of this reach."""
        return Certified(certificate, Weights.linear(Fraction(certificate.c), reach))

    def _maker(self, certificate: Certificate) -> Certifier | None:
        """The certifier that makes such certificates, if it is this one or part of it: same words, same steps."""
        found = certificate.system, certificate.step, certificate.first
        return self if found == (self._space.identity, self._step, self._first) else None

    @within_memory()
    def _certified(self, reach: int, progress: FractionDone | None = None) -> Certified:
        known = self._known.get(reach)
        if known is None:
            made = self._cached_or_made(reach, lambda: self._best(reach, progress), progress)
            try:
                known = self._prepared(made, reach)
            except InvalidValue:  # from another machine, where public weights of listed words were rounded otherwise
                known = self._prepared(self._best(reach, progress), reach)
            self._known[reach] = known
        return known

    def _cached_or_made(
        self, reach: int | None, make: Callable[[], Certificate], progress: FractionDone | None
    ) -> Certificate:
        """A certificate for one reach, or for all, from the cache; or a new one, cached if it took long."""

        def holds(found: Certificate) -> bool:
            maker, answers = self._maker(found), found.longest is not None if reach is None else found.covers(reach)
            if maker is None or not answers or found.epsilon != maker._epsilon(found.longest or found.length):
                return False
            return maker._bound(found, progress) <= found.epsilon

        limits = replace(self._space.limits, threads=0)
        question = repr((type(self).__name__, self._space.identity, self._budget, self._textbook_only, limits, reach))
        found = cached_certificate(question, holds)
        if found is None:
            begin = time.perf_counter()
            found = make()
            cached_already = found.longest is not None and found in self._for_all
            if time.perf_counter() - begin > limits.worth_keeping and not cached_already:
                store_certificate(question, found)
        return found

    def _epsilon(self, reach: int) -> float:
        """ε for each position, less what rounding may cost."""
        return self._budget.per_position(reach)
