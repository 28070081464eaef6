"""Small instances of a language, on which an exact audit takes a second or so."""

from __future__ import annotations

from typing import NamedTuple

from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language

_PLACES = 3  # places of free words, before larger alphabets are preferred to longer words


class SmallInstance(NamedTuple):
    """A language with few words of one length. Free words have the first `symbols` symbols of the alphabet."""

    language: Language
    length: int
    symbols: int


def small_instance(
    language: Language, length: int, k: int = 1, distance: Distance = "hamming", most: int = 256
) -> SmallInstance:
    """An instance with at most `most` words of one length, which is at least k and at most `length`.

    Of free words, it has as many symbols as possible at three places (or k, if that is more), and then as many places
    as possible. Other languages stay as they are, and only the length is smaller. Cost: counting their words.

    >>> small_instance(Words("acgt"), length=20)[1:]
    (4, 4)
    """
    needed = k if distance == "hamming" else 1
    if needed > length:
        raise InvalidValue(f"k is at most the words' length, and k = {k} is beyond it: take a smaller k")
    chosen, symbols = language, len(language.alphabet)
    if language.every_word:
        places = min(length, max(needed, _PLACES))
        symbols = max(m for m in range(1, min(symbols, most) + 1) if m == 1 or m**places <= most)
        chosen = Words(language.alphabet.symbols[:symbols])
    found = None
    for places in range(needed, length + 1):
        count = chosen.count(places)
        if count > most:
            break
        found = places if count > 1 else found
    if found is None:
        raise InvalidValue(
            f"no length from {needed} to {length} has between 2 and {most} words, which are what can be compared here: "
            "choose a smaller k, or another language"
        )
    return SmallInstance(chosen, found, symbols)
