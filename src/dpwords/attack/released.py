"""What is guessed of the words behind a released file, by somebody who fits a prior to the file itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dpwords.attack.results import ReleasedGuess, Success
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.mechanisms.private import Private
from dpwords.models.chains import Chain, MarkovChain, PriorWords
from dpwords.models.choosing import chance_alone, fitted, rehearsed, split
from dpwords.models.common_words import CommonWords, chain_log_likelihoods, common_words
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import EstimateMethod, ProgressLine
from dpwords.models.hidden import uniform_numbers
from dpwords.models.population import Model
from dpwords.models.posteriors import Evidence, Posteriors
from dpwords.models.priors import CHAIN, COMMON, FITTED, NOTHING_FITTED, chain_of
from dpwords.models.releases import Releases
from dpwords.models.tuning import (
    COMPARED_RELEASES,
    FEWEST_COMPARED,
    LEAST_DOUBT,
    MOST_DRAWN,
    MOST_REHEARSALS,
    REHEARSED_WORDS,
)

_LEAST = 1e-12
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

    Cost: two fits, some tens of passes over all releases each (more for few releases), and one pass over at most
    `samples` of them.
    """
    releases = Releases.of(released, mechanism)
    numbers = _asked(releases, mechanism, length)
    model = fitted(releases, mechanism, progress=progress, with_intervals=False) if prior is None else None
    chain = _given(mechanism, prior) if model is None else _positive(model)
    chosen, told = _sampled(releases, mechanism, numbers, samples, chain)
    sizes, counts = np.unique(releases.words.sizes[numbers], return_counts=True)
    lengths = dict(zip(sizes.tolist(), counts.tolist(), strict=True))
    (plain, _), without_plain = _average(told, None), _without(mechanism, lengths, None)
    common = [] if model is None else _common(model, chain, releases, mechanism, progress)
    # An adversary may take any prior that explains the releases: the figures are those with which most is guessed.
    ways = [(_average(told, chain, each), _without(mechanism, lengths, chain, each)) for each in common or [{}]]
    (informed, spread), without = max(ways, key=lambda way: way[0][0].whole)
    left = 1 - len(chosen) / len(numbers)  # nothing is left to chance if all of them are guessed
    error = Success(*(value * math.sqrt(left / len(chosen)) for value in spread))
    known, number = CHAIN if model is None else COMMON if common else FITTED, 0
    if model is not None and not common:
        seen, unseen = _rehearsed(model, releases, mechanism, lengths, len(chosen), progress)
        most, number = Success(float(sizes @ counts / counts.sum()), 1.0), seen.shape[1]
        informed, without = _corrected(informed, seen, most), _corrected(without, unseen, most)
        error = Success(*np.hypot(error, seen.std(axis=1) / math.sqrt(number)).tolist())
    if model is not None:  # who fits a prior can take the uniform one, or guess without any release
        without = _better(without, without_plain)
        informed = _better(informed, _better(plain, without))
        if not common and (_tells_nothing(model) or informed == plain):
            informed, without, error, known, number = plain, without_plain, Success(0.0, 0.0), NOTHING_FITTED, 0
    misfit = model.misfit if model is not None and known == FITTED else None
    exact = all(each.evidence.uneven() is None for each in told)
    return ReleasedGuess(
        lengths,
        informed,
        plain,
        without,
        without_plain,
        known,
        len(chosen),
        error,
        exact,
        rehearsed=number,
        contradicted="" if misfit is None else str(misfit),
    )


def _better(one: Success, other: Success) -> Success:
    """What is guessed by somebody who takes the better of two priors, for each question by itself."""
    return Success(*map(max, one, other))


def _common(
    model: Model, chain: Chain, releases: Releases, mechanism: Private, progress: ProgressLine | None
) -> list[dict[int, CommonWords]]:
    """The words of each length that are common, as far as the releases show it, beside the chain and beside words that
    are equally likely: those of the two under which releases that were held out of their choice are likelier than under
    the chain alone, beyond chance. None if normalising constants differ."""
    every = releases.by_length()
    if len(releases) < FEWEST_COMPARED or model.method is EstimateMethod.CORRECTED:
        return []
    if progress is not None:
        progress("looking for common words")
    fitting, held_out = split(every, COMPARED_RELEASES)
    some = _positive(fitted(Releases.of_rows(fitting), mechanism, model.kind, progress, with_intervals=False))
    words = {length: common_words(mechanism, rows, some) for length, rows in fitting.items()}
    lengths = [length for length in words if len(words[length]) and length in held_out]

    def shows(others: Chain | None) -> bool:
        """Whether held-out releases are likelier if there are common words beside these others, beyond chance."""
        parts = ((CommonWords.beside(mechanism, others, words[n], fitting[n]), held_out[n]) for n in lengths)
        gains = [each.log_likelihoods(rows) - chain_log_likelihoods(mechanism, rows, some) for each, rows in parts]
        joined = np.concatenate(gains) if gains else np.zeros(1)
        return joined.sum() > 0 and chance_alone(joined, np.ones(len(joined))) <= LEAST_DOUBT

    kinds = [others for others, fits in ((chain, some), (None, None)) if shows(fits)]
    if not kinds:
        return []
    kept = {length: rows[:: max(len(rows) // COMPARED_RELEASES, 1)] for length, rows in every.items()}
    found = {length: common_words(mechanism, rows, chain) for length, rows in kept.items()}
    return [
        {n: CommonWords.beside(mechanism, others, row, kept[n]) for n, row in found.items() if len(row)}
        for others in kinds
    ]


def _tells_nothing(model: Model) -> bool:
    """Whether the fitted prior explains the releases no better than one that was fitted to noise alone: by half a unit
    of log-likelihood for each free chance of a chain, more than equally likely words do (theory, 17 g)."""
    even = np.ones(len(model.chances))
    gain = sum(
        float(each.times @ (each.log_likelihoods(model.chances) - each.log_likelihoods(even)))
        + float(each.times.sum()) * math.log(model.language.count(each.length))
        for each in model.evidence.lengths
    )
    groups = model.shape.base.groups
    return gain < (len(groups) - len(np.unique(groups))) / 2


def _rehearsed(
    model: Model,
    releases: Releases,
    mechanism: Private,
    lengths: dict[int, int],
    most: int,
    progress: ProgressLine | None,
) -> tuple[Floats, Floats]:
    """By how much a prior that is fitted to releases believes too much: for words drawn from the model, the positions
    and the whole words that it expects to guess less those that it does guess, from a release of each; and the same
    without a release.

    A prior that is fitted to releases fits their noise, too, and believes more than it knows. Of words that were drawn
    from the model all is known, so they show by how much (the bootstrap's correction of optimism; theory, 17 g).
    """
    turns = min(-(-REHEARSED_WORDS // len(releases)), MOST_REHEARSALS)
    share = min(MOST_DRAWN / len(releases), 1.0)
    hits, before = list[Floats](), list[Floats]()
    for turn in range(turns):
        words, released = rehearsed(model, releases, mechanism, share, f"a rehearsal, {turn}")
        if progress is not None:
            progress(f"guessing {len(words):,} words of the fitted prior, {turn + 1} of {turns}")
        again = _positive(fitted(Releases(released), mechanism, model.kind))
        for numbers in words.by_length():
            true = words.rows(numbers)
            length = true.shape[1]
            if length not in lengths:
                continue
            some = true[: max(most * lengths[length] // sum(lengths.values()), 1)]
            told = _Told(evidence_of(mechanism, length), released.rows(numbers)[: len(some)])
            posteriors = told.posteriors(again)
            positions, whole = posteriors.guessed(told.rows)
            hits.append(np.stack([positions.sum(axis=1), whole]) - _right(some, *posteriors.guesses(told.rows)))
            known = PriorWords(mechanism.language, again, mechanism.limits).known
            (marginals, (likeliest, chance)) = known.marginals(length), known.likeliest(length)
            expected = np.array([[float(marginals.max(axis=1).sum())], [chance]])
            before.append(expected - _right(some, marginals.argmax(axis=1), likeliest))
    return np.concatenate(hits, axis=1), np.concatenate(before, axis=1)


def _right(words: Codes, symbols: Codes, whole: Codes) -> Floats:
    """For each word the number of positions that are guessed by these symbols, and whether the whole is guessed."""
    return np.stack([(words == symbols).sum(axis=1), (words == whole).all(axis=1)]).astype(np.float64)


def _corrected(expected: Success, optimism: Floats, most: Success) -> Success:
    """What is expected, less the mean optimism."""
    return Success(*np.clip(np.array(expected) - optimism.mean(axis=1), 0.0, most).tolist())


def _asked(releases: Releases, mechanism: Private, length: int | None) -> Integers:
    """The numbers of the released words that the question is about; refuses those that tell nothing by position."""
    sizes = releases.words.sizes
    if evidence_of(mechanism, int(sizes.max())).rate is None:
        raise InvalidValue(
            "no prior is fitted to releases of this mechanism, which do not tell about each position by itself: leave "
            f"out {named('released')} and pass {named('length')} with a {named('prior')} that is known, or release "
            f"with Online ({named('mechanism', 'online')}) or a linear utility ({named('utility', 'linear')}), where "
            "words keep their length"
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


def _given(mechanism: Private, prior: object) -> Chain:
    """The chain that the adversary takes the words for."""
    if isinstance(prior, str):
        raise InvalidValue(
            "with released words, the prior is fitted to them and the uniform one is shown beside it: leave out prior, "
            "or pass a chain"
        )
    return _positive(chain_of(prior, mechanism.language, mechanism.limits))


def _positive(chain: MarkovChain) -> Chain:
    """The same chain without chances of 0, which would exclude words that were possible."""
    return Chain(chain.language, chain.shape, np.maximum(chain.chances, _LEAST))


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


def _average(
    told: list[_Told], chain: MarkovChain | None, common: Mapping[int, CommonWords] = MappingProxyType({})
) -> tuple[Success, Success]:
    """The mean over words of the positions and the whole words that are guessed, and the standard deviations."""
    hits: list[Floats] = []
    wholes: list[Floats] = []
    for each in told:
        positions, whole = common.get(each.evidence.length, each.posteriors(chain)).guessed(each.rows)
        hits.append(positions.sum(axis=1))
        wholes.append(whole)
    values = np.concatenate(hits), np.concatenate(wholes)
    mean, spread = (Success(*(float(each(value)) for value in values)) for each in (np.mean, np.std))
    return mean, spread


def _without(
    mechanism: Private,
    lengths: dict[int, int],
    chain: MarkovChain | None,
    common: Mapping[int, CommonWords] = MappingProxyType({}),
) -> Success:
    """What somebody guesses who sees the lengths of the released words, and nothing else of them."""
    known, total = PriorWords(mechanism.language, chain, mechanism.limits).known, np.zeros(2)
    for size, number in lengths.items():
        if size in common:
            total += number * np.array(common[size].without())
        else:
            total += number * np.array([known.marginals(size).max(axis=1).sum(), known.likeliest(size)[1]])
    return Success(*(total / sum(lengths.values())).tolist())
