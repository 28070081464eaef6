"""The view of words: releases of one word, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpwords.bridges.notation import Notation
from dpwords.languages.systems import written
from dpwords.plots.marks import marks
from dpwords.web.fields import Fields
from dpwords.web.messages import Message
from dpwords.web.settings import language, mechanism

if TYPE_CHECKING:
    from dpwords.mechanisms.private import Private

LONGEST = 400  # symbols of a word on the page


def release(question: Message) -> Message:
    """Several releases of a word with their changes marked, and the public figures for words of its length."""
    fields = Fields(question.values)
    described, promise = fields.mapping("language"), fields.mapping("promise")
    text, draws = fields.text("word", LONGEST), fields.whole("draws", 1, 24, default=12)
    fields.done()
    public = language(described)
    chosen = mechanism(described, promise)
    word = Notation(public).read(text)
    released = chosen.release_all([word] * draws)
    return Message({"releases": [_shown(chosen, word, each) for each in released], **_figures(chosen, len(word))})


def _shown(chosen: Private, word: Any, released: Any) -> list[list[str]]:
    return [[written(mark.symbol), mark.change] for mark in marks(word, released, chosen.distance)]


def _figures(chosen: Private, length: int) -> dict[str, Any]:
    return {
        "expected": chosen.expected_distance(length=length),
        "distribution": chosen.distance_distribution(length=length),
        "promise": str(chosen.guarantee),
    }
