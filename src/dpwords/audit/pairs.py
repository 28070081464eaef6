"""Two words to try an audit on, found from public facts alone."""

from __future__ import annotations

from dpwords.core.checks import whole_number
from dpwords.core.encoding import Encoder
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import PromisedDistance, hamming, levenshtein
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.mechanisms.exponential import Exponential
from dpwords.privacy.utilities import Linear
from dpwords.spaces.choice import space_of
from dpwords.spaces.exhaustive import Symbols

_UNIFORM = 64  # words of which the first is taken
_NEAR = 32  # draws around it, at each rate
_RATES = (2.0, 4.0, 8.0, 16.0)


def public_pair(
    language: Language, length: int, k: int = 1, distance: PromisedDistance = "hamming"
) -> tuple[Symbols, Symbols]:
    """A word of one length and another one near it: as far as k if there is such a word, and otherwise the nearest.

    Where all words are promised alike, as by reports, the other word is the farthest. The pair is found among random
    words, always the same ones. Cost: some hundred draws.

    >>> from dpwords import Words
    >>> public_pair(Words("abc"), length=4, k=2)
    (('a', 'a', 'a', 'a'), ('a', 'a', 'b', 'b'))
    """
    length = whole_number(length, "a length", 1)
    if language.every_word and len(language.alphabet) > 1:
        first, second = language.alphabet.symbols[:2]
        changed = length if distance == "any" else min(k, length)
        return (first,) * length, (first,) * (length - changed) + (second,) * changed
    rows = space_of(language, "hamming").uniform(length, _UNIFORM, SeededSource("pair").open())
    word, *others = Encoder(language.alphabet).words(rows, tuple)
    for rate in _RATES:
        near = Exponential(language, rate, utility=Linear(), calibration="textbook").seeded("pair")
        others += near.simulate(word, _NEAR)
    between = levenshtein if distance == "levenshtein" else hamming
    apart = {other: between(word, other) for other in others if other != word}
    if not apart:
        raise InvalidValue(f"no second word of length {length} was found: name two words, or choose another length")
    if distance == "any":
        return word, max(apart, key=lambda other: apart[other])
    return word, min(apart, key=lambda other: (apart[other] > k, abs(apart[other] - k)))
