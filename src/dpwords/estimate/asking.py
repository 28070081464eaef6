"""From releases to the answer of a question: which method applies to which mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import InvalidValue, TooLarge, named, within_memory
from dpwords.estimate import inversion
from dpwords.estimate.edit_answers import answered_edits, counted_edits, least_error, length_errors
from dpwords.estimate.edit_inversion import inverted_edits, is_invertible
from dpwords.estimate.questions import RunQuestion, counted_proportions, followed, of_states, of_symbols
from dpwords.estimate.rates import Rates, rates
from dpwords.estimate.results import (
    Estimates,
    FoundAnswers,
    errors_rough,
    estimates,
    hopeless,
    interval_factor,
    sampling_errors,
)
from dpwords.estimate.tuning import CLEARLY, NEARLY_TRUE, ROUGH, UNRELIABLE
from dpwords.estimate.uncertainty import answered, disagreement, inner_chances, scaled_to, unclear
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import check_mechanism
from dpwords.mechanisms.private import Private
from dpwords.models.chains import hidden_runs
from dpwords.models.choosing import AUTO as ANY
from dpwords.models.choosing import ModelName, checked_model, fitted
from dpwords.models.edit_model import EditModel, explained_lengths, fitted_edits, refuse_projected
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import EstimateMethod, MethodName, ProgressLine
from dpwords.models.hidden import Hidden
from dpwords.models.population import Model
from dpwords.models.refined import ModelKind
from dpwords.models.releases import Releases
from dpwords.models.tuning import FEWEST_COMPARED
from dpwords.recipes.questions import KINDS
from dpwords.spaces.edit_channel import Channel

AUTO, INVERSE, EM, *_ = EstimateMethod
METHODS = (AUTO, INVERSE, EM)
_OF_STATES = ("visits", "transitions")


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about the population behind some releases, and how it is to be answered."""

    question: str
    releases: Releases
    mechanism: Private
    method: MethodName = AUTO
    confidence: float = 0.95
    model: ModelName | Model | EditModel | None = None
    progress: ProgressLine | None = None

    def __post_init__(self) -> None:
        interval_factor(self.confidence)
        if self.method not in METHODS:
            raise InvalidValue("method is 'auto', 'inverse' (free words) or 'em'")
        if isinstance(self.model, str) or not (self.model is None or hasattr(self.model, "fitted_to")):
            checked_model(self.model)
        if self.method == INVERSE and self.model not in (None, ANY):
            raise InvalidValue(f"an inversion needs no model: leave out {named('method')} or {named('model')}")
        if self.question == "visits" and self.mechanism.language.system is None:
            raise InvalidValue("only runs of a system visit states: ask for frequencies of symbols instead")

    @cached_property
    def channel(self) -> Channel | None:
        """The edit channel that the words went through; None if they keep their length."""
        return evidence_of(self.mechanism, int(self.releases.words.sizes.max(initial=0))).channel

    @within_memory()
    def answer(self) -> Estimates:
        """The estimated proportions."""
        return self._estimates(self._found())

    @within_memory()
    def rates(self) -> Rates:
        """The probability of each step in its state: rows of the transition matrix, with their covariances."""
        self._refuse_one()
        return rates(self._found(joint=True), self.confidence, len(self.releases))

    def _found(self, joint: bool = False) -> FoundAnswers:
        """The answers by the method that applies; with `joint`, also their covariances."""
        if self.channel is not None:
            return self._of_edits(self.channel, joint)
        if self._needs_model:
            return self._modelled(self._of(hidden_runs(self.mechanism.language, self.mechanism.limits)), joint)
        question = self._of(None)
        inverse = self._inverted(question, joint)
        if self.method == INVERSE or not self.mechanism.is_linear:
            return inverse
        if self.is_given or (self.may_gain and not self._is_sure(inverse, question)):
            return self._better(inverse, self._of(hidden_runs(self.mechanism.language, self.mechanism.limits)), joint)
        return inverse

    @property
    def _needs_model(self) -> bool:
        """Whether only a model can answer, or is asked for; raises `InvalidValue` if an inversion is asked for, too."""
        alike = self.mechanism.language.alike
        if self.method == INVERSE and not alike:
            raise InvalidValue(
                f"inversion is biased on a system, where a step depends on the one before: use {named('method', 'em')}"
            )
        return not alike or self.method == EM or (isinstance(self.model, str) and self.model != ANY)

    @property
    def may_gain(self) -> bool:
        """Whether there are enough releases to choose a model by, and a chain has so few steps that it has errors."""
        symbols, limits = len(self.mechanism.language.alphabet), self.mechanism.limits
        return len(self.releases) >= FEWEST_COMPARED and symbols * (symbols + 1) <= limits.interval_parameters

    @property
    def is_given(self) -> bool:
        """Whether a fitted model is passed."""
        return self.model is not None and not isinstance(self.model, str)

    def _is_sure(self, inverse: FoundAnswers, question: RunQuestion) -> bool:
        """Whether no model can be clearly more certain, since no answer is more certain than that of true words."""
        noise = inversion.noise_errors(self.releases.by_length(), self.mechanism, question, inverse.raw)
        sampling = np.sqrt(np.maximum(inverse.errors**2 - noise**2, 0.0))
        return bool(sampling.sum() >= CLEARLY * inverse.errors.sum())

    def _better(self, inverse: FoundAnswers, question: RunQuestion, joint: bool) -> FoundAnswers:
        """A model in place of an inversion, if nothing contradicts it, and if it is passed, or clearly more certain."""
        try:
            if not self.is_given and self._unsure(replace(self, model=ModelKind.CHAIN)._modelled(question), inverse):
                return inverse  # and other models have more parameters
            found = self._modelled(question, joint)
        except TooLarge:
            return inverse
        return self._surer(found, inverse)

    def _surer(self, found: FoundAnswers, inverse: FoundAnswers) -> FoundAnswers:
        """The answers of a model, if it is passed or clearly more certain, and nothing contradicts it; else these."""
        unsure = not self.is_given and self._unsure(found, inverse)
        return inverse if unsure or found.misfit is not None or inverse.contradicts(found) else found

    @staticmethod
    def _unsure(found: FoundAnswers, inverse: FoundAnswers) -> bool:
        """Whether a model is not clearly more certain than an inversion, or does not say how certain it is."""
        return bool(np.isnan(found.errors).any()) or found.total_error() > CLEARLY * inverse.total_error()

    def _answers(self, question: RunQuestion) -> Floats:
        """For each proportion, of how many answers in the true words it is one."""
        sizes = [question.sizes(length) * len(rows) for length, rows in self.releases.by_length().items()]
        return np.asarray(np.sum(sizes, axis=0))

    def counted(self) -> dict[Any, float]:
        """The proportions among the words as they are, by label, as if they were not noisy. Cost: their symbols."""
        if self.channel is not None:
            labels, proportions = self._of(None).labels, self._counted_edits()
        else:
            population = hidden_runs(self.mechanism.language, self.mechanism.limits)
            question = self._of(population)
            labels, proportions = question.labels, counted_proportions(self.releases.by_length(), population, question)
        return dict(zip(labels, proportions.tolist(), strict=True))

    @within_memory()
    def by_position(self) -> list[Estimates]:
        """The proportions of the symbols at each position, a table for each position."""
        if self.channel is not None:
            raise InvalidValue(f"words of the edit channel have no fixed positions: leave out {named('per_place')}")
        alphabet, positions = self.mechanism.language.alphabet, int(self.releases.words.sizes.max())
        question = of_symbols(alphabet, "position", positions)
        if self._needs_model:
            found = self._modelled(question)
        else:
            found = self._inverted(question)
            if self.is_given and self.mechanism.is_linear and self.method != INVERSE:
                found = self._better(found, question, joint=False)
        return [self._estimates(each) for each in found.split(positions, alphabet.symbols)]

    @within_memory()
    def patterns(self, patterns: Any) -> Estimates:
        """The proportion of words that have each of some patterns."""
        if self.channel is not None:
            raise InvalidValue(
                "patterns are not estimated from releases of the edit channel, which changes lengths: ask for pairs of "
                f"symbols (dfg), or release words that keep their length: leave out {named('edits', 'all')}"
            )
        if self.method == INVERSE:
            raise InvalidValue(f"patterns are estimated by a model only: use {named('method', 'em')}")
        if isinstance(patterns, (str, Language)) or not isinstance(patterns, Iterable):
            raise InvalidValue("pass a list of patterns, as in ['ab', rules.contains('c')]")
        wanted = [tuple(each) if isinstance(each, list) else each for each in patterns]
        if not wanted:
            raise InvalidValue("there is no pattern to look for: pass at least one")
        model, words, found, plain = self.fitted(), self.releases.by_length(), [], []
        for pattern in wanted:
            evidence, population, question = followed(model, pattern)
            found.append(answered(evidence, population, question, model.chances)[:2])
            plain.append(counted_proportions(words, population, question))
        proportions, errors = map(np.concatenate, zip(*found, strict=True))
        least = np.full(len(proportions), self._promised_error())
        counted = np.concatenate(plain)
        return self._estimates(
            FoundAnswers.of_model(model, wanted, proportions, np.maximum(errors, least), counted, least)
        )

    @within_memory()
    def lengths(self) -> Estimates:
        """The proportion of words of each length."""
        sizes = self.releases.words.sizes
        counts = np.bincount(sizes).astype(np.float64)
        plain = counts / counts.sum()
        if self.channel is not None:
            refuse_projected(self.mechanism)
            proportions, matrix = explained_lengths(counts, self.channel, self.mechanism.limits)
            errors = length_errors(proportions, matrix, float(counts.sum()))
            plain = np.append(plain, np.zeros(len(proportions) - len(plain)))
            return self._estimates(FoundAnswers(range(len(proportions)), proportions, errors, EM, plain))
        errors = sampling_errors(plain, counts.sum())
        return self._estimates(FoundAnswers(range(len(plain)), plain, errors, EstimateMethod.COUNTED, plain))

    def fitted(self) -> Any:
        """The model that was passed, if it was fitted to these releases of this mechanism, or a fitted one."""
        if self.model is None or isinstance(self.model, str):
            return fitted_model(self.releases, self.mechanism, ANY if self.model is None else self.model, self.progress)
        if getattr(self.model, "fitted_to", None) != self.releases.fingerprint(self.mechanism):
            raise InvalidValue(
                "this model was fitted to other releases, or for another mechanism: leave it out, or fit one to these "
                "releases"
            )
        return self.model

    def _modelled(self, question: RunQuestion, joint: bool = False) -> FoundAnswers:
        """The answers of a model, with errors that are not below those of the noise alone."""
        self._refuse_without_answers(question)
        model = self.fitted()
        proportions, errors, covariance = answered(model.evidence, model.population, question, model.chances, joint)
        if self.mechanism.language.alike:
            inner = answered(model.evidence, model.population, question, inner_chances(model))
            errors = np.maximum(errors, inner.errors)
        errors = np.hypot(errors, disagreement(model.rivals, question))
        errors = np.hypot(errors, unclear(proportions, errors, question))
        words = self.releases.by_length()
        least = np.where(proportions > 0, self._promised_error(), 0.0)
        if self.mechanism.language.alike:
            noise = inversion.least_errors(words, self.mechanism, question)
            if errors_rough(noise):  # releases tell so little that the likelihood is nearly flat
                least = np.maximum(least, noise)
        plain = counted_proportions(words, model.shape.base, question)
        labels, wide = question.labels, np.maximum(errors, least)
        covariance = None if covariance is None else scaled_to(covariance, wide)
        answers = self._answers(question)
        found = FoundAnswers.of_model(model, labels, proportions, wide, plain, least, covariance, answers)
        if model.method is EstimateMethod.CORRECTED:
            return replace(found, most=UNRELIABLE if model.misfit is None else UNRELIABLE / 2)
        of_runs = not self.mechanism.language.alike and question.kind != "position"
        far = of_runs and found.total_error() > ROUGH and 4 * changed(self.mechanism, words) > NEARLY_TRUE
        return replace(found, most=ROUGH) if far else found

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

    def _inverted(self, question: RunQuestion, joint: bool = False) -> FoundAnswers:
        self._refuse_without_answers(question)
        words = self.releases.by_length()
        raw, errors, counted, covariance = inversion.inverted(words, self.mechanism, question, joint)
        answers = self._answers(question)
        return FoundAnswers(question.labels, raw, errors, INVERSE, counted, covariance=covariance, answers=answers)

    def _of_edits(self, channel: Channel, joint: bool) -> FoundAnswers:
        """The answers from releases of the edit channel: inverted, or those of a chain if that is clearly better."""
        chosen = isinstance(self.model, str) and self.model != ANY
        if chosen and self.model != ModelKind.CHAIN:
            raise InvalidValue(
                f"the edit channel moves positions, and only a chain is fitted to its releases: leave out "
                f"{named('model', str(self.model))}"
            )
        refuse_projected(self.mechanism)
        if channel.only_length_shows:
            raise hopeless(math.inf, len(self.releases))
        if self.method == INVERSE and not is_invertible(channel):
            raise InvalidValue(
                f"half of the symbols or more are deleted, which cannot be inverted: use {named('method', 'em')}, or "
                "release with a larger ε"
            )
        if self.method == EM or chosen or not is_invertible(channel):
            return self._modelled_edits(channel, joint)
        words, kind, limits = self.releases.words, KINDS[self.question], self.mechanism.limits
        raw, errors, counted, covariance = inverted_edits(words, channel, kind, limits, joint)
        labels, answers = self._of(None).labels, self._edited_answers(len(raw))
        inverse = FoundAnswers(labels, raw, errors, INVERSE, counted, covariance=covariance, answers=answers)
        if self.method == INVERSE:
            return inverse
        if not np.isfinite(errors).all():  # there is not even an answer to count: the model says why
            return self._modelled_edits(channel, joint)
        try:
            return self._surer(self._modelled_edits(channel, joint), inverse)
        except TooLarge:
            return inverse

    def _modelled_edits(self, channel: Channel, joint: bool) -> FoundAnswers:
        kind, model = KINDS[self.question], self.fitted()
        proportions, errors, covariance = answered_edits(model, kind, joint)
        answers = self._edited_answers(len(proportions))
        noise = least_error(channel, float(answers[0]), 2 if kind == "pair" else 1)
        least, labels = np.where(proportions > 0, noise, 0.0), self._of(None).labels
        counted = self._counted_edits()
        return FoundAnswers.of_model(model, labels, proportions, errors, counted, least, covariance, answers)

    def _edited_answers(self, number: int) -> Floats:
        """About how many answers there are in the true words, for each of so many proportions."""
        words, letters = len(self.releases), len(self.releases.words.values)
        answers = {"each": letters, "pair": letters - words}.get(KINDS[self.question], words)
        return np.full(number, float(max(answers, 1)))

    def _counted_edits(self) -> Floats:
        return counted_edits(self.releases.words, len(self.mechanism.language.alphabet), KINDS[self.question])

    def _refuse_one(self) -> None:
        if len(self.releases) < 2:
            raise InvalidValue("one release tells nothing about how much releases vary: pass at least two")

    def _estimates(self, found: FoundAnswers) -> Estimates:
        self._refuse_one()
        return estimates(found, confidence=self.confidence, releases=len(self.releases), question=self.question)


def changed(mechanism: Private, words: dict[int, Codes]) -> float:
    """The proportion of the symbols of such words that is changed, on average over the language. It is public."""
    symbols = sum(rows.size for rows in words.values())
    return sum(mechanism.within(n).expected_distance(length=n) * len(rows) for n, rows in words.items()) / symbols


def answered_question(question: str, releases: Any, mechanism: Private, **options: Any) -> Estimates:
    """The proportions that a question asks for, from words or from answers of a report; see `Asked` for the options."""
    check_mechanism(mechanism)
    if mechanism.answers is not None:
        return inversion.answered_report(releases, mechanism.answers, question, **options)
    return Asked(question, Releases.of(releases, mechanism), mechanism, **options).answer()


def counted_question(question: str, words: Ragged, mechanism: Private) -> dict[Any, float]:
    """The same proportions among true words, given as codes, which cost nothing to know. Cost: their symbols."""
    if mechanism.answers is not None:
        return inversion.reported_proportions(words, mechanism.answers)
    return Asked(question, Releases(words), mechanism).counted()


def fitted_model(
    releases: Releases, mechanism: Private, model: ModelName = ANY, progress: ProgressLine | None = None
) -> Model | EditModel:
    """The population that makes the releases most likely, of the kind that the mechanism asks for."""
    kind = checked_model(model)
    channel = evidence_of(mechanism, int(releases.words.sizes.max())).channel
    if channel is not None:
        return fitted_edits(releases, mechanism, channel, progress)
    return fitted(releases, mechanism, kind, progress)
