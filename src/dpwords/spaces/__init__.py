"""Distributions around a word, on each kind of language. Nothing here has heard of ε."""
