"""Audits: the measured ε of a mechanism compared with the claimed ε."""

from dpwords.audit.exact import ExactAudit, Worst, exact

__all__ = ["ExactAudit", "Worst", "exact"]
