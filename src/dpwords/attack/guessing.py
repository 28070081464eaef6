"""What an adversary can guess, and what is known of one private word: which of the ways to compute it applies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, cast, overload

import numpy as np

from dpwords.attack.formulas import by_formula, margin, promised
from dpwords.attack.listed import LikelyWords, at_drawn_outputs, over_every_output
from dpwords.attack.released import guessed_of_released
from dpwords.attack.results import Guess, Posterior, ReleasedGuess, Success
from dpwords.core.checks import collection, positive_number, whole_number
from dpwords.core.scaled import Floats
from dpwords.core.symbols import symbols_of
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge, within_memory
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import Mechanism, check_mechanism
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain, PriorWords
from dpwords.models.evidence import kind_of_evidence
from dpwords.models.fitting import ProgressLine
from dpwords.models.posteriors import Evidence, Posteriors, Simulated
from dpwords.models.priors import UNIFORM, Prior, assumption_of, chain_of
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import none_of_length

_FEWEST = 100  # simulated words, below which intervals say nothing


@dataclass(frozen=True, eq=False)
class Attack:
    """A mechanism at one length, how likely each private word is, and how many releases of it are seen."""

    mechanism: Mechanism
    length: int
    chain: MarkovChain | None  # None if all words of the language are equally likely
    releases: int = 1
    known: str = UNIFORM  # what the prior assumes, in words

    @classmethod
    def of(cls, mechanism: Mechanism, length: int, prior: object, releases: int = 1) -> Attack:
        """Check the arguments; raises `InvalidValue` if they do not fit together."""
        positions = mechanism._public_length(length)
        if positions < mechanism.least_length:
            raise InvalidValue(f"words have at least {mechanism.least_length} symbols here: use a longer length")
        if positions > mechanism.limits.attacked_length:
            raise TooLarge(
                f"what is guessed is computed for words of at most {mechanism.limits.attacked_length} symbols: use a "
                "shorter length"
            )
        chosen = mechanism.at(positions)
        found = cls(chosen, positions, None, releases)
        if isinstance(prior, str) and prior == "uniform":
            return found
        chain = chain_of(prior, found.language, chosen.limits)
        if chain.shape.lengths and positions not in chain.shape.lengths:
            raise InvalidValue(
                f"the prior was fitted to words of other lengths than {positions}: use one of these lengths, or fit it "
                "with model='chain'"
            )
        return replace(found, chain=chain, known=assumption_of(prior))

    @property
    def language(self) -> Language:
        """The language of the private words: for a channel onto a language, that one."""
        onto = self.mechanism.projected_onto
        return self.mechanism.language if onto is None or self.mechanism.distance == "hamming" else onto

    @cached_property
    def prior(self) -> PriorWords:
        """How likely each private word is."""
        return PriorWords(self.language, self.chain, self.mechanism.limits)

    @cached_property
    def evidence(self) -> Evidence:
        """What releases tell."""
        return kind_of_evidence(self.mechanism, self.length)

    @cached_property
    def listing(self) -> LikelyWords | None:
        """All words and how likely they are, if there are few enough."""
        limits = self.mechanism.limits
        words: Any = None
        if not self.language.alike:
            words = space_of(self.language, "hamming", limits).every(self.length, limits.attacked_words)
        elif self.length * np.log2(len(self.language.alphabet)) <= np.log2(limits.attacked_words):
            words = list(product(range(len(self.language.alphabet)), repeat=self.length))
        if words is None:
            return None
        rows = np.asarray(words, dtype=np.int64)
        if not len(rows):
            raise none_of_length(self.length)
        logs = np.full(len(rows), -np.log(len(rows))) if self.chain is None else self.chain.log_probs(rows)
        if self.language is self.mechanism.language:
            return LikelyWords(rows, logs, rows, len(self.language.alphabet))
        codes, symbols = self.mechanism.language.alphabet.codes, self.language.alphabet.symbols
        return LikelyWords(rows, logs, np.array([codes[symbol] for symbol in symbols])[rows], len(symbols))

    @cached_property
    def positions(self) -> tuple[float, ...]:
        """The chance of guessing each position for somebody who sees nothing. Cost: length · edges."""
        if self.chain is None and self.language.alike:
            return (1 / len(self.language.alphabet),) * self.length
        return tuple(self.prior.known.marginals(self.length).max(axis=1).tolist())

    @cached_property
    def without(self) -> Success:
        """What somebody guesses who sees nothing. Cost: length · edges."""
        hits = math.fsum(self.positions)
        if self.chain is not None:
            return Success(hits, self.chain.likeliest(self.length)[1])
        if self.language.alike:
            return Success(hits, 1 / len(self.language.alphabet) ** self.length)
        return Success(hits, 1 / self.language.count(self.length))

    @cached_property
    def promised(self) -> Success | None:
        """What the promise alone allows."""
        every_word = self.chain is None and self.language.alike
        return promised(self.mechanism, self.length, every_word, self.without, self.releases)

    def result(self, positions: Floats, whole: float, low: Success, high: Success, method: Any, **more: Any) -> Guess:
        """The figures between the ends of intervals, which cannot contradict what is known anyway."""
        bounds = [high, Success(float(self.length), 1.0), *([] if self.promised is None else [self.promised])]
        low = Success(max(low.hits, self.without.hits), max(low.whole, self.without.whole))
        high = Success(min(each.hits for each in bounds), min(each.whole for each in bounds))
        return self._guess(np.clip(positions, 0.0, 1.0), whole, low, high, method, **more)

    def _guess(self, positions: Floats, whole: float, low: Success, high: Success, method: Any, **more: Any) -> Guess:
        known = self.without, self.positions, self.promised
        return Guess(
            self.length,
            self.releases,
            tuple(positions.tolist()),
            whole,
            low,
            high,
            *known,
            method,
            assumed=self.known,
            **more,
        )

    def exactly(self, positions: Floats, whole: float, method: Any) -> Guess:
        """Figures that are known exactly: both ends of the interval are the figures themselves."""
        found = Success(math.fsum(positions.tolist()), whole)
        return self._guess(positions, whole, found, found, method)

    def listed(self, listing: LikelyWords, samples: int, confidence: float) -> Guess:
        """Over all outputs if they are few, otherwise over drawn ones."""
        evidence, limits = self.evidence, self.mechanism.limits
        matrix: Floats | None = None
        try:
            matrix = evidence.log_probs(listing.inputs, evidence.every_output(listing.inputs))
        except TooLarge:
            if evidence.channel is not None:
                samples = min(samples, limits.attacked_alignments // (len(listing.words) * self.releases))
                if samples < _FEWEST:
                    return self.bounded(
                        "there are too many words of this length for an edit channel: use a shorter one"
                    )
        if matrix is not None:
            sets = math.comb(matrix.shape[1] + self.releases - 1, self.releases)  # multisets of outputs
            if sets * len(matrix) <= limits.attacked_outputs:
                positions, whole = over_every_output(listing, matrix, self.releases, limits.batch)
                return self.exactly(positions, whole, "every output")
        return self.simulated(at_drawn_outputs(listing, evidence, matrix, self.releases, samples), confidence)

    def bounded(self, reason: str) -> Guess:
        """What follows from the promise; raises `TooLarge`, for a reason, if nothing is known."""
        if self.promised is None:
            raise TooLarge(reason)
        bound = self.promised
        even = np.full(self.length, bound.hits / self.length)
        return self.result(even, bound.whole, self.without, bound, "bound")

    def given(self, posteriors: Posteriors, samples: int, confidence: float) -> Guess:
        """Over drawn words and outputs, by what is known of each word given its outputs."""
        number = min(samples, self.mechanism.limits.attacked_steps // max(posteriors.cost(), 1))
        if number < _FEWEST:
            return self.bounded(posteriors.too_large)
        most = self.without.whole * posteriors.gain if math.isfinite(posteriors.gain) else 1.0
        return self.simulated(posteriors.simulated(number), confidence, most)

    def simulated(self, found: Simulated, confidence: float, most: float = 1.0) -> Guess:
        """From what is known of drawn words, with intervals. No more than `most` of the whole words can be guessed."""
        number, length = len(found.hits), self.length

        def end(values: Floats, spread: float, sign: int) -> float:
            return float(values.mean()) + sign * margin(values, spread, confidence)

        low = Success(length * end(found.hits, found.hits_spread, -1), end(found.whole, found.whole_spread, -1))
        whole_most = min(end(found.whole_at_most, found.whole_spread, 1), most)
        high = Success(length * end(found.hits_at_most, found.hits_spread, 1), whole_most)
        whole = float(found.whole.mean())  # of a guess that is known, and hardly ever worse than the best one
        return self.result(found.hits_by_place, whole, low, high, "simulation", samples=number, confidence=confidence)


@overload
def guess(
    mechanism: Mechanism,
    length: int,
    prior: Prior | None = None,
    releases: int = 1,
    *,
    samples: int = 4000,
    confidence: float = 0.99,
) -> Guess: ...


@overload
def guess(
    mechanism: Mechanism,
    length: int | None = None,
    prior: Prior | None = None,
    *,
    released: Any,
    samples: int = 4000,
    progress: ProgressLine | None = None,
) -> ReleasedGuess: ...


@within_memory()
def guess(
    mechanism: Mechanism,
    length: int | None = None,
    prior: Prior | None = None,
    releases: int = 1,
    *,
    released: Any = None,
    samples: int = 4000,
    confidence: float = 0.99,
    progress: ProgressLine | None = None,
) -> Guess | ReleasedGuess:
    """What an adversary expects to guess of a private word of this length, given so many independent releases of it.

    The adversary knows the mechanism and the prior: "uniform", all words of the language of this length are equally
    likely, which is the default; "predictable", in each state (on free words, after each symbol) one next symbol comes
    in 9 of 10 cases; or a Markov chain, that is what `estimate.model` or `estimate.chain` returns, or a table {state:
    {symbol: probability}}. The best guess for each position and the best guess of the whole word are counted
    separately.

    With `released`, a list of released words or a column of them, the prior is fitted to these words, as an adversary
    would do it, unless it is given as a chain. The result, a `ReleasedGuess`, is about the words behind the file, each
    seen through its one release: for each released word, the probabilities of the likeliest whole word and of the
    likeliest symbol at each position, averaged over the words, or over `samples` of them if there are more. `length`
    restricts it to words of this length. These figures are right only if the prior is. A prior can be fitted where
    releases tell about each position by itself: through Exponential with linear weights, and Online.

    On free words the result is a formula; where words and outputs can be listed it is a sum over all of them; otherwise
    so many words and their releases are simulated with fixed seeds, and `low` and `high` are the ends of intervals that
    cover the truth with the given confidence. Where nothing of that is possible, the result is a bound that follows
    from the promise, or `TooLarge` is raised. A channel onto a language is taken before its projection, which can only
    tell less, and the words are those of the language. Cost: up to a second for sums; samples · length · edges for
    simulation, a few seconds for 18 steps on a 15 × 15 grid.

    >>> import dpwords as dw
    >>> mechanism = dw.Online(dw.GridWorld(3, 3), epsilon=2)
    >>> once, often = (dw.attack.guess(mechanism, length=4, releases=r) for r in (1, 3))
    >>> round(once.whole, 2), round(often.whole, 2), round(once.without.whole, 3)
    (0.43, 0.68, 0.021)
    >>> free = dw.Exponential(dw.Words("abcd"), epsilon=2)
    >>> found = dw.attack.guess(free, released=free.seeded(1).release_all(["abcd", "abdc"] * 500))
    >>> round(found.whole, 2), round(found.uniform.whole, 2)
    (0.84, 0.26)
    """
    check_mechanism(mechanism)
    number, wanted = whole_number(releases, "releases", 1), whole_number(samples, "samples", _FEWEST)
    if not 0 < positive_number(confidence, "confidence", "confidence=0.99") < 1:
        raise InvalidValue("confidence is between 0 and 1: pass for example confidence=0.99")
    if released is not None:
        if number > 1:
            raise InvalidValue("each of the released words is seen through one release: leave out releases")
        positions = None if length is None else whole_number(length, "length", 1)
        return guessed_of_released(cast("Private", mechanism), released, positions, prior, wanted, progress)
    if length is None:
        raise InvalidValue("a guess is about words of one length: pass length=, or released= with released words")
    attack = Attack.of(mechanism, length, "uniform" if prior is None else prior, number)
    if attack.chain is None:
        found = by_formula(attack.evidence, attack.releases)
        if found is not None:
            return attack.exactly(np.full(attack.length, found.hits / attack.length), found.whole, "formula")
    listing = attack.listing
    few = listing is not None and len(listing.words) * wanted <= attack.mechanism.limits.attacked_alignments
    by_alignments = attack.evidence.channel is not None and attack.releases == 1 and not few
    if listing is not None and not by_alignments and attack.evidence.can_list(attack.length):
        return attack.listed(listing, wanted, confidence)
    posteriors = attack.evidence.posteriors(attack.prior, attack.releases)
    if posteriors is not None:
        return attack.given(posteriors, wanted, confidence)
    remedy = attack.evidence.remedy
    return attack.bounded(
        f"what can be guessed through this mechanism is computed for at most {attack.mechanism.limits.attacked_words} "
        f"words of one length, or for equally likely words and one release: use a shorter length, or {remedy}"
    )


@within_memory()
def posterior(
    releases: Iterable[Any], mechanism: Mechanism, prior: Prior = "uniform", *, length: int | None = None
) -> Posterior:
    """What somebody knows of one private word who has seen releases of it: a list of words, or of answers of a report.

    The result has the probability of each symbol at each position, and the most likely word. `length` is that of the
    private word, for mechanisms that do not keep it. For the prior see `guess`. A channel onto a language is taken
    without its projection, so pass what came out of it before. Cost: words of that length, or length · edges.

    >>> import dpwords as dw
    >>> known = dw.attack.posterior(["abb", "aab"], dw.Exponential(dw.Words("ab"), epsilon=1))
    >>> known.best_by_place[0], round(known.places[0]["a"], 2), round(known.probability, 2)
    ('a', 0.88, 0.39)
    """
    check_mechanism(mechanism)
    listed = list(collection(releases, "releases"))
    if not listed:
        raise InvalidValue("there are no releases: pass a list with at least one")
    if mechanism.distance == "hamming":
        if length is not None:
            raise InvalidValue("words keep their length under this mechanism: leave out length")
        length = len(symbols_of(listed[0]))
    elif length is None:
        raise InvalidValue("the releases do not tell how long the private word is: pass length=")
    attack = Attack.of(mechanism, length, prior, len(listed))
    outputs = []
    shown = attack.mechanism if mechanism.distance == "hamming" else attack.mechanism.without_projection()
    for number, release in enumerate(listed, start=1):
        codes = shown._outputs.codes(release, attack.length)
        if codes is None:
            raise NotInLanguage(f"release {number} cannot have come out of this mechanism: pass releases of one word")
        outputs.append(codes)
    if attack.listing is not None:
        known = attack.listing.known(attack.evidence.log_probs(attack.listing.inputs, outputs).sum(axis=1))
    else:
        posteriors = attack.evidence.posteriors(attack.prior, attack.releases)
        if posteriors is None:
            raise attack.evidence.too_many()
        known = posteriors.known(outputs)
    if known is None:
        raise InvalidValue(
            "no word that the prior allows can have had these releases: check the releases, or use another prior"
        )
    symbols = attack.language.alphabet.symbols
    tables = tuple(dict(zip(symbols, row.tolist(), strict=True)) for row in known.positions)
    word = attack.language.spell(tuple(symbols[code] for code in known.word))
    return Posterior(tables, word, min(known.probability, 1.0), known.error)
