"""From releases to the answer of a question: which method applies to which mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.estimate import inversion
from dpwords.estimate.edits import EditQuestion, answered_edits, counted_edits, least_error
from dpwords.estimate.patterns import answered_pattern, detector_of, proportion_detected
from dpwords.estimate.questions import NONE, RunQuestion, of_states, of_symbols
from dpwords.estimate.results import Estimates, estimates, hopeless, interval_factor, on_simplex, sampling_errors
from dpwords.estimate.uncertainty import Answered, answered, fitted_lengths
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import hidden_runs
from dpwords.models.edit_model import EditModel, fitted_edits, refuse_projected
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import EstimateMethod, MethodName, ProgressLine
from dpwords.models.hidden import Hidden
from dpwords.models.population import Model, fitted
from dpwords.models.releases import Releases
from dpwords.recipes.questions import KINDS
from dpwords.spaces.edit_channel import Channel

AnyModel = TypeVar("AnyModel", Model, EditModel)
AUTO, INVERSE, EM, *_ = EstimateMethod
METHODS = (AUTO, INVERSE, EM)
_OF_STATES = ("visits", "transitions")
_BY_CHAIN = ("transitions", "dfg")  # better estimated by a chain than by inversion, if the chain fits the words


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about the population behind some releases, and how it is to be answered."""

    question: str
    releases: Releases
    mechanism: Private
    method: MethodName = AUTO
    confidence: float = 0.95
    model: Model | EditModel | None = None
    progress: ProgressLine | None = None

    def __post_init__(self) -> None:
        interval_factor(self.confidence)
        if self.method not in METHODS:
            raise InvalidValue("method is 'auto', 'inverse' (free words) or 'em'")
        if self.question == "visits" and self.mechanism.language.system is None:
            raise InvalidValue("only runs of a system visit states: ask for frequencies of symbols instead")

    @cached_property
    def _channel(self) -> Channel | None:
        """The edit channel that the words went through; None if they keep their length."""
        return evidence_of(self.mechanism, int(self.releases.words.sizes.max(initial=0))).channel

    @within_memory()
    def answer(self) -> Estimates:
        """The estimated proportions."""
        if self._channel is not None:
            return self._of_edits(self._channel)
        if self._method() == INVERSE:
            return self._inverted()
        model = self._fitted()
        question = self._of(model.population)
        self._refuse_without_answers(question)
        found, least = self._answered(model, question)
        if self.method == AUTO and self.mechanism.language.alike and self._misses(found.proportions):
            return self._inverted()
        plain = counted_proportions(self.releases.by_length(), model.population, question)
        return self._estimates(
            question.labels, found.proportions, found.proportions, found.errors, model.method, plain, least
        )

    def counted(self) -> dict[Any, float]:
        """The proportions among the words as they are, by label, as if they were not noisy. Cost: their symbols."""
        if self._channel is not None:
            labels, proportions = symbols_of(self.mechanism, KINDS[self.question]).labels, self._counted_edits()
        else:
            population = hidden_runs(self.mechanism.language, self.mechanism.limits)
            question = self._of(population)
            labels, proportions = question.labels, counted_proportions(self.releases.by_length(), population, question)
        return dict(zip(labels, proportions.tolist(), strict=True))

    @within_memory()
    def by_position(self) -> list[Estimates]:
        """The proportions of the symbols at each position, a table for each position."""
        if self._channel is not None:
            raise InvalidValue(f"words of the edit channel have no fixed positions: leave out {named('per_place')}")
        words, symbols = self.releases.by_length(), len(self.mechanism.language.alphabet)
        positions = max(words)
        if self._method() == INVERSE:
            question = symbols_of(self.mechanism, "position", positions)
            inverse = inversion.inverted(words, self.mechanism, question)
            parts = [np.split(each, positions) for each in (inverse.proportions, inverse.errors, inverse.errors)]
            proportions, method = [on_simplex(part) for part in parts[0]], INVERSE
        else:
            model = self._fitted()
            found, least = self._answered(model, of_symbols(model.population, "position", positions))
            parts = [np.split(each, positions) for each in (found.proportions, found.errors, least)]
            proportions, method = parts[0], model.method
        counts = _counted_at(words, positions, symbols)
        names = self.mechanism.language.alphabet.symbols
        return [
            self._estimates(names, proportion, raw, error, method, plain, least)
            for proportion, raw, error, least, plain in zip(proportions, *parts, counts, strict=True)
        ]

    @within_memory()
    def patterns(self, patterns: Any) -> Estimates:
        """The proportion of words that have each of some patterns."""
        if self._channel is not None:
            raise InvalidValue(
                "patterns are not estimated from releases of the edit channel, which changes lengths: ask for pairs of "
                "symbols (dfg), or release with Exponential or Online"
            )
        if self.method == INVERSE:
            raise InvalidValue(f"patterns are estimated by a chain only: use {named('method', 'em')}")
        if isinstance(patterns, (str, Language)) or not isinstance(patterns, Iterable):
            raise InvalidValue("pass a list of patterns, as in ['ab', rules.contains('c')]")
        wanted = [tuple(each) if isinstance(each, list) else each for each in patterns]
        if not wanted:
            raise InvalidValue("there is no pattern to look for: pass at least one")
        model = self._fitted()
        found = [answered_pattern(model, pattern) for pattern in wanted]
        words = self.releases.by_length()
        plain = [proportion_detected(words, detector_of(each, self.mechanism.language)) for each in wanted]
        proportions, errors = (
            np.array([float(getattr(one, name)[0]) for one in found]) for name in ("proportions", "errors")
        )
        least = np.full(len(proportions), self._promised_error())
        errors = np.maximum(errors, least)
        return self._estimates(wanted, proportions, proportions, errors, model.method, np.array(plain), least)

    @within_memory()
    def lengths(self) -> Estimates:
        """The proportion of words of each length."""
        sizes = self.releases.words.sizes
        counts = np.bincount(sizes).astype(np.float64)
        plain = counts / counts.sum()
        if self._channel is not None:
            refuse_projected(self.mechanism)
            proportions, errors = fitted_lengths(counts, self._channel, self.mechanism.limits)
            plain = np.append(plain, np.zeros(len(proportions) - len(plain)))
            return self._estimates(range(len(proportions)), proportions, proportions, errors, EM, plain)
        errors = sampling_errors(plain, counts.sum())
        return self._estimates(range(len(plain)), plain, plain, errors, EstimateMethod.COUNTED, plain)

    def _method(self) -> EstimateMethod:
        if not self.mechanism.language.alike:
            if self.method == INVERSE:
                raise InvalidValue(
                    "inversion is biased on a system, where a step depends on the one before: use "
                    f"{named('method', 'em')}"
                )
            return EM
        if self.method == AUTO:
            linear = self.mechanism.is_linear
            return EM if linear and (self.question in _BY_CHAIN or self.model is not None) else INVERSE
        return EstimateMethod(self.method)

    def _misses(self, proportions: Floats) -> bool:
        """Whether proportions of a chain on free words are not those that the unbiased inversion of the counts
        allows."""
        if self.question not in _BY_CHAIN:
            return False
        words, question = self.releases.by_length(), symbols_of(self.mechanism, "pair")
        answers = sum(len(rows) * (length - 1) for length, rows in words.items())
        return inversion.inverted(words, self.mechanism, question).contradicts(proportions, answers)

    def _fitted(self) -> Model:
        if self.model is None:
            return fitted(self.releases, self.mechanism, self.progress)
        return self._known(self.model, Model)

    def _answered(self, model: Model, question: RunQuestion) -> tuple[Answered, Floats]:
        """The answers of the chain, with errors that are not below those of the noise alone, and the latter."""
        found = answered(model.evidence, model.population, question, model.chances)
        least = np.where(found.proportions > 0, self._promised_error(), 0.0)
        if self.mechanism.language.alike:
            least = np.maximum(least, inversion.least_errors(self.releases.by_length(), self.mechanism, question))
        return Answered(found.proportions, np.maximum(found.errors, least)), least

    def _promised_error(self) -> float:
        """The standard error that every proportion has, however it is estimated, because of the promise alone.

        Any two words of length n are released with probabilities within e^L, L = ε·ceil(n/k). So the information that a
        release has about a proportion is at most (e^L − 1)².
        """
        steps = -(-int(self.releases.words.sizes.max()) // self.mechanism.k)
        with np.errstate(over="ignore"):
            return float(1 / (np.sqrt(len(self.releases)) * np.expm1(self.mechanism.epsilon * steps)))

    def _known(self, model: Any, kind: type[AnyModel]) -> AnyModel:
        """A model that was passed, if it was fitted to these releases of this mechanism."""
        if not isinstance(model, kind) or model.fitted_to != self.releases.fingerprint(self.mechanism):
            raise InvalidValue(
                "this model was fitted to other releases, or for another mechanism: leave it out, or fit one to these "
                "releases"
            )
        return model

    def _of(self, population: Hidden) -> RunQuestion:
        """The question about hidden runs."""
        kind = KINDS[self.question]
        if self.question in _OF_STATES and self.mechanism.language.system is not None:
            return of_states(population, self.mechanism.language, "pair" if kind == "pair" else "each")
        return of_symbols(population, kind)

    def _refuse_without_answers(self, question: RunQuestion) -> None:
        if not any(question.sizes(length).any() for length in np.unique(self.releases.words.sizes).tolist()):
            raise InvalidValue("words of one symbol have no pairs of symbols: ask for frequencies instead")

    def _inverted(self) -> Estimates:
        question = symbols_of(self.mechanism, KINDS[self.question])
        self._refuse_without_answers(question)
        raw = inversion.inverted(self.releases.by_length(), self.mechanism, question)
        proportions = on_simplex(raw.proportions)
        return self._estimates(question.labels, proportions, raw.proportions, raw.errors, INVERSE, raw.counted)

    def _of_edits(self, channel: Channel) -> Estimates:
        if self.method == INVERSE:
            raise InvalidValue(f"the edit channel has no inverse that is known: use {named('method', 'em')}")
        refuse_projected(self.mechanism)
        if channel.only_length_shows:
            raise hopeless(math.inf, len(self.releases))
        kind: EditQuestion = KINDS[self.question]
        if self.model is None:
            model = fitted_edits(self.releases, self.mechanism, channel, self.progress)
        else:
            model = self._known(self.model, EditModel)
        found, labels = answered_edits(model, kind), symbols_of(self.mechanism, kind).labels
        words, letters = len(self.releases), len(self.releases.words.values)
        answers = {"each": letters, "pair": letters - words}.get(kind, words)  # about as many as in the true words
        noise = least_error(channel, max(answers, 1), 2 if kind == "pair" else 1)
        least = np.where(found.proportions > 0, noise, 0.0)
        counted = self._counted_edits()
        return self._estimates(labels, found.proportions, found.proportions, found.errors, model.method, counted, least)

    def _counted_edits(self) -> Floats:
        return counted_edits(self.releases.words, len(self.mechanism.language.alphabet), KINDS[self.question])

    def _estimates(
        self,
        labels: Any,
        proportions: Floats,
        raw: Floats,
        errors: Floats,
        method: EstimateMethod,
        counted: Floats,
        least: Floats | None = None,
    ) -> Estimates:
        """The table. `least` are errors that are known to be too small, which count where errors are not computed."""
        if len(self.releases) < 2:
            raise InvalidValue("one release tells nothing about how much releases vary: pass at least two")
        return estimates(
            labels,
            proportions,
            raw,
            errors,
            errors if least is None else np.where(np.isnan(errors), least, errors),
            confidence=self.confidence,
            counted=counted,
            releases=len(self.releases),
            question=self.question,
            method=method,
        )


def counted_proportions(words: dict[int, Codes], population: Hidden, question: RunQuestion) -> Floats:
    """The answers of words as they are. Cost: their symbols."""
    total, whole = np.zeros(question.number), np.zeros(question.number)
    edges = None if question.by_position else question.edges(population)
    for length, rows in words.items():
        taken = population.taken(rows)
        if edges is None:
            numbers = question.states(population, length - 1, length)[population.target[taken[:, -1]]]
        else:
            numbers = edges[taken].ravel()
        total += np.bincount(numbers[numbers != NONE], minlength=question.number)
        whole += question.sizes(length) * len(rows)
    return np.divide(total, whole, out=np.zeros_like(total), where=whole > 0)


def symbols_of(
    mechanism: Private, kind: Literal["each", "pair", "first", "last", "position"], positions: int = 1
) -> RunQuestion:
    """A question about the symbols of free words, without a chain, whose size grows with the square of the alphabet."""
    symbols = mechanism.language.alphabet.symbols
    number = len(symbols) ** 2 if kind == "pair" else len(symbols)
    labels = tuple((a, b) for a in symbols for b in symbols) if kind == "pair" else symbols
    return RunQuestion(kind, labels, lambda hidden: hidden.symbol, np.arange(number), len(symbols), False, positions)


def _counted_at(words: dict[int, Codes], positions: int, symbols: int) -> list[Floats]:
    """The proportions of the symbols at each position of the releases as they are."""
    found = np.zeros((positions, symbols))
    for length, rows in words.items():
        for position in range(length):
            found[position] += np.bincount(rows[:, position], minlength=symbols)
    return list(found / found.sum(axis=1, keepdims=True))
