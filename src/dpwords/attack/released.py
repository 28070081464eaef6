"""What is guessed of the words behind a released file, by somebody who fits a prior to the file itself."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpwords.attack.results import ReleasedGuess, Success
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.mechanisms.private import Private
from dpwords.models.chains import Chain, MarkovChain, PriorWords
from dpwords.models.choosing import fitted
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import ProgressLine
from dpwords.models.hidden import uniform_numbers
from dpwords.models.posteriors import Evidence, Posteriors
from dpwords.models.priors import CHAIN, FITTED, chain_of
from dpwords.models.releases import Releases

_LEAST = 1e-12  # a fitted probability of 0 would exclude words that were possible
_FEWEST = 100  # released words that are guessed where they are too many: fewer say little


class _Told(NamedTuple):
    """Released words of one length, and what releases tell at this length."""

    evidence: Evidence
    rows: Codes

    def posteriors(self, chain: MarkovChain | None) -> Posteriors:
        """What is known of them with a prior."""
        mechanism = self.evidence.mechanism
        found = self.evidence.posteriors(PriorWords(mechanism.language, chain, mechanism.limits), 1)
        assert found is not None  # releases tell about each position by itself
        return found


def guessed_of_released(
    mechanism: Private,
    released: Any,
    length: int | None,
    prior: object,
    samples: int,
    progress: ProgressLine | None = None,
) -> ReleasedGuess:
    """What is expected to be guessed of the words behind these releases; see `guess`.

    Cost: a fit, some tens of passes over all releases, and one pass over at most `samples` of them.
    """
    releases = Releases.of(released, mechanism)
    numbers = _asked(releases, mechanism, length)
    chain, known = _prior(releases, mechanism, prior, progress)
    chosen, told = _sampled(releases, mechanism, numbers, samples, chain)
    sizes, counts = np.unique(releases.words.sizes[numbers], return_counts=True)
    lengths = dict(zip(sizes.tolist(), counts.tolist(), strict=True))
    (informed, spread), (plain, _) = (_average(told, each) for each in (chain, None))
    left = 1 - len(chosen) / len(numbers)  # nothing is left to chance if all of them are guessed
    error = Success(*(value * math.sqrt(left / len(chosen)) for value in spread))
    exact = all(each.evidence.uneven() is None for each in told)
    without, without_plain = (_without(mechanism, lengths, each) for each in (chain, None))
    return ReleasedGuess(lengths, informed, plain, without, without_plain, known, len(chosen), error, exact)


def _asked(releases: Releases, mechanism: Private, length: int | None) -> Integers:
    """The numbers of the released words that the question is about; refuses those that tell nothing by position."""
    sizes = releases.words.sizes
    if evidence_of(mechanism, int(sizes.max())).rate is None:
        raise InvalidValue(
            "no prior is fitted to releases of this mechanism, which do not tell about each position by itself: leave "
            f"out {named('released')} and pass {named('length')} with a {named('prior')} that is known, or release "
            "with linear weights or online, where words keep their length"
        )
    numbers = np.arange(len(sizes)) if length is None else np.flatnonzero(sizes == length)
    if not len(numbers):
        raise InvalidValue(f"no released word has the length {length}: leave out {named('length')}")
    if int(sizes[numbers].max()) > mechanism.limits.attacked_length:
        raise TooLarge(
            f"what is guessed is computed for words of at most {mechanism.limits.attacked_length} symbols: pass a "
            f"shorter {named('length')}"
        )
    return numbers


def _prior(
    releases: Releases, mechanism: Private, prior: object, progress: ProgressLine | None
) -> tuple[MarkovChain, str]:
    """The chain that the adversary takes the words for, and what that assumes."""
    if prior is None:
        found: MarkovChain = fitted(releases, mechanism, progress=progress)
    elif isinstance(prior, str):
        raise InvalidValue(
            "with released words, the prior is fitted to them and the uniform one is shown beside it: leave out prior, "
            "or pass a chain"
        )
    else:
        found = chain_of(prior, mechanism.language, mechanism.limits)
    chances = np.maximum(found.chances, _LEAST)
    return Chain(found.language, found.shape, chances), FITTED if prior is None else CHAIN


def _sampled(
    releases: Releases, mechanism: Private, numbers: Integers, samples: int, chain: MarkovChain
) -> tuple[Integers, list[_Told]]:
    """Those of the released words that are guessed, all of them or as many as time allows, by their lengths."""
    longest = int(releases.words.sizes[numbers].max())
    cost = _Told(evidence_of(mechanism, longest), np.zeros((0, longest), dtype=np.int64)).posteriors(chain).cost()
    most = min(samples, mechanism.limits.attacked_steps // max(2 * cost, 1))
    if most < min(_FEWEST, len(numbers)):
        raise TooLarge("the system is too large to compute what can be guessed: use shorter words, or a smaller system")
    chosen = numbers
    if most < len(numbers):
        order = np.argsort(uniform_numbers(SeededSource("released words that are guessed").open(), (len(numbers),)))
        chosen = np.sort(numbers[order[:most]])
    sizes = releases.words.sizes[chosen]
    rows = {size: releases.words.rows(chosen[sizes == size]) for size in np.unique(sizes).tolist()}
    return chosen, [_Told(evidence_of(mechanism, size), each) for size, each in rows.items()]


def _average(told: list[_Told], chain: MarkovChain | None) -> tuple[Success, Success]:
    """The mean over words of the positions and the whole words that are guessed, and the standard deviations."""
    hits: list[Floats] = []
    wholes: list[Floats] = []
    for each in told:
        positions, whole = each.posteriors(chain).guessed(each.rows)
        hits.append(positions.sum(axis=1))
        wholes.append(whole)
    values = np.concatenate(hits), np.concatenate(wholes)
    mean, spread = (Success(*(float(each(value)) for value in values)) for each in (np.mean, np.std))
    return mean, spread


def _without(mechanism: Private, lengths: dict[int, int], chain: MarkovChain | None) -> Success:
    """What somebody guesses who sees the lengths of the released words, and nothing else of them."""
    language, total = mechanism.language, sum(lengths.values())
    known = PriorWords(language, chain, mechanism.limits).known
    hits = sum(number * float(known.marginals(size).max(axis=1).sum()) for size, number in lengths.items())
    whole = sum(number * known.likeliest(size)[1] for size, number in lengths.items())
    return Success(hits / total, whole / total)
