"""The view of estimates: what many releases tell about the population behind them, beside the plain count.

The file comes with each question and is in memory only while the question is answered. Nothing of it is kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from dpwords import estimate
from dpwords.errors import InvalidValue
from dpwords.estimate import Estimates
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.frames.sources import released as released_words
from dpwords.languages.systems import between, written
from dpwords.models.choosing import MODELS
from dpwords.plots.captions import names, shortened
from dpwords.recipes import code
from dpwords.recipes.questions import PAIRS, QUESTIONS
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import DELIMITED
from dpwords.web import data
from dpwords.web.messages import Message, finite, picked
from dpwords.web.questions import NEEDED, RECIPE, Field, Values, answers, mechanism_of, number, of, source_of
from dpwords.web.workers import ShowProgress

_READ = 0.1  # proportion of the progress when the file is read
_TYPICAL = 30  # rounds of a fit: after so many, half of the progress is shown
_ASKED = tuple(each for each in QUESTIONS if each != "patterns")
_APART = ("rates", "variants")  # whose errors are not added up: no sum of all proportions
_RECEIPT = of(str, 2**20, default=None)
_USUAL = 0.95  # the confidence that the command line and Python assume
_NOT_HERE = {"lexicon": "a lexicon", "action": "an edge attribute", "dot_symbols": "a choice of symbols in a DOT file"}
Receipt = tuple[dict[str, Any], Recipe]  # what it says, and the recipe in it


@answers(recipe=RECIPE, receipt=_RECEIPT)
def look(recipe: Recipe, receipt: str | None, content: bytes) -> Values:
    """The columns and first rows of a released file, where its words seem to be, and what its receipt says."""
    inside = source_of(recipe, content).reader.schema.metadata or {}
    text = receipt or inside.get(receipts.METADATA, b"").decode("utf-8", "replace") or None
    known = _receipt(text, recipe)
    found = data.look(Message({"recipe": _as_written(recipe, known).document()}, content)).values
    if known is None:
        return {**found, "receipt": None}
    document, released = known
    facts = {"text": text, "guarantee": str(document.get("guarantee")), "words": document.get("words")}
    return {**found, "receipt": {**facts, "recipe": released.document()}}


def _one_of(names: Sequence[str], default: Any = NEEDED) -> Field:
    """One of some names."""

    def check(name: str, value: Any) -> str:
        if value not in names:
            raise InvalidValue(f"{name} must be one of {', '.join(names)}")
        return str(value)

    return Field(check, default)


@answers(
    recipe=RECIPE,
    receipt=_RECEIPT,
    question=_one_of(_ASKED),
    confidence=number(_USUAL),
    model=_one_of(MODELS, MODELS[0]),
)
def answer(
    recipe: Recipe,
    receipt: str | None,
    question: str,
    confidence: float,
    model: str,
    content: bytes,
    progress: ShowProgress,
) -> Values:
    """The estimated proportions with their intervals, beside the plain counts of the releases."""
    known = _receipt(receipt, recipe)
    recipe = _as_written(recipe, known)
    mechanism = mechanism_of(recipe)
    if known is not None:
        receipts.check_mechanism(*known, mechanism, recipe)
    said = None if known is None else known[0].get("words")
    words = released_words(source_of(recipe, content), mechanism, Request.of(recipe), said)
    progress(_READ)
    rounds = count(1)

    def fitted(_line: str) -> None:
        done = next(rounds)
        progress(_READ + (1 - _READ) * done / (done + _TYPICAL))

    options: dict[str, Any] = {} if confidence == _USUAL else {"confidence": confidence}
    options |= {} if model == MODELS[0] or question == "lengths" else {"model": model}
    watched = {} if question == "lengths" else {"progress": fitted}  # lengths are counted
    ask: Callable[..., Estimates] = getattr(estimate, question)
    found = ask(words.codes, mechanism, **options, **watched)
    columns = _columns(list(found), question, recipe.separator)
    rows = [
        [labels, *map(finite, (*proportion, found.counted[label]))]
        for labels, (label, proportion) in zip(columns, found.items(), strict=True)
    ]
    together: Values = {}
    if question not in _APART:
        moved = sum(abs(proportion.value - found.counted[label]) for label, proportion in found.items())
        together = {"total_error": finite(found.total_error), "moved": moved}
    return (
        picked(found, "question", "releases", "confidence", "method", "model", "fits")
        | together
        | {
            "rows": rows,
            "names": shortened(names(found, question)),
            "notes": list(found.notes),
            "command": _command(recipe, question, options, known is not None),
            "python": _python(recipe, question, options),
        }
    )


def _columns(labels: Sequence[Any], question: str, separator: str | None) -> list[list[str]]:
    """The symbols or states of labels, for the columns of a table; whole words have one, written as in a file."""
    if question in PAIRS:
        return [[written(each) for each in label] for label in labels]
    if question != "variants":
        return [[written(label)] for label in labels]
    glue = separator or between(labels)
    return [[glue.join(map(written, label))] for label in labels]


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


def _command(recipe: Recipe, question: str, options: Mapping[str, Any], has_receipt: bool) -> str:
    """The command that estimates the same. A receipt says which mechanism it was; else the options do."""
    more: dict[str, Any] = {"input": recipe.input, "question": question}
    more |= {} if recipe.format is None else {"format": recipe.format}
    more |= options
    return code.command(Recipe() if has_receipt else recipe.without("input", "format", "header"), "estimate", more)


def _python(recipe: Recipe, question: str, options: Mapping[str, Any]) -> str:
    """Python code that estimates the same, and prints it."""
    imports, reading, _ = code.files_code(recipe)
    more = "".join(f", {name}={value!r}" for name, value in options.items()).replace("'", '"')
    return code.whole(
        imports,
        [
            *code.language_code(recipe),
            f"mechanism = {code.mechanism_code(recipe, imports)}",
            *reading,
            f"words = dw.frames.words(mechanism, table, {', '.join(code.positions_code(recipe))})",
            f"found = dw.estimate.{question}(words, mechanism{more})",
            "for label, proportion in found.items():",
            '    print(label, proportion, f"counted: {found.counted[label]:.4g}")',
        ],
    )
