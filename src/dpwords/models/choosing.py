"""Which model of a population fits best: the one under which releases that were left out of the fit are most likely.

The likelihood of a release is known exactly, so models with any number of parameters can be compared by it. Part of the
releases is held out, each model is fitted to the others, and the one with the largest likelihood of what was held out
is fitted to all of them (docs/theory.md, section 15 f).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import InvalidValue, TooLarge
from dpwords.mechanisms.private import Private
from dpwords.models.chains import hidden_runs
from dpwords.models.checking import Misfit, misfit, simulated_words
from dpwords.models.fitting import EstimateMethod, Fit, ProgressLine, fit, normalised, shrunk
from dpwords.models.population import Model, Rival, RunEvidence, counted_chances
from dpwords.models.refined import Counted, ModelKind, ModelShape
from dpwords.models.releases import Releases
from dpwords.models.tuning import (
    COMPARED_MISSING,
    COMPARED_RELEASES,
    EVENLY,
    FEWEST_COMPARED,
    FIRST_RELEASES,
    HELD_OUT,
    LAST_ROUNDS,
    LEAST_DOUBT,
    MISSING,
    MOST_APART,
    PSEUDO,
)
from dpwords.models.windows import Corrected, fit_corrected
from dpwords.spaces.choice import space_of

ModelName = ModelKind | Literal["auto", "chain", "by place", "two steps"]  # as users pass it
AUTO: Literal["auto"] = "auto"
MODELS = (AUTO, *ModelKind)
WordRows = dict[int, Codes]


def checked_model(name: object) -> ModelKind | None:
    """The kind of model that users ask for by name; None for the one that fits best."""
    if name not in MODELS:
        raise InvalidValue(
            "model is 'auto', 'chain', 'by place' or 'two steps', or what estimate.model returned for these releases"
        )
    return None if name == AUTO else ModelKind(str(name))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kind of model, and how many pseudo-counts of the homogeneous chain its rows get."""

    shape: ModelShape
    pseudo: float = 0.0


@dataclass(frozen=True, eq=False)
class FittedCandidate:
    """A candidate fitted to some releases."""

    candidate: Candidate
    evidence: RunEvidence
    found: Fit


class Fitter:
    """Fits candidates to releases of one mechanism, each starting from the homogeneous chain."""

    def __init__(
        self, mechanism: Private, words: WordRows, progress: ProgressLine | None, enough: float = MISSING
    ) -> None:
        self.mechanism, self.words, self.progress, self.enough = mechanism, words, progress, enough
        self.base = hidden_runs(mechanism.language, mechanism.limits)
        self.constants: Corrected | None = None

    def chain(self, start: Floats | None = None) -> FittedCandidate:
        """The homogeneous chain. Cost: some tens of passes; where constants differ, some hundred."""
        shape = ModelShape(self.base, limits=self.mechanism.limits)
        evidence = RunEvidence.of(self.mechanism, self.words, shape)
        first = counted_chances(self.words, self.base) if start is None else start
        if evidence.uneven:
            space = space_of(self.mechanism.language, "hamming", self.mechanism.limits)
            self.constants = Corrected(evidence, space)
            return FittedCandidate(
                Candidate(shape), *fit_corrected(evidence, self.constants, first, None, self.progress)
            )
        return FittedCandidate(Candidate(shape), evidence, self._fit(evidence, first, None))

    def refined(
        self, candidate: Candidate, chain: FittedCandidate, start: Floats | None, last: bool = False
    ) -> FittedCandidate:
        """Another candidate, whose rows are shrunk to those of the chain. Cost: some tens of passes."""
        evidence = RunEvidence.of(self.mechanism, self.words, candidate.shape)
        rows = normalised(chain.found.chances[evidence.runs.tied], evidence.groups)
        # The chain may rule out a step that this model does not, and a chance of 0 would remain 0.
        even = 1 / np.bincount(evidence.groups)[evidence.groups]
        pseudo, first = candidate.pseudo * rows, (1 - EVENLY) * rows + EVENLY * even if start is None else start
        if self.constants is None:
            return FittedCandidate(candidate, evidence, self._fit(evidence, first, pseudo))
        if last:
            fitted = fit_corrected(evidence, self.constants, first, pseudo, self.progress, LAST_ROUNDS)
            return FittedCandidate(candidate, *fitted)
        evidence = self.constants.weighted(evidence)
        return FittedCandidate(candidate, evidence, self._fit(evidence, first, pseudo))

    def weighted(self, evidence: RunEvidence) -> RunEvidence:
        """Releases with the normalising constants as far as they are known."""
        return evidence if self.constants is None else self.constants.weighted(evidence)

    def _fit(self, evidence: RunEvidence, start: Floats, pseudo: Floats | None) -> Fit:
        if sum(len(rows) for rows in self.words.values()) > 4 * FIRST_RELEASES:
            some = evidence.sample(FIRST_RELEASES)
            start = fit(shrunk(some, pseudo), start, self.progress, enough=self.enough).chances
        return fit(shrunk(evidence, pseudo), start, self.progress, enough=self.enough)


def fitted(
    releases: Releases,
    mechanism: Private,
    kind: ModelKind | None = None,
    progress: ProgressLine | None = None,
    *,
    with_intervals: bool = True,
) -> Model:
    """The population that makes the releases most likely, as a model of this kind, or of the one that fits best; on
    free words, of those that have intervals, unless they are not needed.

    Cost: some tens of passes for each model that is tried, over at most `COMPARED_RELEASES` releases, and for the one
    that is taken over all of them; see `Pass`.
    """
    words = releases.by_length()
    every = tuple(_candidates(mechanism, words, kind, with_intervals))
    best, scores, rivals = every[0], dict[str, float](), tuple[Rival, ...]()
    if len(every) > 1 and len(releases) >= FEWEST_COMPARED:
        best, scores, rivals = _compared(mechanism, words, every, progress)
    fitter = Fitter(mechanism, words, progress)
    found = fitter.chain()
    if best.shape.kind is not ModelKind.CHAIN:
        found = fitter.refined(best, found, None, last=True)
    method = EstimateMethod.EM if fitter.constants is None else EstimateMethod.CORRECTED
    about = method, len(releases), releases.fingerprint(mechanism)
    model = Model(mechanism.language, best.shape, found.evidence, found.found, *about, scores, rivals)
    wrong = _checked(model, releases, mechanism)
    if wrong is not None:  # then the next best model is no worse a guess
        rivals = tuple(each._replace(doubt=max(each.doubt, 0.5 * each.is_runner_up)) for each in rivals)
    kept = tuple(each for each in rivals if each.doubt > LEAST_DOUBT or each.by_place)
    return replace(model, misfit=wrong, rivals=kept)


def _checked(model: Model, releases: Releases, mechanism: Private) -> Misfit | None:
    """What contradicts the model, given releases of words drawn from it. Cost: as many releases as are simulated."""
    share = simulated_words(len(releases)) / len(releases)
    released = rehearsed(model, releases, mechanism, share, "words of a fitted model")[1]
    return misfit(releases.words, released, mechanism.language.alphabet.symbols)


def rehearsed(model: Model, releases: Releases, mechanism: Private, share: float, seed: str) -> tuple[Ragged, Ragged]:
    """Words drawn from a model, for each length about so many times as there are releases, and releases of them."""
    stream, seeds = SeededSource(seed).open(), f"releases of {seed}"
    words: list[tuple[Integers, Codes]] = []
    released: list[tuple[Integers, Codes]] = []
    first = 0
    for length, rows in releases.by_length().items():
        some = max(round(share * len(rows)), 1)
        numbers, first = np.arange(first, first + some), first + some
        words.append((numbers, model.drawn(length, some, stream)))
        released.append((numbers, np.asarray(mechanism.within(length).seeded(seeds).release_codes(words[-1][1]))))
    return Ragged.gathered(words, first, np.int64), Ragged.gathered(released, first, np.int64)


def _candidates(
    mechanism: Private, words: WordRows, kind: ModelKind | None, with_intervals: bool
) -> Iterator[Candidate]:
    """The models that are tried, the simplest first.

    Those that are too large, have more parameters than the releases have symbols, or on free words, `with_intervals`,
    so many that there would be none, are tried only if asked for.
    """
    base, limits, lengths = hidden_runs(mechanism.language, mechanism.limits), mechanism.limits, tuple(words)
    symbols = sum(rows.size for rows in words.values())
    if kind in (None, ModelKind.CHAIN):
        yield Candidate(ModelShape(base, limits=limits))
    for each in (ModelKind.BY_PLACE, ModelKind.TWO_STEPS):
        if kind not in (None, each) or max(lengths) < 2:
            continue
        for counted in Counted if each is ModelKind.BY_PLACE and len(lengths) > 1 else [Counted.FROM_START]:
            if counted is Counted.OF_LENGTH and len(lengths) > MOST_APART:
                continue
            shape = ModelShape(base, each, lengths, counted, limits)
            try:
                parameters = len(shape.runs().hidden.groups)
            except TooLarge:
                if kind is not None:
                    raise
                continue
            few = mechanism.language.alike and with_intervals
            most = min(symbols, limits.interval_parameters) if few else symbols
            if parameters > most and (kind is None or counted is not Counted.FROM_START):
                continue
            yield from (Candidate(shape, pseudo) for pseudo in PSEUDO)
    if kind not in (None, ModelKind.CHAIN) and max(lengths) < 2:  # words of one symbol have no steps
        yield Candidate(ModelShape(base, limits=limits))


def _compared(
    mechanism: Private, words: WordRows, every: Sequence[Candidate], progress: ProgressLine | None
) -> tuple[Candidate, dict[str, float], tuple[Rival, ...]]:
    """The candidate under which releases that were held out are most likely, that likelihood for each kind, and the
    rivals of the candidate."""
    fitting, held_out = split(words, COMPARED_RELEASES)
    fitter = Fitter(mechanism, fitting, None, COMPARED_MISSING)
    found = [fitter.chain()]
    logs, times, scores = [], np.zeros(0), dict[str, float]()
    for before, candidate in zip([None, *every], every, strict=False):
        shape = candidate.shape
        if shape.kind is not ModelKind.CHAIN:
            again = before is not None and before.shape is shape  # with other pseudo-counts
            found.append(fitter.refined(candidate, found[0], found[-1].found.chances if again else None))
        left = fitter.weighted(RunEvidence.of(mechanism, held_out, shape))
        times = np.concatenate([each.times for each in left.lengths])
        logs.append(left.log_likelihoods(np.maximum(found[-1].found.chances, 1e-12)))
        value = float(times @ logs[-1] / times.sum())
        scores[str(shape)] = max(value, scores.get(str(shape), -np.inf))
        if progress is not None:
            progress(f"model {shape}: log-likelihood of held-out releases {value:.4f} each")
    fits = found[-len(every) :]  # the chain is fitted first in any case
    totals = [float(times @ each) for each in logs]
    best = int(np.argmax(totals))
    own, rivals = fits[best], list[Rival]()
    for each, other, _ in sorted(zip(fits, logs, totals, strict=True), key=lambda fit: -fit[2]):
        doubt = chance_alone(logs[best] - other, times)
        other_kind = each.candidate.shape.kind is not own.candidate.shape.kind
        runner_up = other_kind and not any(rival.is_runner_up for rival in rivals)
        by_place = other_kind and each.candidate.shape.kind is ModelKind.BY_PLACE
        by_place &= not any(rival.by_place for rival in rivals)
        if each is not own and (doubt > LEAST_DOUBT or runner_up or by_place):
            about = each.evidence, each.found.chances, own.evidence, own.found.chances
            rivals.append(Rival(doubt, *about, runner_up, by_place))
    return every[best], scores, tuple(rivals)


def chance_alone(gains: Floats, times: Floats) -> float:
    """The probability that chance alone makes one model look better than another (Vuong's test)."""
    total = float(times @ gains)
    spread = math.sqrt(float(times @ (gains - total / times.sum()) ** 2))
    return math.erfc(total / max(spread, 1e-9) / math.sqrt(2)) / 2


def split(words: WordRows, most: int | None = None) -> tuple[WordRows, WordRows]:
    """Releases to fit to, and others that are held out, of at most so many releases in all.

    Each length has its share of both, as far as whole words can.
    """
    coins, number = np.random.default_rng(29), sum(map(len, words.values()))
    kept = 1.0 if most is None else min(most / number, 1.0)
    fitting: WordRows = {}
    held_out: WordRows = {}
    begin = 0
    for length, rows in words.items():
        end = begin + len(rows)
        held, taken = (round(share * end) - round(share * begin) for share in (HELD_OUT * kept, kept))
        order, begin = coins.permutation(len(rows)), end
        for part, chosen in ((held_out, order[:held]), (fitting, order[held:taken])):
            if len(chosen):
                part[length] = rows[np.sort(chosen)]
    return fitting, held_out
