"""What to audit, found from public facts alone: small instances of a language, and two words of it."""

from __future__ import annotations

from typing import NamedTuple

from dpwords.audit.tuning import FREE_LENGTH, NEAR, RATES, UNIFORM
from dpwords.core.checks import whole_number
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import Distance, PromisedDistance, hamming, levenshtein
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.mechanisms.exponential import Exponential
from dpwords.privacy.utilities import Linear
from dpwords.spaces.choice import space_of
from dpwords.spaces.exhaustive import Symbols


class SmallInstance(NamedTuple):
    """A language with few words of one length. Free words have the first `symbols` symbols of the alphabet."""

    language: Language
    length: int
    symbols: int


def small_instance(
    language: Language, length: int, k: int = 1, distance: Distance = "hamming", most: int = 256
) -> SmallInstance:
    """An instance with at most `most` words of one length, which is at least k and at most `length`.

    Of free words, it has as many symbols as possible at three positions (or k, if that is more), and then as many
    positions as possible. Other languages stay as they are, and only the length is smaller. Cost: counting their words.

    >>> small_instance(Words("acgt"), length=20)[1:]
    (4, 4)
    """
    needed = k if distance == "hamming" else 1
    if needed > length:
        raise InvalidValue(f"k is at most the words' length, and k = {k} is beyond it: take a smaller k")
    chosen, symbols = language, len(language.alphabet)
    if language.every_word:
        positions = min(length, max(needed, FREE_LENGTH))
        symbols = max(m for m in range(1, min(symbols, most) + 1) if m == 1 or m**positions <= most)
        chosen = Words(language.alphabet.symbols[:symbols])
    found = None
    for positions in range(needed, length + 1):
        count = chosen.count(positions)
        if count > most:
            break
        found = positions if count > 1 else found
    if found is None:
        raise InvalidValue(
            f"no length from {needed} to {length} has between 2 and {most} words, which are what can be compared here: "
            "choose a smaller k, or another language"
        )
    return SmallInstance(chosen, found, symbols)


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
    rows = space_of(language, "hamming").uniform(length, UNIFORM, SeededSource("pair").open())
    word, *others = language.encoder().words(rows, tuple)
    for rate in RATES:
        near = Exponential(language, rate, utility=Linear(), calibration="textbook").seeded("pair")
        others += near.simulate(word, NEAR)
    between = levenshtein if distance == "levenshtein" else hamming
    own = language.read(word)
    apart = {other: between(own, language.read(other)) for other in others if other != word}
    if not apart:
        raise InvalidValue(f"no second word of length {length} was found: name two words, or choose another length")
    if distance == "any":
        return word, max(apart, key=lambda other: apart[other])
    return word, min(apart, key=lambda other: (apart[other] > k, abs(apart[other] - k)))
