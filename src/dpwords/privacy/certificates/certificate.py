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
    """A proven rate c: no pair of words of one length loses more than `bound` ≤ ε for each place that differs.

    It is for words of `length` symbols or, where `longest` is given, for every length from `length` to `longest`.

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
    longest: int | None = None
    detail: tuple[int, ...] = ()  # how much of a run the proof looked at: nodes before and after a place, radius

    @property
    def least_length(self) -> int:
        """The least length of the words that it is for."""
        return self.length

    def covers(self, length: int) -> bool:
        return self.length <= length <= (self.length if self.longest is None else self.longest)


@dataclass(frozen=True, eq=False)
class Certified:
    """A certificate together with the prepared weights that it is about: all that a draw needs, in one value."""

    certificate: Certificate
    weights: Weights


class Certifier(Value):
    """Certificates for the words of one space, within one budget.

    `certifier(18)` is the certificate in force for words of 18 symbols, made when it is first needed. `certifier()` is
    the one for all lengths from `least_length` on, where there is one. `save` writes all that were made; `load` reads
    some and proves each of them again. `c`, `bound` and `method` are those of the certificate that was used last.
    """

    def __init__(self, space: Space, budget: Budget, textbook_only: bool = False) -> None:
        self._space, self._budget, self._textbook_only = space, budget, textbook_only
        self._known: dict[int, Certified] = {}  # by reach; entries are replaced as a whole
        self._for_all: list[Certificate] = []  # the one for all lengths, once it is known
        self._last: list[Certificate] = []  # the one that was used last

    def __call__(self, length: int | None = None, progress: ShareDone | None = None) -> Certificate:
        if length is None:
            found = self._of_all_lengths(progress)
            if found is None:
                raise InvalidValue("no certificate is for all lengths of these words: ask for one, certificate(18)")
            return found
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
        made = [
            asdict(each) for each in dict.fromkeys([*self._for_all, *(k.certificate for k in self._known.values())])
        ]
        document = {"dpwords": "certificates", "certificates": made}
        write_whole({Path(path): json.dumps(document, indent=1).encode()})

    def load(self, path: str | os.PathLike[str], progress: ShareDone | None = None) -> None:
        """Read certificates and prove each of them again in full; raises, and loads none, if one does not hold.

        Cost: one evaluation of the bound for each, where making it took several. For a lexicon that is nearly the whole
        cost of making it, because every pair of words is compared.
        """
        proven: dict[int, Certified] = {}
        for_all: list[tuple[Certifier, Certificate]] = []
        for found in _read(path):
            maker = self._maker(found)
            if maker is None or found.epsilon != maker._epsilon(found.longest or found.length):
                raise InvalidValue("the certificate is for another system or another ε: make a new one with save")
            bound = maker._bound(found, progress)
            if not bound <= found.epsilon:
                raise InvalidValue("the certificate does not hold: make a new one with save")
            again = replace(found, bound=bound)
            if again.longest is None:
                proven[again.length] = maker._prepared(again, again.length)
            else:
                for_all.append((maker, again))
        self._known.update(proven)
        for maker, again in for_all:
            maker._for_all[:] = [again]

    def _bound(self, found: Certificate, progress: ShareDone | None = None) -> float:
        """What a certificate that somebody brings really proves; ∞ if nothing."""
        usable = found.epsilon / 2 <= found.c <= found.epsilon and found.longest is None
        excess = self._methods(found.length, progress).get(found.method) if usable else None
        return found.c + excess(found.c) if excess is not None else math.inf

    @abstractmethod
    def _methods(self, reach: int, progress: ShareDone | None = None) -> dict[Method, Excess]:
        """For each method that applies, the excess as a function of c."""

    @abstractmethod
    def _best(self, reach: int, progress: ShareDone | None = None) -> Certificate:
        """The best certificate that can be proven."""

    def _of_all_lengths(self, progress: ShareDone | None = None) -> Certificate | None:
        """The best certificate for all lengths that can be proven; None if there is none."""
        return None

    def _prepared(self, certificate: Certificate, reach: int) -> Certified:
        """The certificate with the weights for words of this reach."""
        return Certified(certificate, Weights.linear(Fraction(certificate.c), reach))

    def _maker(self, certificate: Certificate) -> Certifier | None:
        """The certifier that makes such certificates, if it is this one or part of it: same words, same steps."""
        same = (certificate.system, certificate.step, certificate.first) == (self._space.identity, 1, 0)
        return self if same else None

    def _certified(self, reach: int, progress: ShareDone | None = None) -> Certified:
        known = self._known.get(reach)
        if known is None:
            known = self._known[reach] = self._prepared(self._best(reach, progress), reach)
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
            raise InvalidValue("no certificate has been used yet: ask for certificate(18)")
        return self._last[0]


def largest_rate(
    epsilon: float, excess: Excess, start: float, tries: int = 0, precision: float = _PRECISION
) -> tuple[float, float]:
    """The largest c found with c + excess(c) ≤ ε, and c + excess(c); ε/2 if there is none, which is always allowed.

    Any c that passes is certified, however it was found: `start`, if it does, else less. The excess falls about like
    e^(−c), hence the first steps; if they miss, or lead away, some `tries` between ε and ε/2. Then the gap to what
    failed is halved.
    """
    fails, over_before, c = math.inf, math.inf, start
    steps = [epsilon * (1 - share / (2 * tries)) for share in range(1, tries)]
    while c > epsilon / 2:
        more = excess(c)
        over = c + more - epsilon
        if over <= 0:
            break
        fails = c
        c = 0.0 if over > over_before else c - over / max(1 - more, 0.1) - precision * epsilon / 2
        over_before = over
        if c <= epsilon / 2 and steps:
            c, over_before = steps.pop(0), math.inf
    else:
        return epsilon / 2, epsilon
    holds = c, c + more
    while math.isfinite(fails) and min(fails - holds[0], epsilon - holds[1]) > precision * epsilon:
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
        found = [Certificate(**each | {"detail": tuple(each.get("detail", ()))}) for each in document["certificates"]]
    except InvalidValue:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        found = []
    kinds = {"c": float, "bound": float, "method": str, "epsilon": float, "length": int, "system": str}
    kinds |= {"step": int, "first": int}
    right = all(type(getattr(each, name)) is kind for each in found for name, kind in kinds.items())
    right &= all(type(each.longest) is int or each.longest is None for each in found)
    right &= all(type(number) is int for each in found for number in each.detail)
    if not found or not right or not all(each.length >= 0 for each in found):
        raise InvalidValue(f"{Path(path).name} holds no certificates, or is cut off: make a new one with save")
    return found
