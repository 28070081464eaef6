"""Audits: the measured ε of a mechanism compared with the claimed ε."""

from dpwords.audit.exact import ExactAudit, Worst, exact
from dpwords.audit.small import SmallInstance, small_instance

__all__ = ["ExactAudit", "SmallInstance", "Worst", "exact", "small_instance"]
