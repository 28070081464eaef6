"""From releases to the answer of a question: which method applies to which mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.estimate import inversion
from dpwords.estimate.questions import RunQuestion, counted_proportions, followed, of_states, of_symbols
from dpwords.estimate.results import Estimates, estimates, hopeless, interval_factor, sampling_errors
from dpwords.estimate.uncertainty import (
    Answered,
    answered,
    answered_edits,
    counted_edits,
    least_error,
    length_errors,
)
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import hidden_runs
from dpwords.models.edit_model import EditModel, explained_lengths, fitted_edits, refuse_projected
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import EstimateMethod, MethodName, ProgressLine
from dpwords.models.hidden import Hidden
from dpwords.models.population import Model, fitted
from dpwords.models.releases import Releases
from dpwords.recipes.questions import KINDS
from dpwords.spaces.edit_channel import Channel

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
        return self._estimates(question.labels, *found, model.method, plain, least)

    def counted(self) -> dict[Any, float]:
        """The proportions among the words as they are, by label, as if they were not noisy. Cost: their symbols."""
        if self._channel is not None:
            labels, proportions = self._of(None).labels, self._counted_edits()
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
        words, alphabet = self.releases.by_length(), self.mechanism.language.alphabet
        positions = max(words)
        if self._method() == INVERSE:
            raw, errors, counted = inversion.inverted(
                words, self.mechanism, of_symbols(alphabet, "position", positions)
            )
            least, method = errors, INVERSE
        else:
            model = self._fitted()
            question = of_symbols(alphabet, "position", positions)
            (raw, errors), least = self._answered(model, question)
            counted, method = counted_proportions(words, model.population, question), model.method
        parts = (np.split(each, positions) for each in (raw, errors, counted, least))
        return [
            self._estimates(alphabet.symbols, proportion, error, method, plain, floor)
            for proportion, error, plain, floor in zip(*parts, strict=True)
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
        model, words, found, plain = self._fitted(), self.releases.by_length(), [], []
        for pattern in wanted:
            evidence, population, question = followed(model, pattern)
            found.append(answered(evidence, population, question, model.chances))
            plain.append(counted_proportions(words, population, question))
        proportions, errors = map(np.concatenate, zip(*found, strict=True))
        least = np.full(len(proportions), self._promised_error())
        return self._estimates(
            wanted, proportions, np.maximum(errors, least), model.method, np.concatenate(plain), least
        )

    @within_memory()
    def lengths(self) -> Estimates:
        """The proportion of words of each length."""
        sizes = self.releases.words.sizes
        counts = np.bincount(sizes).astype(np.float64)
        plain = counts / counts.sum()
        if self._channel is not None:
            refuse_projected(self.mechanism)
            proportions, matrix = explained_lengths(counts, self._channel, self.mechanism.limits)
            errors = length_errors(proportions, matrix, float(counts.sum()))
            plain = np.append(plain, np.zeros(len(proportions) - len(plain)))
            return self._estimates(range(len(proportions)), proportions, errors, EM, plain)
        errors = sampling_errors(plain, counts.sum())
        return self._estimates(range(len(plain)), plain, errors, EstimateMethod.COUNTED, plain)

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
        words, question = self.releases.by_length(), self._of(None)
        answers = sum(len(rows) * (length - 1) for length, rows in words.items())
        return inversion.inverted(words, self.mechanism, question).contradicts(proportions, answers)

    def _fitted(self) -> Any:
        """The model that was passed, if it was fitted to these releases of this mechanism, or a fitted one."""
        if self.model is None:
            return fitted_model(self.releases, self.mechanism, self.progress)
        if getattr(self.model, "fitted_to", None) != self.releases.fingerprint(self.mechanism):
            raise InvalidValue(
                "this model was fitted to other releases, or for another mechanism: leave it out, or fit one to these "
                "releases"
            )
        return self.model

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

    def _of(self, population: Hidden | None) -> RunQuestion:
        """The question about hidden runs; without a population, about the symbols of free words."""
        kind, language = KINDS[self.question], self.mechanism.language
        if population is not None and self.question in _OF_STATES and language.system is not None:
            return of_states(population, language, "pair" if kind == "pair" else "each")
        return of_symbols(language.alphabet, kind, population=population)

    def _refuse_without_answers(self, question: RunQuestion) -> None:
        if not any(question.sizes(length).any() for length in np.unique(self.releases.words.sizes).tolist()):
            raise InvalidValue("words of one symbol have no pairs of symbols: ask for frequencies instead")

    def _inverted(self) -> Estimates:
        question = self._of(None)
        self._refuse_without_answers(question)
        raw, errors, counted = inversion.inverted(self.releases.by_length(), self.mechanism, question)
        return self._estimates(question.labels, raw, errors, INVERSE, counted)

    def _of_edits(self, channel: Channel) -> Estimates:
        if self.method == INVERSE:
            raise InvalidValue(f"the edit channel has no inverse that is known: use {named('method', 'em')}")
        refuse_projected(self.mechanism)
        if channel.only_length_shows:
            raise hopeless(math.inf, len(self.releases))
        kind, model = KINDS[self.question], self._fitted()
        found = answered_edits(model, kind)
        words, letters = len(self.releases), len(self.releases.words.values)
        answers = {"each": letters, "pair": letters - words}.get(kind, words)  # about as many as in the true words
        noise = least_error(channel, max(answers, 1), 2 if kind == "pair" else 1)
        least = np.where(found.proportions > 0, noise, 0.0)
        return self._estimates(self._of(None).labels, *found, model.method, self._counted_edits(), least)

    def _counted_edits(self) -> Floats:
        return counted_edits(self.releases.words, len(self.mechanism.language.alphabet), KINDS[self.question])

    def _estimates(
        self,
        labels: Any,
        raw: Floats,
        errors: Floats,
        method: EstimateMethod,
        counted: Floats,
        least: Floats | None = None,
    ) -> Estimates:
        if len(self.releases) < 2:
            raise InvalidValue("one release tells nothing about how much releases vary: pass at least two")
        return estimates(
            labels,
            raw,
            errors,
            least,
            confidence=self.confidence,
            counted=counted,
            releases=len(self.releases),
            question=self.question,
            method=method,
        )


def fitted_model(releases: Releases, mechanism: Private, progress: ProgressLine | None = None) -> Model | EditModel:
    """The population that makes the releases most likely, of the kind that the mechanism asks for."""
    channel = evidence_of(mechanism, int(releases.words.sizes.max())).channel
    if channel is not None:
        return fitted_edits(releases, mechanism, channel, progress)
    return fitted(releases, mechanism, progress)
