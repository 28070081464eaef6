"""What is known of one private word by whoever has seen releases of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords.attack.guessing import Attack
from dpwords.attack.listed import LikelyWords
from dpwords.attack.results import Posterior
from dpwords.core.checks import collection
from dpwords.core.encoding import Codes
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats
from dpwords.core.symbols import symbols_of
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.private import Private
from dpwords.models.edited import EditedAttack
from dpwords.models.evidence import seen
from dpwords.models.likeliest import HiddenWords, together
from dpwords.models.normalisers import ratio_of
from dpwords.models.runs import RunsAttack

_DRAWN = 4000  # runs over which normalisers are averaged
_IMPOSSIBLE = "no word that the prior allows can have had these releases: check the releases, or use another prior"


def posterior(releases: Any, mechanism: Mechanism, prior: Any, length: int | None) -> Posterior:
    """See `dpwords.attack.posterior`."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidValue("the mechanism is an Exponential, an Online, …: pass the one that made the releases")
    listed = list(collection(releases, "releases"))
    if not listed:
        raise InvalidValue("there are no releases: pass a list with at least one")
    if mechanism.distance == "hamming":
        if length is not None:
            raise InvalidValue("words keep their length under this mechanism: leave out length")
        length = len(symbols_of(listed[0]))
    elif length is None:
        raise InvalidValue("the releases do not tell how long the private word is: pass length=")
    attack = Attack.of(mechanism, length, prior)
    outputs = [_output(release, number, attack) for number, release in enumerate(listed, start=1)]
    if attack.listing is not None:
        return _over_words(attack, attack.listing, outputs)
    if isinstance(attack.mechanism, Private) and RunsAttack.applies_to(attack.mechanism, attack.length):
        return _over_runs(attack, attack.mechanism, np.stack(outputs))
    if isinstance(attack.mechanism, EditChannel):
        return _over_alignments(attack, attack.mechanism, outputs)
    raise TooLarge(
        f"probabilities given releases of this mechanism are computed over at most "
        f"{attack.mechanism.limits.attacked_words} words of one length, and there are more: use linear utility"
    )


def _output(release: Any, number: int, attack: Attack) -> Codes:
    codes = attack.mechanism._outputs.codes(release, attack.length)
    if codes is None:
        raise NotInLanguage(f"release {number} cannot have come out of this mechanism: pass releases of one word")
    return codes


def _over_words(attack: Attack, listing: LikelyWords, outputs: list[Codes]) -> Posterior:
    """Bayes' rule over all words."""
    logs = listing.log_prior + attack.channel(listing).log_probs(outputs).sum(axis=1)
    total = float(np.logaddexp.reduce(logs))
    if not np.isfinite(total):
        raise InvalidValue(_IMPOSSIBLE)
    shares, best = np.exp(logs - total), int(logs.argmax())
    symbols = len(attack.language.alphabet)
    places = np.array([np.bincount(column, shares, symbols) for column in listing.words.T], dtype=np.float64)
    return _result(attack, places, listing.words[best], float(shares[best]))


def _over_runs(attack: Attack, mechanism: Private, outputs: Codes) -> Posterior:
    """Forward and backward passes; where normalisers differ, corrected by an average over runs that are drawn."""
    number, length = outputs.shape
    runs = RunsAttack(mechanism, attack.known, attack.chain is None, length, number)
    told = together(seen(mechanism, outputs), number, len(attack.known.population.alphabet))
    hidden = HiddenWords(attack.known, told, mechanism.limits)
    logs, shares = hidden.shares()
    if not np.isfinite(logs[0]):
        raise InvalidValue(_IMPOSSIBLE)
    best = hidden.likeliest()
    if runs.normalisers is None:
        return _result(attack, shares[:, :, 0], best.words[0], float(np.exp(best.logs[0] - logs[0])))
    taken = hidden.sampled(_DRAWN, SeededSource("runs given releases").open())
    words = np.concatenate([hidden.codes(taken[0]), best.words])
    powers = -number * runs.normalisers.logs(words)
    shift = float(powers.max())
    weights = np.exp(powers - shift)
    mean = float(weights[:-1].mean())
    weighted = weights[:-1] / weights[:-1].sum()
    symbols = len(attack.language.alphabet)
    is_there = [np.bincount(column[:-1], weighted, symbols) for column in words.T]
    plain = [np.bincount(column[:-1], minlength=symbols) / _DRAWN for column in words.T]
    places = np.clip(shares[:, :, 0] + np.array(is_there) - np.array(plain), 0.0, 1.0)
    places /= places.sum(axis=1, keepdims=True)
    chances = np.exp(_log_weights(hidden, mechanism, words, outputs) - logs[0]) * weights / mean
    first = int(chances.argmax())
    relative = (weights[:-1] - mean) / mean  # the error of a share p is at most that of a mean of these, times p(1 − p)
    error = float(np.sqrt(np.mean(relative**2) / _DRAWN))
    return _result(attack, places, words[first], min(float(chances[first]), 1.0), error)


def _over_alignments(attack: Attack, mechanism: EditChannel, outputs: list[Codes]) -> Posterior:
    """Forward and backward passes over alignments with one output."""
    if len(outputs) > 1:
        raise TooLarge(
            f"several releases of the edit channel are compared with at most {mechanism.limits.attacked_words} words "
            "of one length, and there are more: pass one release"
        )
    words = EditedAttack(mechanism, attack.known, attack.length)
    if words.cost(len(outputs[0])) > mechanism.limits.attacked_steps:
        raise TooLarge("words of this length take too long to align with this release: use shorter ones")
    known = words.known(outputs[0])
    if known is None:
        raise InvalidValue(_IMPOSSIBLE)
    return _result(attack, *known)


def _log_weights(hidden: HiddenWords, mechanism: Private, words: Codes, outputs: Codes) -> Floats:
    """ln of the weight of words as passes over them have it: of the chain, and e^rate for each place that agrees."""
    assert isinstance(mechanism, Exponential)
    rate = np.log(ratio_of(mechanism.weights(words.shape[1])))
    agree = sum((words == output).sum(axis=1) for output in outputs)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(hidden.factor)[hidden.hidden.taken(words)].sum(axis=1) + rate * agree)


def _result(attack: Attack, places: Floats, word: Codes, probability: float, error: float = 0.0) -> Posterior:
    symbols = attack.language.alphabet.symbols
    tables = tuple(dict(zip(symbols, row.tolist(), strict=True)) for row in places)
    return Posterior(tables, tuple(symbols[code] for code in word), min(probability, 1.0), error)
