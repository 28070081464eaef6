"""The exact audit: the measured ε of a mechanism compared with the claimed ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.symbols import PromisedDistance
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language
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

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "BROKEN"
        return f"measured ε = {self.epsilon:.6g} over {self.words} words, claimed {self.claimed:.6g}: {verdict}"


def exact(
    mechanism: Audited,
    length: int,
    *,
    language: Language | None = None,
    claimed: float | None = None,
    k: int | None = None,
    outputs_up_to: int | None = None,
) -> ExactAudit:
    """Measure ε over every pair of words of one length and every output.

    Under Levenshtein distance, the words are all those of at most this length, and the outputs all those of at most
    `outputs_up_to` symbols, by default up to two more than `length` if they can be listed. Of a `Report`, the words are
    all those of at most this length, too, and the outputs all sets of answers that it can name.

    The measured ε is the largest `|ln p(w;x)/p(w;x′)|` / ceil(d(x, x′)/k) over all pairs, not only over neighbours. The
    claim holds if the measured ε is not larger; for a `NotPrivate` mechanism, the claim is its nominal ε. By default,
    language, claim and k are the mechanism's own; pass them if it has none. Cost: words³, for at most 1,024 words.

    >>> from dpwords import Exponential, Words
    >>> exact(Exponential(Words("ab"), epsilon=1.5), length=3).holds
    True
    """
    guarantee = getattr(mechanism, "guarantee", None)
    if claimed is None:
        claimed = getattr(guarantee, "nominal" if isinstance(guarantee, NotPrivate) else "epsilon", None)
    k = getattr(guarantee, "k", None) if k is None else whole_number(k, "k", 1)
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
    if not words:
        raise InvalidValue(f"the language has no word of length {length}: choose another length")
    if length == 0 and distance == "levenshtein":
        raise InvalidValue("there is only one word of length 0, and nothing to compare it with: use a longer length")
    laws = [_law(mechanism, word) for word in words]
    apart = exhaustive.distances(words, distance)
    logs = exhaustive.log_probs(laws, outputs, complete=distance != "levenshtein")
    losses = exhaustive.pair_losses(logs)
    rates = losses / np.maximum(np.ceil(apart / k), 1)
    measured = float(rates.max())
    one, other = (int(index) for index in np.unravel_index(rates.argmax(), rates.shape))
    with np.errstate(invalid="ignore"):  # −inf − −inf is NaN: both words exclude that output
        output = outputs[int(np.nanargmax(np.abs(logs[one] - logs[other])))]
    worst = Worst(words[one], words[other], output, int(apart[one, other]), float(losses[one, other]))
    holds = measured <= claimed * (1 + 1e-9) + 1e-12  # allows for floating-point errors of the measurement itself
    return ExactAudit(measured, claimed, holds, worst if measured > 0 else None, len(words))


@dataclass(frozen=True)
class _Given:
    """The distribution at one word, for a mechanism that has only `log_prob`."""

    mechanism: Audited
    word: Symbols

    def log_prob(self, output: Symbols) -> float:
        return self.mechanism.log_prob(output, given=self.word)


def _law(mechanism: Audited, word: Symbols) -> HasLogProb:
    prepare: Callable[[Symbols], HasLogProb] | None = getattr(mechanism, "given", None)
    return prepare(word) if prepare is not None else _Given(mechanism, word)
