"""Certificates of the rate c, and the object that makes, keeps, saves and loads them.

With weights e^(−c·d) a pair of words at distance d loses c·d + ln Z(x′)/Z(x), where Z is the sum of the weights. A
*certificate* bounds ln Z(x′)/Z(x) for all pairs of words by `excess` · d, from public facts only. Then it is enough
that c + excess ≤ ε. Proofs: docs/theory.md, section 9.
"""

from __future__ import annotations

import json
import math
import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Literal

from dpwords.core.checks import whole_number
from dpwords.core.files import read_text, write_whole
from dpwords.core.values import Value
from dpwords.errors import InvalidValue
from dpwords.privacy.guarantees import Budget
from dpwords.spaces.space import Space, Weights

Method = Literal["listed", "listed, balanced", "blocks", "blocks, levelled", "range", "textbook", "every word"]
Excess = Callable[[float], float]  # from c to a proven bound on ln Z(x′)/Z(x) for each unit of distance
ShareDone = Callable[[float], None]  # from 0 to 1
TRIES = 12  # between ε and ε/2, where an evaluation is quick
_PRECISION = 2e-4  # of ε, in c


@dataclass(frozen=True)
class Certificate:
    """A proven rate c: no pair of words of this length loses more than `bound` ≤ ε for each place that differs.

    The weights are e^(−c·d), or, for a staircase, e^(−c·ceil((d − first)/step)); then `bound` and ε are for each `step`
    places that differ.
    """

    c: float
    bound: float
    method: Method
    epsilon: float  # for each place, or for each step
    length: int
    system: str  # a hash
    step: int = 1
    first: int = 0


@dataclass(frozen=True, eq=False)
class Certified:
    """A certificate together with the prepared weights that it is about: all that a draw needs, in one value."""

    certificate: Certificate
    weights: Weights


class Certifier(Value):
    """Certificates for the words of one space, within one budget.

    `certifier(18)` is the certificate for words of 18 symbols, made when it is first needed. `save` writes all that
    were made; `load` reads some and proves each of them again. `c`, `bound` and `method` are those of the certificate
    that was used last.
    """

    def __init__(self, space: Space, budget: Budget, textbook_only: bool = False) -> None:
        self._space, self._budget, self._textbook_only = space, budget, textbook_only
        self._known: dict[int, Certified] = {}  # by reach; entries are replaced as a whole
        self._last: list[Certificate] = []  # the one that was used last

    def __call__(self, length: int | None = None, progress: ShareDone | None = None) -> Certificate:
        reach = self._space.reach(whole_number(length, "length", 1))
        return self._used(self._certified(reach, progress)).certificate

    def in_force(self, length: int) -> Certified:
        """What a release of words of this length uses: certificate and weights, read together."""
        return self._used(self._certified(self._space.reach(length)))

    @property
    def complete(self) -> bool:
        """Whether every length has, or gets when it is first used, the best rate that can be proven."""
        return True

    @property
    def c(self) -> float:
        """The certified rate at the length that was used last."""
        return self._latest.c

    @property
    def bound(self) -> float:
        """The certified loss for each place that differs, at the length that was used last."""
        return self._latest.bound

    @property
    def method(self) -> Method:
        """How the certificate was found, at the length that was used last."""
        return self._latest.method

    def __repr__(self) -> str:
        return f"<Certifier: {len(self._known)} lengths certified>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificates made so far as JSON."""
        made = [asdict(known.certificate) for known in self._known.values()]
        document = {"dpwords": "certificates", "certificates": made}
        write_whole({Path(path): json.dumps(document, indent=1).encode()})

    def load(self, path: str | os.PathLike[str], progress: ShareDone | None = None) -> None:
        """Read certificates and prove each of them again in full; raises, and loads none, if one does not hold.

        Cost: one evaluation of the bound for each, where making it took several. For a lexicon that is nearly the whole
        cost of making it, because every pair of words is compared.
        """
        proven: dict[int, Certified] = {}
        for found in _read(path):
            maker = self._maker(found)
            if maker is None or found.epsilon != maker._epsilon(found.length):
                raise InvalidValue("the certificate is for another system or another ε: make a new one with save")
            usable = found.epsilon / 2 <= found.c <= found.epsilon
            excess = maker._methods(found.length, progress).get(found.method) if usable else None
            bound = found.c + excess(found.c) if excess is not None else math.inf
            if not bound <= found.epsilon:
                raise InvalidValue("the certificate does not hold: make a new one with save")
            proven[found.length] = maker._prepared(replace(found, bound=bound))
        self._known.update(proven)

    @abstractmethod
    def _methods(self, reach: int, progress: ShareDone | None = None) -> dict[Method, Excess]:
        """For each method that applies, the excess as a function of c."""

    @abstractmethod
    def _best(self, reach: int, progress: ShareDone | None = None) -> Certificate:
        """The best certificate that can be proven."""

    def _prepared(self, certificate: Certificate) -> Certified:
        weights = Weights.linear(Fraction(certificate.c), certificate.length)
        return Certified(certificate, weights)

    def _maker(self, certificate: Certificate) -> Certifier | None:
        """The certifier that makes such certificates, if it is this one or part of it: same words, same steps."""
        same = (certificate.system, certificate.step, certificate.first) == (self._space.identity, 1, 0)
        return self if same else None

    def _certified(self, reach: int, progress: ShareDone | None = None) -> Certified:
        known = self._known.get(reach)
        if known is None:
            known = self._known[reach] = self._prepared(self._best(reach, progress))
        return known

    def _epsilon(self, reach: int) -> float:
        """ε for each place, less what rounding may cost."""
        return self._budget.per_place(reach)

    def _used(self, found: Certified) -> Certified:
        self._last[:] = [found.certificate]
        return found

    @property
    def _latest(self) -> Certificate:
        if not self._last:
            raise InvalidValue("a certificate is for one length, and none has been used yet: ask for certificate(18)")
        return self._last[0]


def largest_rate(epsilon: float, excess: Excess, start: float, tries: int = 0) -> tuple[float, float]:
    """The largest c found with c + excess(c) ≤ ε, and c + excess(c); ε/2 if there is none, which is always allowed.

    Any c that passes is certified, however it was found: `start`, if it does, else less. The excess falls about like
    e^(−c), hence the first steps; if they miss, some `tries` between ε and ε/2. Then the gap to what failed is halved.
    """
    fails, c = math.inf, start
    steps = [epsilon * (1 - share / (2 * tries)) for share in range(1, tries)]
    while c > epsilon / 2:
        more = excess(c)
        over = c + more - epsilon
        if over <= 0:
            break
        fails = c
        c -= over / max(1 - more, 0.1) + _PRECISION * epsilon / 2
        if c <= epsilon / 2 and steps:
            c = steps.pop(0)
    else:
        return epsilon / 2, epsilon
    holds = c, c + more
    while math.isfinite(fails) and min(fails - holds[0], epsilon - holds[1]) > _PRECISION * epsilon:
        c = (holds[0] + fails) / 2
        more = excess(c)
        if c + more <= epsilon:
            holds = c, c + more
        else:
            fails = c
    return holds


def _read(path: str | os.PathLike[str]) -> list[Certificate]:
    """The certificates of a file, each with fields of the right kinds."""
    try:
        document = json.loads(read_text(path))
        found = [Certificate(**each) for each in document["certificates"]]
    except InvalidValue:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        found = []
    kinds = {"c": float, "bound": float, "method": str, "epsilon": float, "length": int, "system": str}
    kinds |= {"step": int, "first": int}
    right = all(type(getattr(each, name)) is kind for each in found for name, kind in kinds.items())
    if not found or not right or not all(each.length >= 0 for each in found):
        raise InvalidValue(f"{Path(path).name} holds no certificates, or is cut off: make a new one with save")
    return found
