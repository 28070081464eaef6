"""Several mechanisms with one promise: words of each length use the one that is best for that length."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from dpwords.core.cache import cached, store
from dpwords.core.elementary import index_of_least
from dpwords.core.symbols import Codes
from dpwords.errors import NO_MEMORY, InvalidValue, TooLarge
from dpwords.mechanisms.private import Drawing, Private, StepDone
from dpwords.mechanisms.summary import Averages, InForce
from dpwords.privacy.guarantees import Guarantee, PureDP
from dpwords.spaces.space import Law

if TYPE_CHECKING:
    from dpwords.privacy.certificates.certifier import Certifier


class ByLength(Private):
    """For words of each length, the candidate with the least public expected distance at that length.

    The candidates have the same language, ε and k, and keep the length of words. So two words that are compared by the
    promise always use the same candidate, and the choice depends on public facts only: the language, ε, k and the
    length. Cost: for each length that is used, once, the public expected distance of every candidate.

    >>> import dpwords as dw
    >>> dw.best(dw.GridWorld(9, 9), epsilon=2, length=None).chosen(16)
    'online'
    """

    candidates: Mapping[str, Private]

    def __init__(self, candidates: Mapping[str, Private]) -> None:
        first = next(iter(candidates.values()))
        promises = [each.guarantee for each in candidates.values()]
        proven = [promise for promise in promises if isinstance(promise, PureDP)]
        same = len({(each.epsilon, each.k, each.distance) for each in proven}) == 1
        one_language = all(each.language is first.language for each in candidates.values())
        if len(proven) < len(candidates) or not same or not one_language or first.distance != "hamming":
            raise InvalidValue(
                "candidates must promise the same about the same language: use the same ε, k and language"
            )
        super().__init__(first.language, first._space, first.k, limits=first.limits)
        self.epsilon, self.candidates = proven[0].epsilon, MappingProxyType(dict(candidates))
        self._slack = max(each.slack for each in proven)
        self._known: dict[int, dict[str, float]] = {}  # expected distances, by length
        self._figures: dict[tuple[str, int], float] = {}  # the same, as they are computed

    def __repr__(self) -> str:
        return f"ByLength({', '.join(self.candidates)}; {self.language!r}, epsilon={self.epsilon:g}, k={self.k})"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"candidates": dict(self.candidates)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"candidates": MappingProxyType(state["candidates"])})

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "hamming", self.k, self._slack, "best", proof=10))

    def compared(self, length: int) -> dict[str, float]:
        """The public expected distance of each candidate at this length; NaN where the computation is too large.

        Where it is simulated, two standard errors are added, so that nothing is chosen by chance. A projection that
        could not be the best one at any rate is left out.
        """
        if not self._choice_is_known(length):
            found = {name: self._distance(name, length) for name, _ in self._in_turn(length)}
            if all(map(_is_number, found.values())):  # later runs then need not load the compiler
                store(self._question(length), found)
            self._known[length] = found
        return dict(self._known[length])

    def chosen(self, length: int) -> str:
        """The name of the candidate that words of this length use."""
        return least(self.compared(length))

    def at(self, length: int) -> Private:
        """The candidate that words of this length use."""
        return self.candidates[self.chosen(length)]

    @property
    def certificates(self) -> Certifier | None:
        """Those of the first candidate that has any."""
        return next((each.certificates for each in self.candidates.values() if each.certificates is not None), None)

    def _in_turn(self, length: int) -> Iterator[tuple[str, Private]]:
        """The candidates that are compared, projections last, without those that others beat even at their best."""
        figures: list[float] = []
        for name, each in sorted(self.candidates.items(), key=lambda item: item[1].projected_onto is not None):
            if each._at_best(length) < min(figures, default=math.inf):
                yield name, each
                figures += [found for found in [self._distance(name, length)] if not math.isnan(found)]

    def seconds_to_prepare(self, length: int) -> tuple[float, float]:
        """Of all candidates, or of the chosen one alone if the choice is in the cache."""
        needed = [self.at(length)] if self._choice_is_known(length) else self.candidates.values()
        least, most = zip(*(each.seconds_to_prepare(length) for each in needed), strict=True)
        return sum(least), sum(most)

    def prepare(self, length: int, progress: StepDone | None = None, *, in_full: bool = False) -> None:
        """Make what the candidates need, or the chosen one alone if the choice is in the cache."""
        known = self._choice_is_known(length)
        if in_full or known:
            needed: Iterable[Private] = self.candidates.values() if in_full else [self.at(length)]
        else:
            needed = (each for _, each in self._in_turn(length))
        for each in needed:
            each.prepare(length, progress, in_full=in_full)
        if progress is not None and not known:
            progress(f"choosing a mechanism for words of length {length}", None)
        super().prepare(length, progress)

    def no_estimates(self, length: int) -> str | None:
        return self.at(length).no_estimates(length)

    def notes(self, lengths: Sequence[int]) -> list[str]:
        used: dict[str, list[int]] = {}
        for length in lengths:
            at_half = " (at the textbook rate)" if self.in_force(length).is_fallback else ""
            used.setdefault(self.chosen(length) + at_half, []).append(length)
        parts = [f"{name} for words of length {', '.join(map(str, some))}" for name, some in used.items()]
        if len(lengths) == 1:
            found, name = self.compared(lengths[0]), self.chosen(lengths[0])
            shown = {
                each: "too large to compute"
                if math.isnan(value)
                else f"{'' if self.candidates[each].projected_onto is None else '≤ '}{value:.3g}"
                for each, value in found.items()
            }
            figures = ", ".join(f"{each} {shown[each]}" for each in sorted(found, key=lambda each: each != name))
            parts[0] += f" (expected distance: {figures})"
        return [f"best mechanism: {'; '.join(parts)}"] if parts else []

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)({name: each.like(epsilon=epsilon, k=k) for name, each in self.candidates.items()})

    def _average(self, length: int | None, width: int | None) -> tuple[float, list[float]]:
        return self.at(self._public_length(length))._average(length, width)

    def standard_error(self, length: int) -> float | None:
        return self.at(self._public_length(length)).standard_error(length)

    def _known_averages(self, length: int) -> Averages:
        return Averages(distance=self.compared(length)[self.chosen(length)])

    def _public_averages(self, length: int) -> Averages:
        chosen = self.at(length)
        return chosen._public_averages(length) if chosen.projected_onto else super()._public_averages(length)

    def _in_force(self, length: int) -> InForce:
        found = self.at(length)._in_force(length)
        return replace(found, text=f"{found.text} (the best of {len(self.candidates)} mechanisms at this length)")

    def _law(self, codes: Codes) -> Law:
        return self.at(len(codes))._law(codes)

    def _drawing(self, length: int) -> Drawing:
        chosen = self.at(length)
        drawing = chosen._drawing(length)
        return Drawing(drawing.draw, lambda: (chosen._space.identity, *drawing.parameters()))

    def _choice_is_known(self, length: int) -> bool:
        """Whether the expected distances have been computed, now or by an earlier command that kept them.

        What was kept counts if its tag is valid; a claim alone decides nothing.
        """
        if length not in self._known:
            found = cached(self._question(length))
            complete = found is not None and found.ours and {*found.answer} <= {*self.candidates} and found.answer
            if found is not None and complete and all(map(_is_number, found.answer.values())):
                self._known[length] = found.answer
        return length in self._known

    def _question(self, length: int) -> str:
        limits = replace(self.limits, threads=0)
        return repr(("expected distances", self._space.identity, self.epsilon, self.k, limits, length))

    def _distance(self, name: str, length: int) -> float:
        if (name, length) not in self._figures:
            candidate, found = self.candidates[name], math.nan
            try:
                found = candidate.expected_distance(length=length) + 2 * (candidate.standard_error(length) or 0.0)
            except TooLarge as error:
                if str(error) == NO_MEMORY:  # another machine may have enough, and the choice is the same on all
                    raise
            self._figures[name, length] = found
        return self._figures[name, length]


def _is_number(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def least(distances: Mapping[str, float]) -> str:
    """The name with the least number, the first of several that are equal but for rounding; NaN is never the least."""
    return list(distances)[index_of_least(list(distances.values()))]
