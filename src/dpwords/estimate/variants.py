"""Variants: how often each whole word occurs in the population.

Candidates are the likeliest true words of a part of the releases, under the model of the population that fits best; if
that does not fit, on free words also the most frequent releases. They are estimated from the others, so that what was
chosen because it looked frequent is not thought to be so. On free words that needs no model: a release at distance j
from a candidate counts g(j), where g is chosen so that the expectation is 1 for the candidate itself and 0 for every
other word. Elsewhere the population is a mixture of the candidates and of all other words, whose weights are fitted by
expectation–maximisation (docs/theory.md, section 15 h).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.estimate.asking import Asked, changed
from dpwords.estimate.decoding import likely_words
from dpwords.estimate.results import MEAN_ERROR, Estimates, FoundAnswers, estimates, on_simplex
from dpwords.estimate.tuning import LONGEST_INVERTED
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.private import Private
from dpwords.models.choosing import fitted, split
from dpwords.models.common_words import Mixture, log_weights
from dpwords.models.fitting import EstimateMethod
from dpwords.models.population import Model
from dpwords.models.refined import ModelKind
from dpwords.models.tuning import FEWEST_COMPARED

_SINGULAR = 1e12  # the largest condition number of a table that is inverted


@within_memory()
def estimated_variants(asked: Asked, most: int) -> Estimates:
    """The proportions of the most frequent words, the largest first.

    Cost: that of the model and of decoding, and releases · variants.
    """
    if asked.channel is not None:
        raise InvalidValue(
            "variants are not estimated from releases of the edit channel, which changes lengths: ask for pairs of "
            f"symbols (dfg), or release words that keep their length, without {named('edits', 'all')}"
        )
    releases, mechanism, method = asked.releases, asked.mechanism, asked.method
    if len(releases) < 2:
        raise InvalidValue("one release tells nothing about how much releases vary: pass at least two")
    alike, every = mechanism.language.alike, releases.by_length()
    if method == EstimateMethod.EM and not mechanism.is_linear:
        asked.fitted()  # raises
    near = _nearest_linear(mechanism, every) if alike and not mechanism.is_linear else mechanism
    inverts = alike and (near is not mechanism or (min(every) <= LONGEST_INVERTED and method != EstimateMethod.EM))
    tables = _invertible(mechanism, every) if inverts else {}
    words, to_choose = split(every) if len(releases) >= FEWEST_COMPARED else (every, every)
    some = {length: rows for length, rows in to_choose.items() if length in tables or not inverts}
    model = fitted(releases, near, ModelKind.CHAIN) if near is not mechanism else None
    if model is None and (not inverts or asked.is_given or asked.may_gain):
        model = asked.fitted()
    likely = [] if model is None else _most_frequent(likely_words(some, near, model), most)
    doubtful = model is None or model.misfit is not None
    released = _most_frequent(some, most) if inverts and doubtful else []
    candidates = _joined(likely, released, most)
    counted = np.array([_times(every, row) for row in candidates]) / len(releases)
    if inverts:
        raw, errors = _inverted(words, every, tables, candidates)
        left = every.keys() - tables.keys()
        too_long = f"words of {min(left, default=0)} symbols and more are left out: only a model can tell about them"
        notes = (too_long,) if left else ()
        values = _within_lengths(raw, candidates, every)
        found = FoundAnswers((), raw, errors, EstimateMethod.INVERSE, counted, proportions=values, notes=notes)
    else:
        assert model is not None
        raw, errors = _mixed(model, candidates)
        found = FoundAnswers.of_model(model, (), raw, errors, counted, errors)
    values = raw if found.proportions is None else found.proportions
    if MEAN_ERROR * float(errors.sum()) >= float(values.sum()):  # to list none would be off by less
        raise InvalidValue(
            "no word is frequent enough to be told from noise: ask for pairs of symbols (dfg), collect more releases, "
            "or release with a larger ε"
        )
    order = np.argsort(-values, kind="stable")
    encoder = mechanism.language.encoder()
    labels = [encoder.words(candidates[number][None], tuple)[0] for number in order]
    kept = replace(
        found,
        labels=labels,
        raw=raw[order],
        errors=errors[order],
        counted=counted[order],
        proportions=values[order],
        least=None,
    )
    return estimates(kept, confidence=asked.confidence, releases=len(releases), question="variants")


def _nearest_linear(mechanism: Private, words: dict[int, Codes]) -> Exponential:
    """The linear mechanism on free words that keeps as many symbols: good enough to guess true words by."""
    wrong, others = max(changed(mechanism, words), 1e-300), len(mechanism.language.alphabet) - 1
    epsilon = math.log(max(others * (1 - wrong) / wrong, 1.0))
    return Exponential(mechanism.language, min(max(epsilon, 1e-6), 100.0), limits=mechanism.limits)


def _most_frequent(words: dict[int, Codes], most: int) -> list[tuple[int, Codes]]:
    """The words that occur most often, and how often."""
    found: list[tuple[int, Codes]] = []
    for rows in words.values():
        distinct, times = np.unique(rows, axis=0, return_counts=True)
        found += [(int(number), row) for number, row in zip(times, distinct, strict=True)]
    return sorted(found, key=_by_frequency)[:most]


def _joined(likely: Iterable[tuple[int, Codes]], released: Iterable[tuple[int, Codes]], most: int) -> list[Codes]:
    """The most frequent words of both lists, each once."""
    every = {tuple(row.tolist()): row for _, row in sorted([*likely, *released], key=_by_frequency)}
    return list(every.values())[:most]


def _by_frequency(each: tuple[int, Codes]) -> tuple[int, list[int]]:
    return -each[0], each[1].tolist()


def _times(words: dict[int, Codes], row: Codes) -> int:
    """How many of the words are just this one."""
    rows = words.get(len(row))
    return 0 if rows is None else int((rows == row).all(axis=1).sum())


def _invertible(mechanism: Private, lengths: Iterable[int]) -> dict[int, Floats]:
    """The distances of releases by length, for all lengths up to the first one at which they tell nothing."""
    found: dict[int, Floats] = {}
    for length in sorted(lengths):
        table = released_distances(mechanism.within(length), length) if length <= LONGEST_INVERTED else None
        if table is None or np.linalg.cond(table) > _SINGULAR:
            if not found:
                raise InvalidValue(
                    f"whole words of {length} symbols leave nothing that could be estimated at this ε and k: ask for "
                    "shorter words or pairs of symbols (dfg), or release with a larger ε"
                )
            break
        found[length] = table
    return found


def _inverted(
    words: dict[int, Codes], every: dict[int, Codes], tables: dict[int, Floats], candidates: Sequence[Codes]
) -> tuple[Floats, Floats]:
    """Unbiased proportions of words, and their standard errors by how much releases vary.

    The proportion of a length is that of all releases, which is known; `words` are those that had no part in the choice
    of the candidates, or all if it left none of a length.
    """
    raw, errors, number = np.zeros(len(candidates)), np.zeros(len(candidates)), sum(map(len, every.values()))
    for index, row in enumerate(candidates):
        rows, length, table = words.get(len(row), every[len(row)]), len(every[len(row)]) / number, tables[len(row)]
        times = np.bincount((rows != row).sum(axis=1), minlength=len(row) + 1).astype(np.float64)
        mean, variance = _inverted_mean(times, table, inverse_weights(table))
        raw[index] = length * mean
        errors[index] = np.sqrt(length**2 * variance / len(rows) + mean**2 * length * (1 - length) / number)
    return raw, errors


def _inverted_mean(times: Floats, table: Floats, weights: Floats) -> tuple[float, float]:
    """The mean of the weights of some releases, given how many are at each distance, and the variance of one weight.

    Few releases are near a word, and their weights are large: if none happens to be there, those that are seen hardly
    vary. So the variance is at least that which follows from the likeliest distances of the true words, with two words
    more that are the candidate, and two that are not. It grows with the proportion of the candidate, so that a mean
    that is too small by chance comes with an error that is too small: the variance is that at a proportion which is
    larger by one standard error.
    """
    number, mixture = float(times.sum()), Mixture(table.T, times)
    mean = float(times @ weights) / number
    seen = float(times @ (weights - mean) ** 2) / number
    true = mixture.fitted()
    squares = table @ weights**2
    others = float(true[1:] @ squares[1:]) / max(float(true[1:].sum()), 1e-300)
    own, variance = (number * true[0] + 2) / (number + 4), seen
    for _ in range(2):
        variance = max(variance, own * float(squares[0]) + (1 - own) * others - own**2)
        own = min(max(mean, own) + math.sqrt(variance / number), 1.0)
    return mean, variance


def _within_lengths(raw: Floats, candidates: Sequence[Codes], every: dict[int, Codes]) -> Floats:
    """The nearest proportions that are at least 0, and sum to at most that of all words of their length."""
    sizes, number = np.array([len(row) for row in candidates]), sum(map(len, every.values()))
    found = np.maximum(raw, 0.0)
    for length in np.unique(sizes).tolist():
        own, most = sizes == length, len(every[length]) / number
        if found[own].sum() > most:
            found[own] = most * on_simplex(raw[own] / most)
    return found


def released_distances(mechanism: Private, length: int) -> Floats:
    """P(j | i), the probability that a release of a word at distance i from a candidate is at distance j from it.

    A release with D changes has t of them among the i positions where the two differ; each of these leads to the
    candidate's symbol with probability 1/(m − 1). Cost: length⁴.
    """
    proportions, others = mechanism.distance_distribution(length=length), max(len(mechanism.language.alphabet) - 1, 1)
    table = np.zeros((length + 1, length + 1))
    for i in range(length + 1):
        for changes, chance in enumerate(proportions):
            for t in range(max(0, changes - (length - i)), min(i, changes) + 1):
                inside = math.comb(i, t) * math.comb(length - i, changes - t) / math.comb(length, changes)
                for back in range(t + 1):
                    hits = math.comb(t, back) * (1 / others) ** back * (1 - 1 / others) ** (t - back)
                    table[i, i - back + changes - t] += chance * inside * hits
    return table


def inverse_weights(table: Floats) -> Floats:
    """g(j) for each distance j: Σ_j P(j | i)·g(j) is 1 if the candidate is at distance i = 0 from the word, else 0."""
    return np.linalg.solve(table, np.eye(len(table))[0])


def _mixed(model: Model, candidates: Sequence[Codes]) -> tuple[Floats, Floats]:
    """The proportions of words in a mixture with what stands for all other words, and their standard errors.

    All others follow the fitted model, or they are equally likely: what the answers differ by is an error, too. What is
    left for words that are no candidates may belong to these: in proportion to its own, each may have a part of it.
    """
    evidence, number = model.evidence.lengths, model.releases
    parts, others, own, alike = [], [], np.zeros(len(candidates)), np.zeros(len(candidates))
    for each in evidence:
        proportion = float(each.times.sum()) / number  # of words of this length
        count = math.log(model.language.count(each.length))
        logs = np.full((len(each.times), len(candidates)), -np.inf)
        for index, row in enumerate(candidates):
            if len(row) == each.length:
                logs[:, index] = log_weights(each, row)
                own[index] = proportion * math.exp(model.log_probs(row[None])[0])
                alike[index] = proportion * math.exp(-count)
        parts.append(logs)
        by_model, evenly = each.log_likelihoods(model.chances), each.log_likelihoods(np.ones(len(model.chances)))
        others.append(np.stack([by_model, evenly - count]) + math.log(proportion))
    logs, rest = np.concatenate(parts), np.concatenate(others, axis=1)
    times = np.concatenate([each.times for each in evidence])
    found, errors = _weights(np.column_stack([logs, rest[0]]), times, own)
    other, _ = _weights(np.column_stack([logs, rest[1]]), times, alike)
    left = max(1 - float(found.sum()), 0.0) * found
    return found, np.sqrt(errors**2 + (found - other) ** 2 + left**2)


def _weights(logs: Floats, times: Floats, own: Floats) -> tuple[Floats, Floats]:
    """The proportions of words, the last of the components being others, and standard errors by the outer product.

    The others contain the words, too, with these probabilities: the proportion of a word is its own weight, and that of
    the others times this probability.
    """
    mixture, size = Mixture.of_logs(logs, times), logs.shape[1]
    chances = mixture.fitted()
    joint = mixture.likelihoods * chances
    scores = joint / joint.sum(axis=1, keepdims=True) - chances
    inverse = np.linalg.pinv((scores * times[:, None]).T @ scores, rcond=1e-8, hermitian=True)
    slopes = np.hstack([np.eye(size - 1), own[:, None]]) * chances
    slopes -= np.outer(slopes.sum(axis=1), chances)  # weights sum to 1
    variance = ((slopes @ inverse) * slopes).sum(axis=1)
    return chances[:-1] + chances[-1] * own, np.sqrt(np.maximum(variance, 0.0))
