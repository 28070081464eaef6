"""The exact audit: the measured ε of a mechanism compared with the claimed ε."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dpwords.audit.fit import check_fit, contradiction, draw_each
from dpwords.audit.samplers import checked_draws, is_ours
from dpwords.audit.tuning import ADDED
from dpwords.core.checks import positive_number, whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.scaled import Floats
from dpwords.core.symbols import PromisedDistance
from dpwords.errors import InvalidValue, TooLarge, within_memory
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Progress
from dpwords.privacy.guarantees import NotPrivate, keeps, steps_of
from dpwords.spaces import exhaustive
from dpwords.spaces.exhaustive import HasLogProb, Symbols

_EQUAL = 1e-9  # losses up to this are rounding, where words at distance 0 must have equal rows


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
    worst: Worst | None
    words: int
    k: int
    losses: Mapping[float, float] = field(repr=False)  # the largest loss at each distance
    delta: float  # the largest probability, over the words, of outputs that were not listed
    longest: int  # symbols of the longest outputs that were listed
    draws: int  # that were compared with the probabilities; 0 if the mechanism draws nothing

    @property
    def holds(self) -> bool | None:
        """False if the claim is broken, True if it holds, None if it is not broken but outputs are not covered.

        That is so if outputs that were not listed have more than 10⁻⁹ of the probability.
        """
        if not keeps(self.epsilon, self.claimed):
            return False
        return True if self.delta <= exhaustive.SUM_ERROR else None

    @property
    def allowed(self) -> float:
        """The loss that was claimed for the distance of the worst pair; 0 if there is none."""
        return 0.0 if self.worst is None else self.claimed * steps_of(self.worst.distance, self.k)

    @property
    def verdict(self) -> str:
        """What was found about the claim, in words."""
        if self.holds is None:
            return (
                f"not broken by outputs of up to {self.longest} symbols; others, with probability up to "
                f"{self.delta:.3g}, are not covered"
            )
        return "holds" if self.holds else "BROKEN"

    def __str__(self) -> str:
        measured = f"measured ε = {self.epsilon:.6g} over {self.words} words, claimed {self.claimed:.6g}"
        return f"{measured}: {self.verdict}"


@within_memory()
def exact(
    mechanism: Audited,
    length: int,
    *,
    language: Language | None = None,
    claimed: float | None = None,
    k: int | None = None,
    outputs_up_to: int | None = None,
    draws: int = 10_000,
    progress: Progress = iter,
) -> ExactAudit:
    """Measure ε over every pair of words of one length and every output.

    Under Levenshtein distance, the words are all those of at most this length, and the outputs all those of at most
    `outputs_up_to` symbols, by default up to two more than `length` if they can be listed. Of a `Report`, the words are
    all those of at most this length, too, and the outputs all sets of answers that it can name.

    The measured ε is the largest `|ln p(w;x)/p(w;x′)|` / ceil(d(x, x′)/k) over all pairs, not only over neighbours. The
    claim holds if the measured ε is not larger and the listed outputs have all of the probability, up to 10⁻⁹. Under
    Levenshtein distance, outputs may be too many for that: `delta` is then the largest probability of all others, and
    `holds` is None unless the claim is broken. For a `NotPrivate` mechanism, the claim is its nominal ε. By default,
    language, claim and k are the mechanism's own; pass them if it has none.

    A mechanism also makes about so many `draws` in all, as many for each word, by each of the methods that it has, and
    with words of characters as tuples and as text by turns: `release_all`, `release_codes`, `release` and `simulate`.
    They are compared with the probabilities, and what draws something else than it says is refused. An honest mechanism
    is refused with probability 10⁻⁹ at most. With 0 draws, only the probabilities are audited.

    `progress` receives the list of words, once for their probabilities and once to compare them, and yields them one by
    one, as `tqdm` does. Cost: words³, for at most 1,024 words, and the draws.

    >>> from dpwords import Exponential, Words
    >>> exact(Exponential(Words("ab"), epsilon=1.5), length=3).holds
    True
    """
    claimed, k, distance = promise_of(mechanism, claimed, k)
    language = language or getattr(mechanism, "language", None)
    needed = {"language": language, "claimed": claimed, "k": k}
    missing = " and ".join(f"{name}=" for name, value in needed.items() if value is None)
    if claimed is None or k is None or language is None:
        raise InvalidValue(f"this mechanism does not say everything that it promises: pass {missing}")
    if not isinstance(language, Language):
        raise InvalidValue("the language must be a Words, a TransitionSystem, …: pass for example Words('abc')")
    claimed, k = positive_number(claimed, "claimed", "claimed=1.0", zero_allowed=True), whole_number(k, "k", 1)
    draws = checked_draws(draws, 0)
    if distance != "levenshtein" and outputs_up_to is not None:
        raise InvalidValue("only under Levenshtein distance outputs have other lengths: leave out outputs_up_to")
    words, outputs = _listed(mechanism, language, length, distance, outputs_up_to)
    apart = exhaustive.distances(words, distance)
    outputs = outputs if distance == "any" else [language.spell(output) for output in outputs]
    words = [language.spell(word) for word in words]
    columns = {output: column for column, output in enumerate(outputs)}
    if len(columns) < len(outputs):
        raise InvalidValue("an output is listed twice, so that its probability counts twice: list each word once")
    laws = (law_at(mechanism, word) for word in progress(words))
    logs = exhaustive.log_probs(laws, outputs, complete=distance != "levenshtein")
    if len(logs) != len(words):
        raise InvalidValue("progress must yield everything that it receives: correct it, or leave it out")
    delta = max(0.0, float(1 - np.exp(logs).sum(axis=1).min()))
    drawn = draw_each(mechanism, language, words, draws)
    check_fit(drawn, logs, words, columns, complete=distance != "levenshtein")
    if distance == "levenshtein":
        seen = {each for way in drawn for each in chain(*way.outputs)} - columns.keys()
        symbols = frozenset(language.letters.symbols)
        added = sorted(seen, key=lambda output: _rank(output, symbols))[:ADDED]
        outputs = [*outputs, *added]
        if added:
            logs = exhaustive.log_probs((law_at(mechanism, word) for word in words), outputs, complete=False)
            impossible = [
                {output for output, log in zip(added, row, strict=True) if log == -np.inf}
                for row in logs[:, len(columns) :]
            ]
            if any(
                not never.isdisjoint(each) for way in drawn for never, each in zip(impossible, way.outputs, strict=True)
            ):
                raise contradiction()
    if np.exp(logs).sum(axis=1).min() <= exhaustive.SUM_ERROR:
        raise InvalidValue("at some word no listed output has any probability: pass a larger outputs_up_to")
    epsilon, found, losses = measured(logs, apart, k, progress)
    worst = None
    if found is not None:
        one, other, output, loss = found
        worst = Worst(words[one], words[other], outputs[output], int(apart[one, other]), loss)
    longest, drawn_in_all = max((len(output) for output in columns), default=0), sum(map(len, drawn))
    return ExactAudit(epsilon, claimed, worst, len(words), k, losses, delta, longest, drawn_in_all)


def promise_of(
    mechanism: Any, claimed: float | None, k: int | None
) -> tuple[float | None, int | None, PromisedDistance]:
    """The claim, k and distance that count: those that are passed, and otherwise the mechanism's own.

    A mechanism that states two different ones is refused, since users may rely on the other.
    """
    guarantee = getattr(mechanism, "guarantee", None)
    stated = getattr(guarantee, "nominal" if isinstance(guarantee, NotPrivate) else "epsilon", None)
    claimed = _agreed(mechanism, "epsilon", stated, claimed, "two claims: pass claimed=")
    k = _agreed(mechanism, "k", getattr(guarantee, "k", None), k, "two values of k: pass k=")
    promised = getattr(guarantee, "distance", None)
    distance: PromisedDistance = getattr(mechanism, "distance", None) or promised or "hamming"
    if promised not in (None, distance):
        raise InvalidValue("the mechanism and its guarantee state two distances: correct one of them")
    if distance not in get_args(PromisedDistance):
        raise InvalidValue("the distance of a mechanism is 'hamming', 'levenshtein' or 'any': correct it")
    return claimed, k, distance


def _agreed(mechanism: Any, name: str, promised: Any, passed: Any, two: str) -> Any:
    """What is passed, or what the guarantee and the attribute of a mechanism both say, or the one that there is."""
    own = getattr(mechanism, name, None)
    if passed is not None or own is None:
        return promised if passed is None else passed
    if promised not in (None, own):
        raise InvalidValue(f"the mechanism and its guarantee state {two} to say which one is meant")
    return own


def _listed(
    mechanism: Any, language: Language, length: int, distance: PromisedDistance, outputs_up_to: int | None
) -> tuple[list[Symbols], list[Any]]:
    """The words that are compared, and the outputs at which they are."""
    outputs: list[Any]
    answers = mechanism.answers if is_ours(mechanism) else None
    least = 0 if answers is None else mechanism.least_length
    if distance == "hamming":
        words = outputs = exhaustive.words(language, length, limit=DEFAULTS.compared_words)
        onto = mechanism.projected_onto if is_ours(mechanism) else None
        if onto is not None:  # words of it need not be among those that go in
            outputs = exhaustive.words(onto, length, limit=DEFAULTS.compared_words)
    elif answers is not None:
        listed = exhaustive.words_up_to(language, length, limit=DEFAULTS.compared_words)
        words = [word for word in listed if len(word) >= least]
        outputs = answers.every()
    else:
        words = exhaustive.words_up_to(language, length, limit=DEFAULTS.compared_words)
        outputs = words if outputs_up_to is None else exhaustive.words_up_to(language, outputs_up_to)
        for longest in (length + 1, length + 2) if outputs_up_to is None else ():
            with suppress(TooLarge):
                outputs = exhaustive.words_up_to(language, longest)
    if not words and length < least:
        raise InvalidValue(f"words have at least {least} symbols here: use a longer length")
    if not words:
        raise InvalidValue(f"the language has no word of length {length}: choose another length")
    if length == 0 and distance == "levenshtein":
        raise InvalidValue("there is only one word of length 0, and nothing to compare it with: use a longer length")
    return words, outputs


def _rank(output: Any, symbols: frozenset[Any]) -> tuple[bool, int]:
    """First what is no word over the alphabet, then the shortest words."""
    return (symbols.issuperset(output), len(output)) if isinstance(output, tuple) else (False, 0)


def measured(
    logs: Floats, apart: NDArray[Any], k: int, progress: Progress
) -> tuple[float, tuple[int, int, int, float] | None, dict[float, float]]:
    """The largest loss per step between rows of log-probabilities that are so far apart, and the largest per distance.

    In between, the two rows and the column with the former, and their loss; None if no row loses anything. Rows at
    infinite distance are not compared, and those at distance 0 have to be equal up to rounding.
    """
    losses = exhaustive.pair_losses(logs, progress)
    compared = np.isfinite(apart) & ((apart > 0) | (losses > _EQUAL)) & (losses > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(compared, losses / (apart if k == 1 else np.ceil(apart / k)), 0.0)
    one, other = (int(index) for index in np.unravel_index(rates.argmax(), rates.shape))
    distances = np.unique(apart[np.isfinite(apart) & ((apart > 0) | (losses > _EQUAL))])
    by_distance = {each.item(): float(losses[apart == each].max()) for each in distances}
    if not rates[one, other]:
        return 0.0, None, by_distance
    with np.errstate(invalid="ignore"):  # −inf − −inf is NaN: both exclude that output
        output = int(np.nanargmax(np.abs(logs[one] - logs[other])))
    return float(rates[one, other]), (one, other, output, float(losses[one, other])), by_distance


def law_at(mechanism: Audited, word: Any) -> HasLogProb:
    """The output distribution at a word, prepared once if the mechanism can do that."""
    if (prepare := getattr(mechanism, "given", None)) is None:
        return cast(HasLogProb, SimpleNamespace(log_prob=partial(mechanism.log_prob, given=word)))
    return cast(HasLogProb, prepare(word))
