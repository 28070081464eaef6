"""What released symbols tell about hidden states: how many times as likely each of them makes what was released."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.spaces.online_likelihoods import LikelihoodRatios


class Emissions(NamedTuple):
    """Released words of one length: for each word and position a row, and the likelihood ratios of each row."""

    rows: Integers
    ratios: LikelihoodRatios


class StateRatios(NamedTuple):
    """For each row, the states whose weight is multiplied: those of row r are state[first[r]:first[r + 1]]."""

    first: Integers
    state: Integers
    times: Floats


def emissions_of_own_symbol(codes: Codes, symbols: int, ratio: float) -> Emissions:
    """Words seen through a channel that weights the true symbol `ratio` times as much as each other one."""
    own = np.arange(symbols + 1)
    return Emissions(codes.astype(np.int64), LikelihoodRatios(own, own[:-1], np.full(symbols, ratio)))


def placed_ratios(
    seen: Emissions, symbol: Integers, symbols: int, place: Integers | None, places: Integers | None
) -> tuple[Integers, StateRatios]:
    """A row for each word and position, and the likelihood ratios of hidden states in each row.

    `symbol` is for each state the symbol that enters it. Where a state belongs to one place, so does a row; `places`
    are those of the positions. Cost: the symbols of the words, and states in all rows.
    """
    rows, ratios = seen
    if place is None or places is None:
        order = np.argsort(symbol, kind="stable")[1:]  # without the start
        return rows, _state_ratios(ratios, np.searchsorted(symbol[order], np.arange(symbols + 1)), order, 0)
    number = len(ratios.first) - 1
    known, found = np.unique(places * number + rows, return_inverse=True)
    at, row = np.divmod(known, number)
    sizes = np.diff(ratios.first)[row]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    entry = np.repeat(ratios.first[row] - ends[:-1], sizes) + np.arange(ends[-1])
    kept = LikelihoodRatios(ends, ratios.symbol[entry], ratios.times[entry])
    keys = place[1:] * symbols + symbol[1:]
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], np.arange((int(places.max(initial=0)) + 1) * symbols + 1))
    return found.reshape(rows.shape), _state_ratios(kept, first, 1 + order, np.repeat(at, sizes) * symbols)


def _state_ratios(ratios: LikelihoodRatios, first: Integers, states: Integers, shift: Integers | int) -> StateRatios:
    """The ratios of symbols as those of the states that they enter: states[first[a]:first[a + 1]] for symbol a."""
    symbols = ratios.symbol + shift
    sizes = np.diff(first)[symbols]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    position = np.repeat(first[symbols] - ends[:-1], sizes) + np.arange(ends[-1])
    return StateRatios(ends[ratios.first], states[position], np.repeat(ratios.times, sizes))
