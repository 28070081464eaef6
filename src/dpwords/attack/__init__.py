"""What an adversary can guess, who knows the mechanism and how likely each word is: what ε means in practice.

`guess` says it before there is any data: its figures depend on the mechanism, a length and a public prior only.
`posterior` is what somebody concludes about one word from releases of it; it is the adversary's computation, costs no
privacy, and is not a release of anything.

>>> import dpwords as dw
>>> found = dw.attack.guess(dw.Exponential(dw.Words("acgt"), epsilon=3), length=20)
>>> print(found)
words of length 20, seen through one release
of 100 such words, at most 7 are guessed as a whole (without any release, of 1,000,000,000,000 such words, at most 1 is)
17.5 of 20 positions are guessed, on average (without any release, 5)
(computed by a formula)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from dpwords.attack import guessing, known
from dpwords.attack.results import Guess, Posterior, Success
from dpwords.errors import within_memory
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.models.chains import MarkovChain

__all__ = ["Guess", "Posterior", "Success", "guess", "posterior"]
Prior = Literal["uniform"] | MarkovChain | Mapping[Any, Mapping[Any, float]]


@within_memory()
def guess(
    mechanism: Mechanism,
    length: int,
    prior: Prior = "uniform",
    releases: int = 1,
    *,
    samples: int = 4000,
    confidence: float = 0.99,
) -> Guess:
    """What an adversary expects to guess of a private word of this length, given so many independent releases of it.

    The adversary knows the mechanism and the prior: "uniform", all words of the language of this length are equally
    likely, or a Markov chain, that is what `estimate.model` or `estimate.chain` returns, or a table {state: {symbol:
    probability}}. The best guess for each position and the best guess of the whole word are counted separately.

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
    """
    return guessing.guess(mechanism, length, prior, releases, samples, confidence)


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
    return known.posterior(releases, mechanism, prior, length)
