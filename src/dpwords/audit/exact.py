"""The exact audit: the measured ε of a mechanism compared with the claimed ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.symbols import PromisedDistance
from dpwords.errors import InvalidValue, TooLarge, within_memory
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Progress
from dpwords.mechanisms.report import Report
from dpwords.privacy.guarantees import NotPrivate
from dpwords.spaces import exhaustive
from dpwords.spaces.exhaustive import HasLogProb, Symbols


class Audited(Protocol):
    """Anything with the log-probability of an output at a word.

    A method `given` and the attributes `language`, `distance` and `guarantee` are used if they exist.
    """

    def log_prob(self, output: Any, given: Any) -> float: ...


class Worst(NamedTuple):
    """The pair of words, and the output, with the largest loss per ceil(distance/k)."""

    word: Symbols
    neighbour: Symbols
    output: Any  # a word, or a set of answers
    distance: int
    loss: float


@dataclass(frozen=True)
class ExactAudit:
    """The result of an exact audit."""

    epsilon: float
    claimed: float
    holds: bool
    worst: Worst | None
    words: int
    k: int
    losses: Mapping[float, float] = field(repr=False)  # the largest loss at each distance

    @property
    def allowed(self) -> float:
        """The loss that was claimed for the distance of the worst pair; 0 if there is none."""
        return 0.0 if self.worst is None else self.claimed * -(-self.worst.distance // self.k)

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        return f"measured ε = {self.epsilon:.6g} over {self.words} words, claimed {self.claimed:.6g}: {verdict}"


@within_memory()
def exact(
    mechanism: Audited,
    length: int,
    *,
    language: Language | None = None,
    claimed: float | None = None,
    k: int | None = None,
    outputs_up_to: int | None = None,
    progress: Progress = iter,
) -> ExactAudit:
    """Measure ε over every pair of words of one length and every output.

    Under Levenshtein distance, the words are all those of at most this length, and the outputs all those of at most
    `outputs_up_to` symbols, by default up to two more than `length` if they can be listed. Of a `Report`, the words are
    all those of at most this length, too, and the outputs all sets of answers that it can name.

    The measured ε is the largest `|ln p(w;x)/p(w;x′)|` / ceil(d(x, x′)/k) over all pairs, not only over neighbours. The
    claim holds if the measured ε is not larger; for a `NotPrivate` mechanism, the claim is its nominal ε. By default,
    language, claim and k are the mechanism's own; pass them if it has none. `progress` receives the list of words, once
    for their probabilities and once to compare them, and yields them one by one, as `tqdm` does. Cost: words³, for at
    most 1,024 words.

    >>> from dpwords import Exponential, Words
    >>> exact(Exponential(Words("ab"), epsilon=1.5), length=3).holds
    True
    """
    claimed = claim_of(mechanism) if claimed is None else claimed
    k = getattr(getattr(mechanism, "guarantee", None), "k", None) if k is None else whole_number(k, "k", 1)
    language = language or getattr(mechanism, "language", None)
    if claimed is None or k is None or language is None:
        raise InvalidValue("this mechanism does not state its language, claim or k: pass language=, claimed= and k=")
    if not isinstance(language, Language):
        raise InvalidValue("the language must be a Words, a TransitionSystem, …: pass for example Words('abc')")
    claimed = positive_number(claimed, "claimed", "claimed=1.0", zero_allowed=True)
    distance: PromisedDistance = getattr(mechanism, "distance", "hamming")
    if distance != "levenshtein" and outputs_up_to is not None:
        raise InvalidValue("only under Levenshtein distance outputs have other lengths: leave out outputs_up_to")
    outputs: Sequence[Any]
    if distance == "hamming":
        words = outputs = exhaustive.words(language, length, limit=DEFAULTS.compared_words)
    elif isinstance(mechanism, Report):
        listed = exhaustive.words_up_to(language, length, limit=DEFAULTS.compared_words)
        words = [word for word in listed if len(word) >= mechanism.least_length]
        outputs = mechanism.every_output()
    else:
        words = exhaustive.words_up_to(language, length, limit=DEFAULTS.compared_words)
        outputs = words if outputs_up_to is None else exhaustive.words_up_to(language, outputs_up_to)
        for longest in (length + 1, length + 2) if outputs_up_to is None else ():
            with suppress(TooLarge):
                outputs = exhaustive.words_up_to(language, longest)
    least = mechanism.least_length if isinstance(mechanism, Report) else 0
    if not words and length < least:
        raise InvalidValue(f"words have at least {least} symbols here: use a longer length")
    if not words:
        raise InvalidValue(f"the language has no word of length {length}: choose another length")
    if length == 0 and distance == "levenshtein":
        raise InvalidValue("there is only one word of length 0, and nothing to compare it with: use a longer length")
    apart = exhaustive.distances(words, distance)
    laws = (law_at(mechanism, word) for word in progress(words))
    logs = exhaustive.log_probs(laws, outputs, complete=distance != "levenshtein")
    losses = exhaustive.pair_losses(logs, progress)
    rates = losses / np.maximum(np.ceil(apart / k), 1)
    measured = float(rates.max())
    one, other = (int(index) for index in np.unravel_index(rates.argmax(), rates.shape))
    with np.errstate(invalid="ignore"):  # −inf − −inf is NaN: both words exclude that output
        output = outputs[int(np.nanargmax(np.abs(logs[one] - logs[other])))]
    worst = Worst(words[one], words[other], output, int(apart[one, other]), float(losses[one, other]))
    return ExactAudit(
        measured,
        claimed,
        keeps(measured, claimed),
        worst if measured > 0 else None,
        len(words),
        k,
        losses_by_distance(apart, losses),
    )


def claim_of(mechanism: Any) -> float | None:
    """The ε that a mechanism claims, or, if it is not private, its nominal one; None if it has no guarantee."""
    guarantee = getattr(mechanism, "guarantee", None)
    return getattr(guarantee, "nominal" if isinstance(guarantee, NotPrivate) else "epsilon", None)


def keeps(measured: float, claimed: float) -> bool:
    """Whether what is measured is within the claim; floating-point errors of the measurement itself are allowed for."""
    return measured <= claimed * (1 + 1e-9) + 1e-12


def losses_by_distance(apart: NDArray[Any], losses: NDArray[np.float64]) -> dict[float, float]:
    """The largest loss at each finite distance above 0."""
    distances = np.unique(apart[np.isfinite(apart) & (apart > 0)])
    return {each.item(): float(losses[apart == each].max()) for each in distances}


@dataclass(frozen=True)
class _Given:
    """The distribution at one word, for a mechanism that has only `log_prob`."""

    mechanism: Audited
    word: Any

    def log_prob(self, output: Any) -> float:
        found = self.mechanism.log_prob(output, given=self.word)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InvalidValue("log_prob returns the logarithm of a probability: make it return a number") from None


def law_at(mechanism: Audited, word: Any) -> HasLogProb:
    """The output distribution at a word, prepared once if the mechanism can do that."""
    prepare: Callable[[Symbols], HasLogProb] | None = getattr(mechanism, "given", None)
    return prepare(word) if prepare is not None else _Given(mechanism, word)
