"""Which kind of evidence the releases of a mechanism are: the one place that knows the kinds of mechanisms."""

from __future__ import annotations

from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.online import Online
from dpwords.mechanisms.report import Report
from dpwords.models.answers import AnswerEvidence
from dpwords.models.by_distance import DistanceEvidence
from dpwords.models.by_place import LinearEvidence, OnlineEvidence
from dpwords.models.edited import AlignedEvidence
from dpwords.models.listed import Evidence
from dpwords.models.normalisers import rate_of
from dpwords.models.runs import PlaceEvidence


def evidence_of(mechanism: Mechanism, length: int) -> Evidence:
    """What releases of a mechanism tell about true words of this length.

    A mechanism that is not named here is known by its probabilities alone: it is attacked over listed words, and
    estimates refuse it. Cost: on systems the certificate for the length, once.
    """
    match mechanism.at(length):
        case Exponential(distance="hamming") as used:
            weights = used.weights(length)
            if weights.rate is None:
                return DistanceEvidence(used, length)
            return LinearEvidence(used, length, rate_of(weights))
        case Online() as used:
            kind = PlaceEvidence if used.language.alike else OnlineEvidence
            return kind(used, length, rate_of(used.weights(length)))
        case EditChannel() as used:
            return AlignedEvidence(used, length)
        case Report() as used:
            return AnswerEvidence(used, length)
        case other:
            return Evidence(other, length)
