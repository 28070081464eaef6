"""The statistical audit: a lower bound on the ε of anything that releases words, from its draws alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from dpwords.audit.events import PairDistance, TellingEvent, most_telling, traits
from dpwords.audit.exact import Audited, law_at, promise_of
from dpwords.audit.intervals import largest_proportion, least_proportion
from dpwords.audit.samplers import WHY, Sampler, checked_draws, is_ours, repeats
from dpwords.core.checks import positive_number, whole_number
from dpwords.core.randomness import SeededSource, SystemSource
from dpwords.core.symbols import PromisedDistance, Word, hamming, levenshtein, symbols_of
from dpwords.errors import DPWordsError, InvalidValue, within_memory
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Progress
from dpwords.privacy.guarantees import distance_between, keeps, steps_of

AnyDistance = PromisedDistance | PairDistance
_MEASURES: dict[Any, PairDistance] = {"hamming": hamming, "levenshtein": levenshtein, "any": hamming}  # of outputs


class Proportion(NamedTuple):
    """How often a word's outputs were in the event, and the exact bound on the probability that counts."""

    hits: int
    draws: int
    bound: float
    is_lower: bool  # for the word that makes the event likelier; for the other the bound is an upper one


@dataclass(frozen=True)
class StatisticalAudit:
    """The result of a statistical audit. What was not accused is not thereby private."""

    epsilon: float  # a lower bound: the loss divided by ceil(distance/k); 0 if nothing is shown, inf if draws repeat
    loss: float  # a lower bound on the loss of this pair of words
    reach: float  # the largest loss that so many draws can show at all
    distance: float
    k: int
    confidence: float
    draws: int  # of each word
    event: str
    of_word: Proportion
    of_neighbour: Proportion
    repeats: str  # how the draws repeat each other; "" if they do not, or if the event shows more
    claimed: float | None

    @property
    def steps(self) -> float:
        """ceil(distance/k), the number of times that ε may be lost; the distance itself, if k = 1."""
        return steps_of(self.distance, self.k)

    @property
    def allowed(self) -> float | None:
        """The loss that was claimed for two words at this distance; None without a claim."""
        return None if self.claimed is None else self.claimed * self.steps

    @property
    def holds(self) -> bool | None:
        """False if the claim is broken; True if it is not accused, which proves nothing; None without a claim."""
        return None if self.allowed is None else keeps(self.loss, self.allowed)

    def __str__(self) -> str:
        found = f"ε ≥ {self.epsilon:.4g}"
        if self.repeats:
            found = f"ε = inf: {self.repeats}, and {WHY}" if self.loss == math.inf else f"{found}: {self.repeats}"
        found += f" (confidence {self.confidence:g}, {self.draws} draws of each word)"
        if self.claimed is None:
            return f"{found}; nothing was claimed"
        if not self.holds:
            return f"{found}, claimed {self.claimed:.6g}: BROKEN"
        return f"{found}, claimed {self.claimed:.6g}: not accused, which does not prove the claim"


@within_memory()
def statistical(
    release: Any,
    word: Word,
    neighbour: Word,
    draws: int = 10**5,
    confidence: float = 0.999,
    *,
    claimed: float | None = None,
    k: int | None = None,
    distance: AnyDistance | None = None,
    model: Audited | None = None,
    batch: bool | None = None,
    seed: int | str | None = None,
    progress: Progress = iter,
) -> StatisticalAudit:
    """A lower bound on the ε of anything that releases words, from `draws` outputs for each of two words.

    `release` takes a word, or a word and a number of draws; which of them is seen from the parameters that it needs, or
    by `batch`. Outputs may be anything. It can also be a mechanism or one of its methods: claim, k and distance are
    then its own. Otherwise they are what you pass, by default no claim, k = 1 and Hamming distance; a callable measures
    any other distance. `model` may be anything with `log_prob(output, given=word)`, and adds events by its
    log-likelihood ratio. `seed` makes the order of the calls reproducible. `progress` receives a list of steps and
    yields them one by one, as `tqdm` does.

    An event is chosen on one half of the draws, and its proportions are tested on the other by the exact bounds of
    Clopper and Pearson. If each call is an independent draw, the bound exceeds the true ε with probability at most 1 −
    `confidence`. The draws are also compared with each other, since those of a sampler that is seeded by the second
    repeat each other; a seed that is different for each draw is not seen. The audit needs two different words; it can
    accuse, but it cannot prove anything private. It changes nothing outside itself. Cost: 2 · draws releases.

    >>> import dpwords as dw
    >>> honest = dw.Exponential(dw.Words("ab"), epsilon=1)
    >>> statistical(honest, "aaa", "aab", draws=2000).holds
    True
    >>> statistical(dw.PaperLiteral(dw.Words("ab"), epsilon=0.1).perturb, "aaaaaaaa", "aaaaaaab", draws=2000).holds
    False
    """
    draws = checked_draws(draws, 4)
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InvalidValue("confidence is between 0 and 1, and never 1: pass for example confidence=0.999")
    error = 1 - confidence
    owner = release if is_ours(release) else getattr(release, "__self__", None)
    if is_ours(owner):
        claimed, k, promised = promise_of(owner, claimed, k)
        distance = of_symbols(distance or promised, owner.language)
    if claimed is not None:
        claimed = positive_number(claimed, "claimed", "claimed=1.0", zero_allowed=True)
    k = whole_number(1 if k is None else k, "k", 1)
    apart = _checked_distance(word, neighbour, distance or "hamming")
    if model is not None and not hasattr(model, "log_prob"):
        raise InvalidValue("a model has a method log_prob(output, given=word): pass for example a mechanism")
    measure = distance if callable(distance) else _MEASURES[distance or "hamming"]
    sampler = Sampler.of(release, batch)
    words = (word, neighbour)
    stream = (SystemSource() if seed is None else SeededSource(seed)).open()
    found = sampler.draw_both(words, draws, stream, progress)
    outputs = found.outputs()
    laws = None if model is None else [law_at(model, each) for each in words]
    quarter, half, each = draws // 4, draws // 2, error / 4
    event = most_telling(
        traits(words, measure, laws),
        [drawn[:quarter] for drawn in outputs],
        [drawn[quarter:half] for drawn in outputs],
        each,
    )
    proportions = _tested(event, [drawn[half:] for drawn in outputs], each)
    likelier, other = proportions[event.likelier], proportions[1 - event.likelier]
    shown = math.log(likelier.bound / other.bound) if likelier.bound > 0 else -math.inf
    how = repeats(found, error / 2, stream)
    loss = max(shown, how.loss, 0.0)
    return StatisticalAudit(
        loss / steps_of(apart, k),
        loss,
        reach_of(draws, confidence),
        apart,
        k,
        confidence,
        draws,
        event.text,
        proportions[0],
        proportions[1],
        how.how if how.loss > max(shown, 0.0) else "",
        claimed,
    )


def reach_of(draws: int, confidence: float) -> float:
    """The largest loss that so many draws can show: if one word is always in the event, and the other never.

    >>> round(reach_of(10**5, 0.999), 2)
    8.7
    """
    tested, each = draws - draws // 2, (1 - confidence) / 4
    return max(0.0, math.log(least_proportion(tested, tested, each) / largest_proportion(0, tested, each)))


def _tested(event: TellingEvent, outputs: Sequence[Sequence[Any]], error: float) -> list[Proportion]:
    """The proportions of both words in the event; each of the two bounds is wrong with probability at most `error`."""
    proportions = []
    for position, drawn in enumerate(outputs):
        is_lower, hits = position == event.likelier, event.hits(drawn)
        bound = least_proportion if is_lower else largest_proportion
        proportions.append(Proportion(hits, len(drawn), bound(hits, len(drawn), error), is_lower))
    return proportions


def of_symbols(distance: AnyDistance, language: Language) -> AnyDistance:
    """The distance of words as they are written, if it is about other symbols than they are written in."""
    if callable(distance) or distance == "any" or language.spelling is None:
        return distance
    return partial(distance_between, distance=distance, spelled=language)


def _checked_distance(word: Word, neighbour: Word, distance: AnyDistance) -> float:
    if symbols_of(word) == symbols_of(neighbour):
        raise InvalidValue("the two words are the same, and there is nothing to tell apart: pass two different words")
    if isinstance(word, str) != isinstance(neighbour, str):
        raise InvalidValue("a release shows whether its word was a str or a list: pass both words as the same kind")
    if not callable(distance) and not (isinstance(distance, str) and distance in _MEASURES):
        raise InvalidValue("distance is 'hamming', 'levenshtein', or a callable that takes two words")
    if callable(distance):
        try:
            found = distance(word, neighbour)
        except (MemoryError, DPWordsError):
            raise
        except Exception as error:
            raise InvalidValue(
                f"the distance fails for these two words ({type(error).__name__}): it takes two words"
            ) from None
    else:
        found = distance_between(word, neighbour, distance)
    return positive_number(found, "the distance of the two words", "two words at a finite distance")
