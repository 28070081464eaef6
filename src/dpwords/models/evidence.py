"""Which kind of evidence the releases of a mechanism are: the one place that knows the kinds of mechanisms."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.online import Online
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.projected import Projected
from dpwords.mechanisms.report import Report
from dpwords.models.by_distance import DistanceEvidence
from dpwords.models.edited import AlignedEvidence
from dpwords.models.normalising_constants import rate_of
from dpwords.models.posteriors import AnswerEvidence, Evidence, ProjectedEvidence
from dpwords.models.runs import LinearEvidence, OnlineEvidence, PositionEvidence


def evidence_of(mechanism: Private, length: int) -> Evidence:
    """What releases of a mechanism tell about true words of this length. Cost: on systems a certificate, once."""
    return kind_of_evidence(mechanism.within(length).at(length), length)


@singledispatch
def kind_of_evidence(mechanism: Mechanism, length: int) -> Evidence:
    """What releases of one kind of mechanisms tell.

    A kind without a line here is known by its probabilities alone: it is attacked over listed words, and estimates
    refuse it.
    """
    return Evidence(mechanism, length)


@kind_of_evidence.register
def _(mechanism: Exponential, length: int) -> Evidence:
    if mechanism.distance == "levenshtein":
        return Evidence(mechanism, length)
    weights = mechanism.weights(length)
    if weights.rate is None:
        return DistanceEvidence(mechanism, length)
    return LinearEvidence(mechanism, length, rate_of(weights))


@kind_of_evidence.register
def _(mechanism: Online, length: int) -> Evidence:
    kind = PositionEvidence if mechanism.language.alike else OnlineEvidence
    return kind(mechanism, length, rate_of(mechanism.weights(length)))


@kind_of_evidence.register
def _(mechanism: Projected, length: int) -> Evidence:
    found = kind_of_evidence(mechanism.without_projection().at(length), length)
    return replace(found, mechanism=mechanism) if found.channel is not None else ProjectedEvidence(mechanism, length)


kind_of_evidence.register(EditChannel, AlignedEvidence)
kind_of_evidence.register(Report, AnswerEvidence)
