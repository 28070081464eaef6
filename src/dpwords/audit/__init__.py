"""Measured ε against claimed ε."""

from dpwords.audit.exact import ExactAudit, Worst, exact

__all__ = ["ExactAudit", "Worst", "exact"]
