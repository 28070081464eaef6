"""How proportions would be estimated from releases of a mechanism, or why they cannot be: for those who plan it."""

from __future__ import annotations

import numpy as np

from dpwords.estimate.edit_inversion import is_invertible
from dpwords.mechanisms.private import Private
from dpwords.models.edit_model import refuse_projected
from dpwords.models.evidence import evidence_of

_CHAIN = "a model of the population, a Markov chain on the public alphabet, fitted by expectation–maximisation"
_CHOSEN = (
    "a model of the population on {where}, fitted by expectation–maximisation: a homogeneous Markov chain, a chain by "
    "position or a chain with two steps of memory, whichever explains held-out releases best by their likelihood"
)


def approach(mechanism: Private, length: int) -> str:
    """How proportions are estimated from releases of words of about this length, in words. It is public.

    Raises the `InvalidValue` with which an estimate would be refused, whatever the releases are. Cost: on systems, that
    of a certificate.

    >>> from dpwords import Exponential, GridWorld, Words
    >>> approach(Exponential(GridWorld(3, 3).by_states(), epsilon=3), 4).split(":")[0]
    'a model of the population on the public system, fitted by expectation–maximisation'
    """
    if mechanism.answers is not None:
        return "inversion of the known probabilities of answers, which is unbiased and needs no model"
    evidence, language = evidence_of(mechanism, length), mechanism.language
    if evidence.channel is not None:
        refuse_projected(mechanism)
        return _inverted(_CHAIN) if is_invertible(evidence.channel) else _CHAIN
    if language.alike and mechanism.distance == "hamming" and mechanism.projected_onto is None:
        return _inverted(_CHOSEN.format(where="the public alphabet") if mechanism.is_linear else None)
    evidence.uneven()  # raises, and so does `seen`, where releases have no likelihood of this form
    evidence.seen(np.zeros((0, length), dtype=np.int64))
    return _CHOSEN.format(where="the public language" if language.system is None else "the public system")


def _inverted(model: str | None) -> str:
    """An inversion, or a model that may take its place."""
    found = "inversion of the known noise, which is unbiased and needs no model"
    return (
        found
        if model is None
        else f"{found}, or, where that is clearly more certain and nothing contradicts it, by {model}"
    )
