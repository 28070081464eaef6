"""The view of estimates: what many releases tell about the population behind them, beside the plain count.

The file comes with each question and is in memory only while the question is answered. Nothing of it is kept here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dpwords.frames.formats import FileForm
from dpwords.languages.systems import written
from dpwords.web import data
from dpwords.web.data_settings import ROWS_ONLY, file_of, listed_symbols
from dpwords.web.estimate_recipes import command, python
from dpwords.web.estimate_settings import (
    EstimateSettings,
    Receipt,
    checked_receipt,
    form_of,
    needed_file,
    whole_system,
    without_header,
)
from dpwords.web.fields import Fields
from dpwords.web.messages import Message, finite
from dpwords.web.workers import ShowProgress

if TYPE_CHECKING:
    from dpwords.core.encoding import Ragged
    from dpwords.estimate import Estimates

_READ = 0.1  # share of the progress when the file is read
_TYPICAL = 30  # rounds of a fit: after so many, half of the progress is shown
_PAIRS = ("transitions", "dfg")


def look(question: Message, progress: ShowProgress) -> Message:
    """The columns and first rows of a released file, where its words seem to be, and what its receipt says."""
    from dpwords.frames.memory import memory_source
    from dpwords.frames.receipts import METADATA

    values = dict(question.values)
    given = values.pop("receipt", None)
    name, named, header = file_of(Fields(values))
    metadata = memory_source(name, question.content, named, header is not False).reader.schema.metadata or {}
    text = given or metadata.get(METADATA, b"").decode("utf-8", "replace") or None
    receipt = None if text is None else checked_receipt(Fields({"receipt": text}).text("receipt", 2**20), name)
    if receipt is not None and without_header(receipt, name, named):
        values["format"] = f"{FileForm.of(name, named).kind}{ROWS_ONLY}"
    found = data.look(Message(values, question.content), progress).values
    about = None if receipt is None else {"text": text, "form": form_of(receipt), **_said(receipt)}
    return Message({**found, "receipt": about})


def answer(question: Message, progress: ShowProgress) -> Message:
    """The estimated shares with their intervals, beside those that the releases would give if they were counted."""
    settings = EstimateSettings.of(Fields(question.values))
    words = _words(settings, question.content)
    progress(_READ)
    found = _estimated(settings, words, progress)
    rows = [
        [
            [written(each) for each in label] if settings.question in _PAIRS else [written(label)],
            *map(finite, (*share, found.counted[label])),
        ]
        for label, share in found.items()
    ]
    return Message(
        {
            "question": settings.question,
            "rows": rows,
            "releases": found.releases,
            "confidence": found.confidence,
            "method": found.method,
            "notes": list(found.notes),
            "total_error": finite(found.total_error),
            "moved": sum(abs(share.value - found.counted[label]) for label, share in found.items()),
            "symbols": listed_symbols(settings.recipe),
            "command": command(settings),
            "python": python(settings),
        }
    )


def _words(settings: EstimateSettings, content: bytes) -> Ragged:
    from dpwords.frames.memory import memory_source
    from dpwords.frames.released import released

    recipe = settings.recipe
    source = memory_source(str(recipe.input), content, recipe.format, not recipe.no_header)
    number = None if settings.receipt is None else settings.receipt.document.get("words")
    found = released(source, settings.mechanism, settings.request, number)
    return cast("Ragged", found.codes)  # the page has no reports, whose answers are no words


def _estimated(settings: EstimateSettings, words: Ragged, progress: ShowProgress) -> Estimates:
    from dpwords import estimate

    if settings.question == "lengths":
        return estimate.lengths(words, settings.mechanism, confidence=settings.confidence)
    rounds = 0

    def fitted(_line: str) -> None:
        nonlocal rounds
        rounds += 1
        progress(_READ + (1 - _READ) * rounds / (rounds + _TYPICAL))

    ask: Any = getattr(estimate, settings.question)
    found: Estimates = ask(words, settings.mechanism, confidence=settings.confidence, progress=fitted)
    return found


def _said(receipt: Receipt) -> dict[str, Any]:
    """What the page tells of a receipt, and the file of symbols or of a system that has to be chosen for it."""
    told = receipt.document
    return {
        "guarantee": str(told.get("guarantee")),
        "words": told.get("words"),
        "needs": needed_file(receipt.recipe),
        "system": whole_system(receipt.recipe),
    }
