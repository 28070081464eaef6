"""Mechanisms: built from public facts; the private word enters only when something is drawn."""
