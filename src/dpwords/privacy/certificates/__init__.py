"""Proofs of how large the rate c may be, for every pair of words of a language."""
