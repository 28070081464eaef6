"""What a population of private words looks like, estimated from its releases.

Each function takes releases, that is a list of words or a column of a table, and the mechanism that made them. It
returns proportions with confidence intervals, {label: Estimate(value, low, high)}. Only the releases are used, so no
privacy is spent. The intervals are for the population from which the words come, and take the noise of the mechanism
into account; releases of one person count as if they came from several.

`lengths` and reports take the option `confidence` only, `model` takes `progress` and `decode` none of them. The options
of all other functions are:

- `method`: "inverse" takes the noise off the counts, without bias (free words only); "em" fits a model of the
  population by expectation–maximisation; "auto" inverts on free words, unless a model is clearly more certain and
  nothing contradicts it.
- `confidence`: how often the intervals cover the true proportion.
- `model`: "chain", "by place" or "two steps", what a step depends on (see `model`), or "auto", the one that fits best;
  or what `model(releases, mechanism)` returned, so that it is not fitted again for each question.
- `progress`: a function that is called with a line of text after each step.

>>> import dpwords as dw
>>> mechanism = dw.Exponential(dw.Words("ab"), epsilon=2)
>>> releases = mechanism.seeded(1).release_all(["aab"] * 400 + ["abb"] * 600)
>>> found = dw.estimate.frequencies(releases, mechanism)
>>> found["a"].low < 7 / 15 < found["a"].high
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict, Unpack, overload

from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.errors import NO_MEMORY, InvalidValue, TooLarge, named
from dpwords.estimate.asking import Asked, answered_question, fitted_model
from dpwords.estimate.comparing import Differences, difference
from dpwords.estimate.decoding import Decoded, decode
from dpwords.estimate.planning import Forecast, forecast
from dpwords.estimate.rates import Rates
from dpwords.estimate.results import Estimate, Estimates
from dpwords.estimate.variants import estimated_variants
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import Chain
from dpwords.models.choosing import ModelName
from dpwords.models.edit_model import EditModel
from dpwords.models.fitting import MethodName, ProgressLine
from dpwords.models.population import Model
from dpwords.models.releases import Releases

__all__ = [
    "Chain",
    "Decoded",
    "Differences",
    "EditModel",
    "Estimate",
    "Estimates",
    "Forecast",
    "Model",
    "Rates",
    "chain",
    "decode",
    "dfg",
    "difference",
    "ends",
    "forecast",
    "frequencies",
    "lengths",
    "model",
    "patterns",
    "rates",
    "starts",
    "transitions",
    "variants",
    "visits",
]


class Options(TypedDict, total=False):
    """The options of all questions except `lengths`."""

    method: MethodName
    confidence: float
    model: ModelName | Model | EditModel | None
    progress: ProgressLine | None


@overload
def frequencies(
    releases: Any, mechanism: Private, *, per_place: Literal[False] = False, **options: Unpack[Options]
) -> Estimates: ...


@overload
def frequencies(
    releases: Any, mechanism: Private, *, per_place: Literal[True], **options: Unpack[Options]
) -> list[Estimates]: ...


def frequencies(
    releases: Any, mechanism: Private, *, per_place: bool = False, **options: Unpack[Options]
) -> Estimates | list[Estimates]:
    """The proportion of each symbol among all symbols of the true words; with `per_place`, a table for each position.

    Cost: the symbols of the releases for inversion; for a chain that of `model`.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("ab"), epsilon=3)
    >>> first, second = dw.estimate.frequencies(["ab"] * 90 + ["bb"] * 10, mechanism, per_place=True)
    >>> first["a"].value > 0.9 and second["b"].value
    1.0
    """
    if not per_place:
        return _answer("frequencies", releases, mechanism, options)
    if mechanism.answers is not None:
        raise InvalidValue(
            f"answers of a report do not say which position they are about: leave out {named('per_place')}"
        )
    return _asked("frequencies", releases, mechanism, options).by_position()


def visits(releases: Any, mechanism: Private, **options: Unpack[Options]) -> Estimates:
    """The proportion of each state of a system among all states that the true runs enter.

    In words of states these are the frequencies of symbols. From reports, `visits`, `transitions` and `frequencies` are
    means over people: each person's word counts equally, whatever its length. Cost: that of `model`.

    >>> import dpwords as dw
    >>> report = dw.Report(dw.GridWorld(2, 2).by_states(), epsilon=4, question="visits")
    >>> answers = report.seeded(1).release_all([[(0, 1), (1, 1)]] * 1000)
    >>> round(dw.estimate.visits(answers, report)[1, 1].value, 1)
    0.5
    """
    return _answer("visits", releases, mechanism, options)


def transitions(releases: Any, mechanism: Private, **options: Unpack[Options]) -> Estimates:
    """The proportion of each step (state, next state) among all steps of the true runs, the first from the start
    included.

    On free words these are pairs of consecutive symbols, as in `dfg`. Cost: that of `model`.

    >>> import dpwords as dw
    >>> mechanism = dw.Online(dw.GridWorld(2, 2), epsilon=4)
    >>> found = dw.estimate.transitions(mechanism.seeded(1).release_all(["ES"] * 100), mechanism)
    >>> round(found[(0, 0), (0, 1)].value, 2)
    0.5
    """
    return _answer("transitions", releases, mechanism, options)


def rates(releases: Any, mechanism: Private, **options: Unpack[Options]) -> Rates:
    """The rate of each step: its probability in the state, or after the symbol, from which it leads.

    These are the rows of the transition matrix, averaged over all positions; the rates of each row sum to 1. The result
    also has their `covariance`, a matrix in the order of the labels. Cost: that of `model`, and labels².

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("ab"), epsilon=4)
    >>> found = dw.estimate.rates(mechanism.seeded(1).release_all(["aab", "aba"] * 500), mechanism)
    >>> round(found["a", "b"].value, 1), found.covariance.shape
    (0.7, (4, 4))
    """
    asked = _asked("transitions", releases, mechanism, options)
    symbols = len(mechanism.language.alphabet)
    try:
        if mechanism.language.alike:
            check_memory(4 * 8 * symbols**4)  # matrices that are held at a time
        return asked.rates()
    except MemoryError as error:
        if isinstance(error, TooLarge) and error.message != NO_MEMORY:
            raise
        raise TooLarge(
            f"there is not enough memory for the rates of {symbols:,} symbols, whose up to {symbols**2:,} steps have "
            f"{symbols**4:,} covariances: merge symbols, or ask for transitions, or pairs of symbols (dfg)"
        ) from None


def dfg(releases: Any, mechanism: Private, **options: Unpack[Options]) -> Estimates:
    """The directly-follows graph: the proportion of each pair of consecutive symbols among all such pairs.

    Cost: that of `model`.
    """
    return _answer("dfg", releases, mechanism, options)


def starts(releases: Any, mechanism: Private, **options: Unpack[Options]) -> Estimates:
    """The proportion of true words that start with each symbol."""
    return _answer("starts", releases, mechanism, options)


def ends(releases: Any, mechanism: Private, **options: Unpack[Options]) -> Estimates:
    """The proportion of true words that end with each symbol."""
    return _answer("ends", releases, mechanism, options)


def lengths(releases: Any, mechanism: Private, *, confidence: float = 0.95) -> Estimates:
    """The proportion of true words of each length.

    Under Hamming distance releases show the length, so it is counted; the intervals are those of a sample. For the edit
    channel it is fitted by expectation–maximisation. Cost: that of `length_channel`, and of one round for each step.
    """
    return Asked("lengths", Releases.of(releases, mechanism), mechanism, confidence=confidence).lengths()


def patterns(releases: Any, mechanism: Private, patterns: Iterable[Any], **options: Unpack[Options]) -> Estimates:
    """The proportion of true words that have each of some patterns.

    A pattern is a str, list or tuple of symbols that follow each other without a gap, or a rule or `Pattern`, which has
    to hold for the whole word. Lists become tuples as labels. Cost: that of `model`, once, and for each pattern a pass
    over the releases, on runs beside which the pattern is followed.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("abc"), epsilon=4)
    >>> releases = mechanism.seeded(1).release_all(["abc", "acb"] * 200)
    >>> found = dw.estimate.patterns(releases, mechanism, ["bc", dw.rules.starts_in("a")])
    >>> [round(proportion.value, 1) for proportion in found.values()]
    [0.5, 1.0]
    """
    return _asked("patterns", releases, mechanism, options).patterns(patterns)


def variants(releases: Any, mechanism: Private, *, most: int = 20, **options: Unpack[Options]) -> Estimates:
    """The proportions of the most frequent whole words, the largest first: the variants of an event log.

    Those that seem to be most frequent are estimated, `most` of them at most; a rare one may be missed. On free words
    the proportions are unbiased, whatever the population is; on a system all other words are taken to follow the model.
    Errors grow fast with the length of the words. Cost: that of `model` and `decode`, and releases · variants.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("abc"), epsilon=4)
    >>> releases = mechanism.seeded(1).release_all(["abca"] * 700 + ["acba"] * 300)
    >>> found = dw.estimate.variants(releases, mechanism, most=2)
    >>> {"".join(word): round(each.value, 1) for word, each in found.items()}
    {'abca': 0.7, 'acba': 0.3}
    """
    return estimated_variants(_asked("variants", releases, mechanism, options), whole_number(most, "most", 1))


def model(
    releases: Any, mechanism: Private, model: ModelName = "auto", *, progress: ProgressLine | None = None
) -> Model | EditModel:
    """A Markov chain on the language, fitted to the releases by expectation–maximisation.

    What comes next depends on the state ("chain"), on the state and the position ("by place"), or on the state and the
    step before ("two steps"). "auto" takes the one under which releases that were left out of the fit are most likely;
    `kind` of the result says which. `misfit` says what contradicts it, or is None.

    Cost: some tens of passes over the releases, each releases · length · edges within reach on all cores, or for the
    edit channel (n²·m + n·m²) for a release of n symbols out of m. Where the normalising constant of the mechanism
    depends on the private word, as at the textbook rate, some hundred passes over pairs of edges.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("ab"), epsilon=4)
    >>> chain = dw.estimate.model(mechanism.seeded(1).release_all(["abab"] * 200), mechanism)
    >>> chain.transitions["a"]["b"] > 0.95
    True
    """
    return fitted_model(Releases.of(releases, mechanism), mechanism, model, progress)


def chain(language: Language, transitions: Mapping[Any, Mapping[Any, float]], *, limits: Limits = DEFAULTS) -> Chain:
    """A Markov chain on a language that is known beforehand: a public assumption about the population, not a fit.

    `transitions` is {state: {symbol: probability}}, as in `Model.transitions`: on a system the states are its own, on
    free words the symbol before, and None is the start of a word (and of a system that may start anywhere). Symbols
    that are left out have probability 0. A state that the chain can reach needs a row, and each row sums to 1. Words of
    one length have the probabilities that the chain gives them, given that a word of the language is completed. Cost:
    the edges of the language.

    >>> import dpwords as dw
    >>> fair = {"a": 0.5, "b": 0.5}
    >>> likely = dw.estimate.chain(dw.Words("ab"), {None: fair, "a": {"b": 1.0}, "b": fair})
    >>> round(2.718281828 ** likely.log_prob("ab"), 3)
    0.5
    """
    return Chain.of(language, transitions, limits)


def _answer(question: str, releases: Any, mechanism: Private, options: Options) -> Estimates:
    return answered_question(question, releases, mechanism, **options)


def _asked(question: str, releases: Any, mechanism: Private, options: Options) -> Asked:
    return Asked(question, Releases.of(releases, mechanism), mechanism, **options)
