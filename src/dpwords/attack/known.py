"""What is known of one private word by whoever has seen releases of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords.attack.guessing import Attack, checked_mechanism
from dpwords.attack.listed import LikelyWords
from dpwords.attack.results import Posterior
from dpwords.core.checks import collection
from dpwords.core.symbols import Codes, symbols_of
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.models.posteriors import Known

_IMPOSSIBLE = "no word that the prior allows can have had these releases: check the releases, or use another prior"


def posterior(releases: Any, mechanism: Mechanism, prior: Any, length: int | None) -> Posterior:
    """See `dpwords.attack.posterior`."""
    checked_mechanism(mechanism)
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
    posteriors = attack.evidence.posteriors(attack.prior, len(outputs))
    if posteriors is None:
        raise attack.evidence.too_many()
    known = posteriors.known(outputs)
    if known is None:
        raise InvalidValue(_IMPOSSIBLE)
    return _result(attack, known)


def _output(release: Any, number: int, attack: Attack) -> Codes:
    codes = attack.mechanism._outputs.codes(release, attack.length)
    if codes is None:
        raise NotInLanguage(f"release {number} cannot have come out of this mechanism: pass releases of one word")
    return codes


def _over_words(attack: Attack, listing: LikelyWords, outputs: list[Codes]) -> Posterior:
    """Bayes' rule over all words."""
    logs = listing.log_prior + attack.evidence.log_probs(listing.inputs, outputs).sum(axis=1)
    total = float(np.logaddexp.reduce(logs))
    if not np.isfinite(total):
        raise InvalidValue(_IMPOSSIBLE)
    proportions, best = np.exp(logs - total), int(logs.argmax())
    symbols = len(attack.language.alphabet)
    positions = np.array([np.bincount(column, proportions, symbols) for column in listing.words.T], dtype=np.float64)
    return _result(attack, Known(positions, listing.words[best], float(proportions[best])))


def _result(attack: Attack, known: Known) -> Posterior:
    symbols = attack.language.alphabet.symbols
    tables = tuple(dict(zip(symbols, row.tolist(), strict=True)) for row in known.positions)
    return Posterior(tables, tuple(symbols[code] for code in known.word), min(known.probability, 1.0), known.error)
