"""The automata that the paper draws."""

from __future__ import annotations

from dpwords.languages.automata import Automaton, LevenshteinAutomaton
from dpwords.languages.systems import TransitionSystem

Drawn = Automaton | TransitionSystem


def figures() -> dict[str, tuple[str, Drawn]]:
    """The paper's four figures of automata: for each name, a title and the automaton or system to draw.

    The automaton for length 3 is drawn twice: for all edits, and for substitutions only, as the paper uses it later.
    The paper does not specify its small system in the text; this one has similar names.

    >>> [name for name in figures()][:2]
    ['levenshtein', 'length_3']
    """
    word, abc, trace = "abc", "abc", ["s1", "s2", "s3"]
    near = LevenshteinAutomaton(word, 2, abc)
    substituted = LevenshteinAutomaton(word, 2, abc, edits="substitutions")
    system = TransitionSystem(
        {
            "s0": {"s1": "s1", "s2": "s2"},
            "s1": {"s2": "s2", "s3": "s3"},
            "s2": {"s1": "s1", "s3": "s3"},
            "s3": {"s0": "s0", "s3": "s3"},
        },
        start="s0",
    )
    product = LevenshteinAutomaton(trace, 3, system.alphabet.symbols, edits="substitutions").product(system)
    return {
        "levenshtein": ("All words within 2 edits of abc", near),
        "length_3": ("Words of length 3 within 2 edits of abc", near.of_length()),
        "length_3_substitutions": ("Words within 2 substitutions of abc", substituted.of_length()),
        "exactly_2": ("Words exactly 2 substitutions from abc", substituted.exactly(2)),
        "system": ("A transition system; each move is named after the state it enters", system),
        "product": ("The system's runs of 3 steps, within 3 substitutions of s1 s2 s3", product),
        "product_exactly_2": ("The system's runs exactly 2 substitutions from s1 s2 s3", product.exactly(2)),
    }
