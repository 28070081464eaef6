"""The population of words behind releases of the edit channel, which may have become longer or shorter.

Words may end after certain symbols, as traces of a process do, or have lengths that tell nothing about their symbols. A
chain with a chance to end after each symbol has lengths that real words seldom have. Where there is much noise, it uses
its freedom to explain lengths by symbols: if all words have the same length, it invents symbols for their beginnings
and ends. So a chain whose lengths tell nothing is fitted, too, and the one is taken that explains the symbols better,
given how long the releases are (docs/theory.md, section 15 d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpwords.core.encoding import Ragged
from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.alignments import Alignments, EditChain, EndsAlike, OwnEnds
from dpwords.models.edit_lengths import LengthChain
from dpwords.models.fitting import EstimateMethod, Fit, ProgressLine, fit, normalised
from dpwords.models.releases import Releases
from dpwords.models.tuning import EDITS_MISSING, EDITS_PATIENCE
from dpwords.spaces.edit_channel import Channel


@dataclass(frozen=True, eq=False)
class FittedChain:
    """A chain with the parameters that make the releases most likely."""

    chain: EditChain
    found: Fit

    @property
    def matrix(self) -> Floats:
        """The chances of all steps."""
        return self.chain.matrix(self.found.chances)

    @property
    def free(self) -> int:
        """The number of parameters that can be chosen freely."""
        return len(self.found.chances) - len(np.unique(self.chain.groups))


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


def fitted_chains(
    alignments: Alignments, steps: Floats, progress: ProgressLine | None = None
) -> tuple[FittedChain, FittedChain]:
    """The most likely chain with ends of their own, and one whose lengths tell nothing about symbols.

    The search starts from the uses of all steps, for the former from what it has found for the latter. Cost: some tens
    of passes for each.
    """
    alike = LengthChain.of(alignments) or EndsAlike(alignments)
    one = FittedChain(alike, _fit(alike, steps, progress))
    own_ends = OwnEnds(alignments)
    return FittedChain(own_ends, _fit(own_ends, alike.steps(one.found.chances)[1], progress)), one


def _fit(chain: EditChain, steps: Floats, progress: ProgressLine | None) -> Fit:
    start = normalised(chain.uses(steps), chain.groups)
    return fit(chain, start, progress, enough=EDITS_MISSING, patience=EDITS_PATIENCE)


def better_chain(own_ends: FittedChain, alike: FittedChain) -> tuple[FittedChain, FittedChain, float]:
    """The better of two chains, the other one, and the probability that chance alone makes it look better.

    They are compared by the probabilities of the releases among all outputs of the same length, which do not depend on
    how well lengths are explained. Ends of their own must gain more than they have more parameters. The difference is
    judged by its own size (Akaike) and by how much it varies from release to release (Vuong), whichever leaves more
    doubt. Cost: two passes.
    """
    one, other = (each.chain.logs_given_length(each.found.chances) for each in (own_ends, alike))
    gains, times = one - other, own_ends.chain.alignments.times
    gain = float(times @ gains)
    spread = math.sqrt(float(times @ (gains - gain / times.sum()) ** 2))
    difference = gain - (own_ends.free - alike.free)
    by_size = 1 / (1 + math.exp(min(abs(difference), 700)))
    by_spread = math.erfc(abs(difference) / max(spread, 1e-9) / math.sqrt(2)) / 2
    pair = (own_ends, alike) if difference > 0 else (alike, own_ends)
    return *pair, max(by_size, by_spread)


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
