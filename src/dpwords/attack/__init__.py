"""What an adversary can guess, who knows the mechanism and how likely each word is: what ε means in practice.

`guess` says it before there is any data: its figures depend on the mechanism, a length and a public prior only.
With released words, `guess` also says what somebody guesses who fits a prior to them.
`posterior` is what somebody concludes about one word from releases of it; it is the adversary's computation, costs no
privacy, and is not a release of anything.

>>> import dpwords as dw
>>> found = dw.attack.guess(dw.Exponential(dw.Words("acgt"), epsilon=3), length=20)
>>> print(found)
words of length 20, seen through one release
of 100 such words, at most 7 are guessed as a whole if all words are equally likely
(without any release, of 1,000,000,000,000 such words, at most 1 is)
17.5 of 20 positions are guessed, on average (without any release, 5)
(computed by a formula)
"""

from __future__ import annotations

from dpwords.attack.guessing import guess, posterior
from dpwords.attack.results import Guess, Posterior, ReleasedGuess, Success
from dpwords.models.priors import Prior as Prior

__all__ = ["Guess", "Posterior", "ReleasedGuess", "Success", "guess", "posterior"]
