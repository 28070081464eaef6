"""What an adversary can guess, in the view of odds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpwords.attack import guess
from dpwords.errors import TooLarge
from dpwords.web.messages import Message
from dpwords.web.odds import careful_mechanism, public_question
from dpwords.web.settings import SAMPLES

if TYPE_CHECKING:
    from dpwords.web.workers import ShowProgress


def guessed(question: Message, progress: ShowProgress) -> Message:
    """What is expected to be guessed of words of one length through the chosen mechanism, and without a release."""
    described, promise, length = public_question(question)
    progress(0.0)
    title, made = careful_mechanism(described, promise)
    try:
        found = guess(made, length, samples=SAMPLES)
    except TooLarge:
        return Message({"title": title, "length": length, "found": None})
    without: dict[str, Any] = found.without._asdict()
    return Message(
        {
            "title": title,
            "length": length,
            "found": {
                "hits": found.hits if found.exact else found.high.hits,
                "whole": found.high.whole,
                "places": [min(share, 1.0) for share in found.hits_by_place],
                "places_without": list(found.without_by_place),
                "exact": found.exact,
                "of_100": found.of_100,
                "how": found.how,
                "without": without,
            },
        }
    )
