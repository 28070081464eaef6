"""All limits in one place: how large a thing may be before it is refused, or done in parts.

A limit is a public fact. Whoever needs another one passes `limits=Limits(memory=2**33)` to a mechanism.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Limits:
    """What one computation may take. Sizes are in bytes unless a comment says otherwise."""

    # What goes in
    word: int = 10**8  # symbols of one word
    file: int = 2**28  # a text file that is read whole
    listed_length: int = 4096  # symbols of a word that is listed one by one

    # Tables and draws
    memory: int = 2 * 2**30  # the tables of one private word
    batch: int = 2**22  # numbers held at a time while words are drawn
    piece: int = 2**18  # symbols of a word that the edit channel handles at a time
    threads: int = CORES  # that work at the same time
    free_classes: int = 20_000  # symbols of a free word whose distance classes are counted
    counted_states: int = 10**6  # states of a language whose words are counted by Levenshtein distance
    counted_numbers: int = 2**28  # numbers in the tables of such a count
    alignment_steps: int = 10**11  # of one probability of the edit channel, some minutes
    listed_edits: int = 2**24  # numbers of edits whose distribution is computed

    # Words that stand for a language in its public expected distance
    most_averaged: int = 256
    fewest_averaged: int = 8
    averaged_steps: int = 2**23  # edges visited, layer by layer, before fewer words have to do
    averaged_distances: int = 2**24  # distances to the words of a list before fewer words have to do
    averaged_counts: int = 8  # words whose surroundings are counted by Levenshtein distance

    # Certificates
    compared_words: int = 1024  # words of a length that are compared pair by pair, at every output
    automatic_words: int = 2_000  # words of a list that is certified without being asked for, in about a second
    certificate_memory: int = 2**30  # the boxes of all layers; beyond it a smaller radius is tried, then another method
    certificate_size: int = 2**31  # states · symbols
    block_steps: float = 1e11  # of one evaluation of blocks, some minutes
    levelled_steps: float = 2e10  # of one evaluation of levelled blocks, some ten seconds
    levelled_edges: int = 2**22  # pairs of consecutive edges of a system whose words are levelled
    good_enough: float = 0.985  # of ε: a rate from which on no slower method is tried
    pair_counts: int = 2**28  # words · distances of a list
    kept_pairs: int = 2**24  # nearest pairs of a list; those farther apart are compared where they can matter,
    compared_pairs: int = 2**29  # if these are not too many
    distances: int = 2**23  # distances held at a time


DEFAULTS = Limits()
