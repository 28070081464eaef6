"""Certificates of the rate c, the search for the largest rate that can be proven, and their cache."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dpwords.core.cache import cached, store
from dpwords.core.files import read_text
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.tuning import FAR, NOT_LESS, PRECISION
from dpwords.privacy.methods import Method
from dpwords.spaces.space import Weights

Excess = Callable[[float], float]  # from c to a proven bound on ln Z(x′)/Z(x) for each unit of distance
FractionDone = Callable[[float], None]  # from 0 to 1
_METHODS = frozenset(Method)
_GRID = 22  # bits: a rate that was computed is rounded down to a multiple of 2^(−22) times a power of 2 above ε


@dataclass(frozen=True)
class Certificate:
    """A proven rate c: no pair of words of one length loses more than `bound` ≤ ε for each position that differs.

    It is for words of `length` symbols or, where `longest` is given, for every length from `length` to `longest`.

    The weights are e^(−c·d), or, for a staircase, e^(−c·ceil((d − first)/step)); then `bound` and ε are for each `step`
    positions that differ.
    """

    c: float
    bound: float
    method: Method
    epsilon: float  # for each position, or for each step
    length: int
    system: str  # a hash
    step: int = 1
    first: int = 0
    longest: int | None = None
    detail: tuple[int, ...] = ()  # of blocks: nodes before and after a position, and radius; of fitted pairs: weights

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


def largest_rate(
    epsilon: float, excess: Excess, start: float, tries: int = 0, precision: float = PRECISION, bits: int = _GRID
) -> tuple[float, float]:
    """The largest c found with c + excess(c) ≤ ε, and c + excess(c); ε/2 if there is none, which is always allowed.

    Any c that passes is certified, however it was found: `start`, if it does, else less. The excess falls about like
    e^(−c), hence the first steps; if they miss, or lead away, some `tries` between ε and ε/2, as long as the excess is
    less than c. Then a line between what holds and what failed is followed. Rates are rounded to `bits`, see `on_grid`.
    """
    fails, before, c = (math.inf, 0.0), (math.inf, 0.0), start
    steps = [epsilon * (1 - fraction / (2 * tries)) for fraction in range(1, tries)]
    while c > epsilon / 2:
        more = excess(c)
        over = c + more - epsilon
        if over <= 0:
            break
        fails, slope = (c, over), 1 - more
        if over < before[1]:
            slope = min(slope, (before[1] - over) / (before[0] - c))
        leads_away = 0 < before[1] < over and over > FAR * epsilon
        before, c = (
            (c, over),
            0.0 if leads_away else on_grid(c - over / max(slope, 0.1) - precision * epsilon / 2, epsilon, bits),
        )
        if c <= epsilon / 2 and steps and more < before[0]:
            before, c = (math.inf, 0.0), steps.pop(0)
    else:
        return epsilon / 2, epsilon
    holds = c, c + more
    while math.isfinite(fails[0]) and min(fails[0] - holds[0], epsilon - holds[1]) > precision * epsilon:
        ahead = (epsilon - holds[1]) / (epsilon - holds[1] + fails[1])  # where a line between the two meets ε
        c = on_grid(holds[0] + min(max(ahead, NOT_LESS), 1 - NOT_LESS) * (fails[0] - holds[0]), epsilon, bits)
        if c <= holds[0]:
            break
        more = excess(c)
        if c + more <= epsilon:
            holds = c, c + more
        else:
            fails = c, c + more - epsilon
    return holds


def on_grid(c: float, epsilon: float, bits: int = _GRID) -> float:
    """A rate rounded down to a multiple of a fixed unit, less than ε/2^(bits − 1): by default ε/2,000,000.

    Rates are the same on every machine because every step of a search is. If one were not, and differed in the last
    digits, the rate would still be the same, unless it lay on the boundary of a unit.
    """
    unit = math.ldexp(1.0, math.frexp(epsilon)[1] - bits)
    return math.floor(c / unit) * unit if math.isfinite(c) else c


def certificates_in(path: str | os.PathLike[str]) -> list[Certificate]:
    """The certificates of a file, each with fields of the right kinds."""
    try:
        return certificates_of(json.loads(read_text(path)))
    except InvalidValue:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidValue(
            f"{Path(path).name} holds no certificates, or is cut off: delete it, or make a new one"
        ) from None


def certificates_of(document: Any) -> list[Certificate]:
    """The certificates of a JSON document; raises ValueError, KeyError or TypeError if there are none."""
    found = [Certificate(**{"detail": ()} | each) for each in document["certificates"]]
    if any(type(each.method) is str and each.method not in _METHODS for each in found):
        raise InvalidValue(
            "the certificate does not hold: this version of dpwords cannot prove it by the method that it names; "
            "delete the file, or make a new one"
        )
    found = [replace(each, method=Method(each.method), detail=tuple(each.detail)) for each in found]
    kinds = {"c": float, "bound": float, "method": Method, "epsilon": float, "length": int, "system": str}
    kinds |= {"step": int, "first": int}
    right = all(type(getattr(each, name)) is kind for each in found for name, kind in kinds.items())
    right &= all(type(each.longest) is int or each.longest is None for each in found)
    right &= all(type(number) is int for each in found for number in each.detail)
    if right:  # larger numbers are those of no word, and some do not fit into a float
        numbers = [(each.length, each.longest or 0, each.step, each.first, *each.detail) for each in found]
        right = all(abs(number) < 2**53 for each in numbers for number in each)
    if not found or not right or not all(each.length >= 0 for each in found):
        raise ValueError("no certificates")
    return found


def cached_certificate(question: str, holds: Callable[[Certificate], bool]) -> Certificate | None:
    """The cached certificate that answers a question, if it has a valid tag or is proven again now.

    One with a valid tag was proven by this code, run by this user (see `dpwords.core.cache`). One without (a changed
    file, another user's) is only a claim: it is proven again in full before it is used, and not used if that fails.
    """
    document = cached(question)
    if document is None:
        return None
    try:
        (found,) = certificates_of(document.answer)
        if document.ours or holds(found):
            return found
    except (ValueError, KeyError, TypeError):
        pass
    warnings.warn(
        "a certificate in the cache does not hold, or is damaged: it is not used, and made anew", stacklevel=2
    )
    return None


def store_certificate(question: str, certificate: Certificate) -> None:
    """Cache a certificate that has just been proven; where nothing can be written, it is not cached."""
    store(question, {"certificates": [asdict(certificate)]})
