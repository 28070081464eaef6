"""Case study 1: a string of 32 letters over an alphabet of 16 symbols."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpwords import plots
from dpwords.languages.automata import LevenshteinAutomaton
from dpwords.languages.free_words import Words
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.mechanisms.uniform import Uniform
from dpwords.privacy.guarantees import loss_by_distance
from dpwords.studies import study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORD = "american control conference 2019"
ALPHABET = " 0129acefilmnort"  # the symbols of the string, as in the paper
EPSILONS = (10, 1, 0.1, 0)
UNIFORM = "uniform word"
_TIMED_WORDS = 40

PAPER_STATES, PAPER_EDGES = 561, 1056
PAPER_BUILD, PAPER_DRAW = 6.6, 1.53  # seconds
PAPER_DISTANCES = {  # of the samples in the paper; one at ε = 1 is printed with 31 letters and is left out here
    10: (27, 0, 0, 0, 0),
    1: (16, 11, 31, 16),
    0.1: (28, 12, 6, 8, 17),
    0: (31, 10, 24, 30, 8),
}


def strings(k: int = 1, seed: study.Seed = None, progress: study.ProgressBar = study.without_progress) -> study.Study:
    """Run the study; words that differ in up to k positions are neighbours. Cost: about a second.

    >>> len(strings(seed=1).blocks)
    4
    """
    words = Words(ALPHABET)
    blocks = tuple(
        study.Block(f"claimed ε = {epsilon:g}, k = {k}", tuple(_columns(words, epsilon, k, seed)))
        for epsilon in progress(EPSILONS, "drawing words")
    )
    return study.Study(
        "strings",
        f"Case study 1: the string '{WORD}', {len(WORD)} letters over {len(ALPHABET)} symbols (α = {study.ALPHA:g})",
        {
            "word": WORD,
            "alphabet": ALPHABET,
            "k": k,
            "alpha": study.ALPHA,
            "seed": seed,
            "timed_words": _TIMED_WORDS,
            "distances_of_the_papers_samples": {str(epsilon): list(each) for epsilon, each in PAPER_DISTANCES.items()},
        },
        (_sizes_and_times(words, k, seed, progress), _distances(words, blocks, k), _true_epsilons(words)),
        blocks,
        (
            "Letters that differ from the string are marked, and the number after a word says how many they are.",
            "The literal formula ignores the number of words at each distance; its true ε is computed, not claimed.",
            "Words are drawn by distance, or letter by letter; the automaton is built only for comparison.",
            "On free words the textbook mechanism uses only half of the ε that it claims; the other half is wasted.",
            "The alphabet is the paper's: the symbols that occur in the string. Never read an alphabet off a "
            "private word: that reveals which symbols occur in it, whatever ε is. Declare one, such as 'a-z0-9 '.",
            *study.closing_notes(seed),
        ),
        {"samples": lambda: _figure_of_samples(blocks, k), "distances": lambda: _figure_of_distances(blocks)},
    )


def _mechanisms(words: Words, epsilon: float, k: int) -> dict[str, Mechanism]:
    """The paper's literal formula and the correct mechanisms; at ε = 0 only a uniform word is correct."""
    names = (study.LITERAL, study.TEXTBOOK, study.TIGHT) if epsilon else (study.LITERAL,)
    found: dict[str, Mechanism] = {name: study.mechanism_of(name, words, epsilon, k) for name in names}
    return found if epsilon else found | {UNIFORM: Uniform(words, k)}


def _columns(words: Words, epsilon: float, k: int, seed: study.Seed) -> Iterator[study.Column]:
    for name, mechanism in _mechanisms(words, epsilon, k).items():
        loss = study.Loss("=", _true_epsilon(mechanism))
        yield study.column(name, epsilon, study.seeded(mechanism, seed, name, epsilon), loss, WORD)


def _true_epsilon(mechanism: Mechanism) -> float:
    """The true ε, from the probability of one word at each distance, which is all that matters on free words."""
    at = mechanism.given(WORD)
    other = {symbol: ALPHABET[position - 1] for position, symbol in enumerate(ALPHABET)}
    changed = "".join(other[letter] for letter in WORD)
    logs = [at.log_prob(changed[:distance] + WORD[distance:]) for distance in range(len(WORD) + 1)]
    return loss_by_distance(np.array(logs), mechanism.k)


def _sizes_and_times(words: Words, k: int, seed: study.Seed, progress: study.ProgressBar) -> study.Table:
    near, build = study.timed(lambda: LevenshteinAutomaton(WORD, len(WORD), ALPHABET, edits="substitutions"))
    sizes = [
        ("states of the automaton", PAPER_STATES, len(near.states)),
        ("edges of the automaton", PAPER_EDGES, len(near.edges)),
        ("seconds to build it", PAPER_BUILD, build),
    ]
    draws = {
        name: partial(study.seeded(mechanism, seed).simulate, WORD, _TIMED_WORDS)
        for name, mechanism in _mechanisms(words, 1, k).items()
    }
    return study.sizes_and_times(sizes, f"{_TIMED_WORDS} words", PAPER_DRAW, draws, progress)


def _distances(words: Words, blocks: tuple[study.Block, ...], k: int) -> study.Table:
    """Mean distances; those of the paper's samples fit the literal formula with k = 32 but no private mechanism."""
    whole = len(WORD)
    drawn = dict(zip(EPSILONS, blocks, strict=True))  # at ε = 0, the last two columns are both the uniform word

    def here(column: int, epsilon: float) -> float:
        return drawn[epsilon].columns[column].expected_distance

    return study.by_epsilon(
        (
            "mean distance",
            "paper's samples",
            f"literal, k = {whole}",
            *(f"{name}, k = {k}" for name in ("literal", "textbook", "tight")),
        ),
        EPSILONS,
        lambda epsilon: statistics.fmean(PAPER_DISTANCES[epsilon]),
        lambda epsilon: PaperLiteral(words, epsilon, whole, study.ALPHA).expected_distance(WORD),
        *(partial(here, column) for column in (0, 1, -1)),
    )


def _true_epsilons(words: Words) -> study.Table:
    def true_epsilon(k: int, epsilon: float) -> float:
        return PaperLiteral(words, epsilon, k, study.ALPHA).guarantee.true_epsilon(len(WORD))

    header = ("true ε of the literal formula", "k = 1", f"k = {len(WORD)}")
    return study.by_epsilon(header, EPSILONS, *(partial(true_epsilon, k) for k in (1, len(WORD))))


def _figure_of_samples(blocks: tuple[study.Block, ...], k: int) -> Figure:
    def title(column: study.Column) -> str:
        return f"{column.mechanism}\nclaims ε = {column.claimed:g}, true ε {column.loss.epsilon:.4g} (k = {k})"

    return plots.words(
        WORD, [{title(c): [sample.letters for sample in c.samples] for c in block.columns} for block in blocks]
    )


def _figure_of_distances(blocks: tuple[study.Block, ...]) -> Figure:
    return plots.distances(
        {block.title: {c.mechanism: c.distance_distribution for c in block.columns} for block in blocks}
    )
