"""The population of words behind releases of the edit channel, which may have become longer or shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.alignments import Alignments
from dpwords.models.edit_chains import FittedChain, better_chain, fitted_chains
from dpwords.models.fitting import EstimateMethod, ProgressLine
from dpwords.models.releases import Releases
from dpwords.spaces.edit_channel import Channel


@dataclass(frozen=True, eq=False)
class EditModel:
    """A Markov chain over an alphabet whose words end at some time, fitted to releases of the edit channel.

    Words end with a chance of its own after each symbol, or with the same chance after all of them, whichever explains
    the releases better.
    """

    language: Language  # all words over the alphabet
    channel: Channel
    limits: Limits
    best: FittedChain
    other: FittedChain
    doubt: float  # the probability that chance alone makes the one look better than the other
    releases: int
    fitted_to: str  # the fingerprint of the releases

    method = EstimateMethod.EM

    def __repr__(self) -> str:
        return f"<EditModel: a Markov chain on {self.language!r}, fitted to {self.releases} releases (em)>"

    @property
    def matrix(self) -> Floats:
        """Row 0: the first symbol, and last the empty word; row 1 + a: the symbol after a, and last the end."""
        return self.best.matrix

    @property
    def converged(self) -> bool:
        """Whether the search ended because the likelihood no longer rose."""
        return self.best.found.converged

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the likelihood of the releases."""
        return self.best.found.log_likelihood

    @property
    def transitions(self) -> dict[Any, dict[Any, float]]:
        """{symbol: {next symbol: probability}}; None is the start, and as a next symbol the end of a word."""
        names = [*self.language.alphabet.symbols, None]
        rows = zip([None, *names[:-1]], self.matrix.tolist(), strict=True)
        return {name: dict(zip(names, row, strict=True)) for name, row in rows}


def refuse_projected(mechanism: Private) -> None:
    """Raise InvalidValue if releases went through a projection."""
    if mechanism.projected_onto is not None:
        raise InvalidValue(
            "releases that were projected onto a language have no likelihood that can be computed: estimate from "
            "releases of the channel over an alphabet alone, not onto a system or lexicon"
        )


def fitted_edits(
    releases: Releases, mechanism: Private, channel: Channel, progress: ProgressLine | None = None
) -> EditModel:
    """The population of words that makes the releases most likely. Cost: some tens of passes of `Alignments`, twice."""
    refuse_projected(mechanism)
    alignments = Alignments(releases.words, channel, mechanism.limits)
    uses = 1.0 + counted_steps(releases.words, channel.symbols)
    steps = (uses + 0.1 * uses.sum(axis=1, keepdims=True) / len(uses)).ravel()  # all are possible, to start from
    best, other, doubt = better_chain(*fitted_chains(alignments, steps, progress))
    about = len(releases), releases.fingerprint(mechanism)
    return EditModel(mechanism.language, channel, mechanism.limits, best, other, doubt, *about)


def counted_steps(words: Ragged, symbols: int) -> Floats:
    """How often words have each symbol after each other one, as in `EditModel.matrix`. Cost: their symbols."""
    uses = np.zeros((symbols + 1, symbols + 1))
    full = words.sizes > 0
    ends = words.ends[full]
    starts = ends - words.sizes[full]
    inner = np.ones(len(words.values), dtype=np.bool_)
    inner[starts] = False
    after = np.flatnonzero(inner)
    np.add.at(uses, (1 + words.values[after - 1].astype(np.int64), words.values[after]), 1.0)
    uses[0, :-1] += np.bincount(words.values[starts], minlength=symbols)
    uses[1:, -1] += np.bincount(words.values[ends - 1], minlength=symbols)
    uses[0, -1] += np.count_nonzero(words.sizes == 0)
    return uses
