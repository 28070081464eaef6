"""How each mechanism shows a word: what its releases tell about hidden runs."""

from __future__ import annotations

import numpy as np

from dpwords.core.encoding import Codes
from dpwords.errors import InvalidValue, named
from dpwords.mechanisms.by_length import ByLength
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.online import Online
from dpwords.mechanisms.private import Private
from dpwords.models.chains import hidden_runs
from dpwords.models.hidden import Hidden, Pass, Seen, favouring_own
from dpwords.models.normalisers import Normalisers, ratio_of
from dpwords.models.run_evidence import RunEvidence, SameLength
from dpwords.spaces.choice import space_of
from dpwords.spaces.graph import Graph
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.online_favours import favours
from dpwords.spaces.space import Weights

_EVEN = 0.03  # standard deviation of ln Z up to which the normaliser counts as the same for all words


def population_of(mechanism: Private) -> Hidden:
    """The hidden runs of a mechanism's language."""
    return hidden_runs(mechanism.language, mechanism.limits)


def evidence_of(mechanism: Private, words: dict[int, Codes], hidden: Hidden, distinct: bool = True) -> RunEvidence:
    """The releases as evidence, with normalisers taken as constant, each distinct one once, or one by one.

    Cost: the symbols of the releases.
    """
    return RunEvidence(hidden, tuple(_same_length(mechanism, rows, hidden, distinct) for rows in words.values()))


def _same_length(mechanism: Private, rows: Codes, hidden: Hidden, distinct: bool) -> SameLength:
    number = np.ones(len(rows), dtype=np.int64)
    if distinct:
        rows, number = np.unique(rows, axis=0, return_counts=True)
    passes = Pass(hidden, seen(at_length(mechanism, rows.shape[1]), rows), mechanism.limits)
    ending = hidden.accepting.astype(np.float64)
    return SameLength(passes, number.astype(np.float64), np.ones(len(hidden.source)), ending)


def at_length(mechanism: Private, length: int) -> Private:
    """The mechanism that words of this length go through."""
    return mechanism.at(length) if isinstance(mechanism, ByLength) else mechanism


def seen(mechanism: Private, rows: Codes) -> Seen:
    """What released words of one length tell about each place of their true words."""
    length = rows.shape[1]
    if isinstance(mechanism, Online):
        weights = mechanism.weights(length)
        if isinstance(mechanism._space, OnlineRuns):
            return Seen(*favours(mechanism._space, weights, rows))
        return favouring_own(rows, len(mechanism.language.alphabet), ratio_of(weights))
    if isinstance(mechanism, Exponential) and mechanism.distance == "hamming":
        return favouring_own(rows, len(mechanism.language.alphabet), ratio_of(_linear(mechanism, length)))
    raise InvalidValue(
        f"estimates are not available for {mechanism!r}: release with Exponential under Hamming distance, Online, "
        "EditChannel over an alphabet alone, or Report"
    )


def _linear(mechanism: Exponential, length: int) -> Weights:
    """The weights of a mechanism, if they fall linearly in the exponent."""
    weights = mechanism.weights(length)
    if weights.rate is None:
        raise InvalidValue(
            "expectation–maximisation needs weights that fall linearly in the exponent, and those of these releases do "
            "not: use {named('method', 'inverse')} (free words only), or release with "
            f"{named('utility', 'linear')}"
        )
    return weights


def uneven_normalisers(mechanism: Private, lengths: list[int]) -> list[Normalisers | None] | None:
    """The normalisers of each length, or None where they are the same for all words; None if that is so everywhere."""
    found: list[Normalisers | None] = []
    for length in lengths:
        one = at_length(mechanism, length)
        if not isinstance(one, Exponential) or one.language.alike:
            found.append(None)
            continue
        space = space_of(one.language, "hamming", one.limits)
        graph = getattr(space, "graph", None) or Graph.of(one.language)
        normalisers = Normalisers(graph, _linear(one, length), one.limits)
        found.append(normalisers if normalisers.spread(space, length) > _EVEN else None)
    return None if all(each is None for each in found) else found
