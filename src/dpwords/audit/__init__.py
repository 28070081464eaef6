"""Audits: the measured ε of a mechanism, of a channel, or of anything that releases words, beside the claimed ε."""

from dpwords.audit.channel import ChannelAudit, ChannelWorst, channel
from dpwords.audit.exact import ExactAudit, Worst, exact
from dpwords.audit.instances import SmallInstance, public_pair, small_instance
from dpwords.audit.programs import Program
from dpwords.audit.statistical import Proportion, StatisticalAudit, statistical

__all__ = [
    "ChannelAudit",
    "ChannelWorst",
    "ExactAudit",
    "Program",
    "Proportion",
    "SmallInstance",
    "StatisticalAudit",
    "Worst",
    "channel",
    "exact",
    "public_pair",
    "small_instance",
    "statistical",
]
