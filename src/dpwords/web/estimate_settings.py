"""What a question about releases says, as a recipe: the language, the mechanism, and where the words are.

A receipt that came with the releases fills in the form, and is compared with what the form says in the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpwords.core.files import FileContent
from dpwords.errors import InvalidValue
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.recipes.kinds import NamedFile
from dpwords.recipes.questions import QUESTIONS
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import DELIMITED
from dpwords.web.data_settings import file_of, mechanism_for, places_of
from dpwords.web.fields import Fields
from dpwords.web.settings import LONGEST_LIST, chosen_values, language_values, promise_values

if TYPE_CHECKING:
    from dpwords.mechanisms.private import Private

_ASKED = tuple(each for each in QUESTIONS if each != "patterns")
_CHOICES = ("utility", "alpha", "calibration")  # of an exponential mechanism
_NOT_HERE = {"lexicon": "a lexicon", "action": "an edge attribute", "dot_symbols": "a choice of symbols in a DOT file"}


@dataclass(frozen=True)
class Receipt:
    """A receipt that came with releases, and the recipe in it."""

    document: dict[str, Any]
    recipe: Recipe


@dataclass(frozen=True)
class EstimateSettings:
    """The recipe by which a file was released, the mechanism that made it, and the question."""

    recipe: Recipe
    mechanism: Private
    request: Request
    question: str
    confidence: float
    receipt: Receipt | None

    @classmethod
    def of(cls, fields: Fields) -> EstimateSettings:
        """From the values of a request; raises `InvalidValue` for what is missing, or differs from the receipt."""
        name, named, header = file_of(fields)
        described, promise = fields.mapping("language"), Fields(fields.mapping("promise"), "the promise")
        where, receipt = places_of(fields), receipt_of(fields, name)
        question, confidence = fields.choice("question", _ASKED), fields.number("confidence", 0.95)
        fields.done()
        values = language_values(described) | promise_values(promise)
        values |= chosen_values(promise, ("mechanism", "utility", "calibration"))
        alpha = promise.number("alpha", 1.0)
        values["alpha"] = alpha if alpha != 1.0 else None
        promise.done()
        bare = header is False or (receipt is not None and without_header(receipt, name, named))
        values |= {"input": name, "format": named, "no_header": bare, **where}
        if receipt is not None:
            values["certificate_time"] = receipt.recipe.certificate_time
        recipe = Recipe.of(values)
        mechanism = mechanism_for(recipe)
        if receipt is not None:
            _check(receipt, mechanism, recipe)
        return cls(recipe, mechanism, Request(**where), question, confidence, receipt)


def receipt_of(fields: Fields, name: str) -> Receipt | None:
    """The receipt that comes with a question about the file of this name, if there is one that estimates can use."""
    text = fields.text("receipt", LONGEST_LIST) if fields.has("receipt") else None
    return None if text is None else checked_receipt(text, name)


def checked_receipt(text: str, name: str) -> Receipt:
    """The receipt of the file of this name from its text; raises `InvalidValue` if no estimate can be made by it."""
    document = receipts.decoded(text, name)
    recipe = receipts.recipe_of(document, name)
    if recipe.budget is not None and recipe.split != "first":
        raise InvalidValue(
            f"the words of {name} were released with an ε for each person, since they share a budget, and estimates "
            "need one ε for all words: release with one ε, or with the first words of each person"
        )
    if recipe.report is not None:
        raise InvalidValue(f"{name} has answers of a report, not words: use the command line, dpwords estimate")
    for field, called in _NOT_HERE.items():
        if getattr(recipe, field) is not None:
            raise InvalidValue(
                f"{name} was released with {called}, which the page does not have: use the command line, dpwords "
                "estimate"
            )
    return Receipt(document, recipe)


def without_header(receipt: Receipt, name: str, named: str | None) -> bool:
    """Whether a receipt tells that a file of this name and format has no header."""
    return receipt.recipe.no_header and FileForm.of(name, named).kind in DELIMITED


def needed_file(recipe: Recipe) -> str | None:
    """The name of a file that has to be chosen again, since the receipt does not have it."""
    file = recipe.system if recipe.alphabet is None else recipe.alphabet
    return file.name if isinstance(file, NamedFile) else None


def whole_system(recipe: Recipe) -> dict[str, str] | None:
    """The system of a recipe as the form keeps a file, if it is one that the receipt has in full."""
    file = recipe.system
    return {"name": file.name, "text": file.content.decode()} if isinstance(file, FileContent) else None


def form_of(receipt: Receipt) -> dict[str, str]:
    """What the form says if it says the same as a receipt, by the names of its fields. Files have to be chosen anew."""
    recipe = receipt.recipe
    found: dict[str, Any] = {name: getattr(recipe, name) for name in ("k", "edits", *_CHOICES, "epsilon")}
    found |= {"mechanism": recipe.mechanism_name, "rules": "\n".join(recipe.rules)}
    found |= _language(recipe) | _places(recipe)
    return {name: "" if value is None else str(value).removesuffix(".0") for name, value in found.items()}


def _language(recipe: Recipe) -> dict[str, Any]:
    if isinstance(recipe.alphabet, tuple):
        return {"kind": "symbols", "symbols": "\n".join(recipe.alphabet)}
    if recipe.alphabet is not None:
        named = isinstance(recipe.alphabet, NamedFile)
        return {"kind": "symbols"} if named else {"kind": "alphabet", "alphabet": recipe.alphabet}
    if not isinstance(recipe.system, str):
        return {"kind": "system", "symbols-are": recipe.words, "start-state": recipe.start}
    size, _, start = recipe.system.removeprefix("grid:").partition("@")
    rows, _, columns = size.partition("x")
    found = {"kind": "grid", "rows": rows, "columns": columns, "start": start or "0,0"}
    return found | {"words": recipe.words or "moves", "walls": recipe.walls, "goal": recipe.goal}


def _places(recipe: Recipe) -> dict[str, Any]:
    if recipe.case is not None:
        return {"shape": "log", "case": recipe.case, "symbol": recipe.symbol, "order": recipe.order}
    first, between, last = (recipe.columns or "").partition(":")
    if between:
        return {"shape": "wide", "first": first, "last": last}
    if recipe.column is not None:
        return {"shape": "column", "column": recipe.column, "separator": recipe.separator}
    return {}


def _check(receipt: Receipt, mechanism: Private, recipe: Recipe) -> None:
    """Raise if the receipt is of another mechanism than the form describes."""
    document: Mapping[str, Any] = receipt.document
    facts = {
        "ε =": (document.get("epsilon"), mechanism.epsilon),
        "k =": (document.get("k"), mechanism.k),
        "the distance": (document.get("distance"), mechanism.distance),
        "the mechanism": (document.get("mechanism"), type(mechanism).__name__),
    }
    facts |= {f"the {name}": (getattr(receipt.recipe, name), getattr(recipe, name)) for name in _CHOICES}
    for called, (said, given) in facts.items():
        if said != given:
            raise InvalidValue(f"the receipt says {called} {said}, and the settings say {given}: correct the settings")
    if document.get("language") != receipts.language_hash(mechanism):
        raise InvalidValue(
            "the receipt is of a release in another language, with other words, symbols, or another order of them: "
            "correct what could come out"
        )
