"""The view of estimates: what many releases tell about the population behind them, beside the plain count.

The file comes with each question and is in memory only while the question is answered. Nothing of it is kept here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dpwords.errors import InvalidValue
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.languages.systems import written
from dpwords.recipes import code
from dpwords.recipes.questions import QUESTIONS
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import DELIMITED
from dpwords.web import data
from dpwords.web.fields import Fields
from dpwords.web.messages import Message, finite
from dpwords.web.settings import mechanism_of, recipe_of, source_of
from dpwords.web.workers import ShowProgress

if TYPE_CHECKING:
    from dpwords.core.encoding import Ragged
    from dpwords.estimate import Estimates
    from dpwords.mechanisms.private import Private

_READ = 0.1  # proportion of the progress when the file is read
_TYPICAL = 30  # rounds of a fit: after so many, half of the progress is shown
_PAIRS = ("transitions", "dfg")
_ASKED = tuple(each for each in QUESTIONS if each != "patterns")
_LONGEST_RECEIPT = 2**20  # characters
_USUAL = 0.95  # the confidence that the command line and Python assume
_NOT_HERE = {"lexicon": "a lexicon", "action": "an edge attribute", "dot_symbols": "a choice of symbols in a DOT file"}
Receipt = tuple[dict[str, Any], Recipe]  # what it says, and the recipe in it


def look(question: Message, progress: ShowProgress) -> Message:
    """The columns and first rows of a released file, where its words seem to be, and what its receipt says."""
    fields = Fields(question.values)
    recipe, text = recipe_of(fields), _receipt_text(fields)
    fields.done()
    inside = source_of(recipe, question.content).reader.schema.metadata or {}
    text = text or inside.get(receipts.METADATA, b"").decode("utf-8", "replace") or None
    receipt = _receipt(text, recipe)
    seen = {"recipe": _as_written(recipe, receipt).document()}
    found = data.look(Message(seen, question.content), progress).values
    if receipt is None:
        return Message({**found, "receipt": None})
    document, released = receipt
    facts = {"text": text, "guarantee": str(document.get("guarantee")), "words": document.get("words")}
    return Message({**found, "receipt": {**facts, "recipe": released.document()}})


def answer(question: Message, progress: ShowProgress) -> Message:
    """The estimated proportions with their intervals, beside the plain counts of the releases."""
    fields = Fields(question.values)
    recipe, receipt = recipe_of(fields), _receipt_text(fields)
    asked, confidence = fields.choice("question", _ASKED), fields.number("confidence", _USUAL)
    fields.done()
    known = _receipt(receipt, recipe)
    recipe = _as_written(recipe, known)
    mechanism = mechanism_of(recipe)
    if known is not None:
        receipts.check_mechanism(*known, mechanism, recipe)
    words = _words(recipe, mechanism, question.content, None if known is None else known[0].get("words"))
    progress(_READ)
    found = _estimated(asked, mechanism, confidence, words, progress)
    rows = [
        [
            [written(each) for each in label] if asked in _PAIRS else [written(label)],
            *map(finite, (*proportion, found.counted[label])),
        ]
        for label, proportion in found.items()
    ]
    return Message(
        {
            "question": asked,
            "rows": rows,
            "releases": found.releases,
            "confidence": found.confidence,
            "method": found.method,
            "notes": list(found.notes),
            "total_error": finite(found.total_error),
            "moved": sum(abs(proportion.value - found.counted[label]) for label, proportion in found.items()),
            "command": _command(recipe, asked, confidence, known is not None),
            "python": _python(recipe, asked, confidence),
        }
    )


def _receipt_text(fields: Fields) -> str | None:
    return fields.text("receipt", _LONGEST_RECEIPT) if fields.has("receipt") else None


def _receipt(text: str | None, recipe: Recipe) -> Receipt | None:
    """The receipt of the file of a recipe; raises `InvalidValue` if no estimate can be made by it."""
    if text is None:
        return None
    name = str(recipe.input)
    document = receipts.decoded(text, name)
    released = receipts.recipe_of(document, name)
    if released.shares_budget:
        raise InvalidValue(
            f"the words of {name} were released with an ε for each person, since their words have one budget, and "
            "estimates need one ε for all words: release with one ε, or with the first words of each person"
        )
    if released.report is not None:
        raise InvalidValue(f"{name} has answers of a report, not words: use the command line, dpwords estimate")
    for field, called in _NOT_HERE.items():
        if getattr(released, field) is not None:
            raise InvalidValue(
                f"{name} was released with {called}, which the page does not have: use the command line, dpwords "
                "estimate"
            )
    return document, released


def _as_written(recipe: Recipe, receipt: Receipt | None) -> Recipe:
    """A recipe with what only a receipt tells: that the file has no header, and how long proofs could take."""
    if receipt is None:
        return recipe
    bare = receipt[1].no_header and FileForm.of(str(recipe.input), recipe.format).kind in DELIMITED
    document = {"no_header": bare or None, "certificate_time": receipt[1].certificate_time}
    return recipe.changed(document)


def _words(recipe: Recipe, mechanism: Private, content: bytes, number: int | None) -> Ragged:
    from dpwords.frames.released import released

    found = released(source_of(recipe, content), mechanism, Request.of(recipe), number)
    return cast("Ragged", found.codes)  # the page has no reports, whose answers are no words


def _estimated(
    question: str, mechanism: Private, confidence: float, words: Ragged, progress: ShowProgress
) -> Estimates:
    from dpwords import estimate

    if question == "lengths":
        return estimate.lengths(words, mechanism, confidence=confidence)
    rounds = 0

    def fitted(_line: str) -> None:
        nonlocal rounds
        rounds += 1
        progress(_READ + (1 - _READ) * rounds / (rounds + _TYPICAL))

    ask: Any = getattr(estimate, question)
    found: Estimates = ask(words, mechanism, confidence=confidence, progress=fitted)
    return found


def _command(recipe: Recipe, question: str, confidence: float, has_receipt: bool) -> str:
    """The command that estimates the same. A receipt says which mechanism it was; else the options do."""
    more: dict[str, Any] = {"input": recipe.input, "question": question}
    more |= {} if recipe.format is None else {"format": recipe.format}
    more |= {} if confidence == _USUAL else {"confidence": confidence}
    return code.command(Recipe() if has_receipt else recipe.without("input", "format", "header"), "estimate", more)


def _python(recipe: Recipe, question: str, confidence: float) -> str:
    """Python code that estimates the same, and prints it."""
    imports, reading, _ = code.files_code(recipe)
    sure = "" if confidence == _USUAL else f", confidence={confidence!r}"
    return code.whole(
        imports,
        [
            *code.language_code(recipe),
            f"mechanism = {code.mechanism_code(recipe, imports)}",
            *reading,
            f"words = dw.frames.words(mechanism, table, {', '.join(code.positions_code(recipe))})",
            f"found = dw.estimate.{question}(words, mechanism{sure})",
            "for label, proportion in found.items():",
            '    print(label, proportion, f"counted: {found.counted[label]:.4g}")',
        ],
    )
