"""How proportions would be estimated from releases of a mechanism, or why they cannot be: for those who plan it."""

from __future__ import annotations

import numpy as np

from dpwords.estimate.edit_inversion import is_invertible
from dpwords.mechanisms.private import Private
from dpwords.models.edit_model import refuse_projected
from dpwords.models.evidence import evidence_of

_ALPHABET = "the public alphabet"
_FITTED = "a model of the population, a Markov chain on {where}, fitted by expectation–maximisation"


def approach(mechanism: Private, length: int) -> str:
    """How proportions are estimated from releases of words of about this length, in words. It is public.

    Raises the `InvalidValue` with which an estimate would be refused, whatever the releases are. Cost: on systems, that
    of a certificate.

    >>> from dpwords import Exponential, GridWorld, Words
    >>> approach(Exponential(GridWorld(3, 3).by_states(), epsilon=3), 4)
    'a model of the population, a Markov chain on the public system, fitted by expectation–maximisation'
    """
    if mechanism.answers is not None:
        return "inversion of the known probabilities of answers, which is unbiased and needs no model"
    evidence, language = evidence_of(mechanism, length), mechanism.language
    if evidence.channel is not None:
        refuse_projected(mechanism)
        return _inverted(also_fitted=True) if is_invertible(evidence.channel) else _FITTED.format(where=_ALPHABET)
    if language.alike and mechanism.distance == "hamming" and mechanism.projected_onto is None:
        return _inverted(also_fitted=mechanism.is_linear)
    evidence.uneven()  # raises, and so does `seen`, where releases have no likelihood of this form
    evidence.seen(np.zeros((0, length), dtype=np.int64))
    return _FITTED.format(where="the public language" if language.system is None else "the public system")


def _inverted(also_fitted: bool) -> str:
    found = "inversion of the known noise, which is unbiased and needs no model"
    if not also_fitted:
        return found
    model = _FITTED.format(where=_ALPHABET)
    return f"{found}, or, where that is clearly more certain and nothing contradicts it, by {model}"
