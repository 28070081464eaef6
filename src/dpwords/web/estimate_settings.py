"""What a question about releases says: the public language, the mechanism, where the words are, and what is asked.

A receipt that came with the releases fills in the form, and is compared with what the form says in the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from dpwords.core.limits import DEFAULTS as DEFAULT_LIMITS
from dpwords.errors import InvalidValue
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.mechanisms import choice
from dpwords.recipes.table_formats import DELIMITED
from dpwords.web.data_settings import DEFAULTS, LONGEST_LIST, declared, file_of, places_of
from dpwords.web.fields import Fields

if TYPE_CHECKING:
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.private import Private

QUESTIONS = ("frequencies", "visits", "transitions", "dfg", "starts", "ends", "lengths")
_CHOICES = ("utility", "alpha", "calibration")  # of an exponential mechanism
_NOT_HERE = {"lexicon": "a lexicon", "action": "an edge attribute", "dot_symbols": "a choice of symbols in a DOT file"}


@dataclass(frozen=True)
class EstimateSettings:
    """The file and its format, the mechanism that made it, the question, and the options that say the same."""

    name: str
    format: str | None
    mechanism: Private
    request: Request
    question: str
    confidence: float
    options: dict[str, Any]
    receipt: dict[str, Any] | None
    symbols: tuple[str, ...] = ()  # those that a command reads from a file, since they were typed as a list

    @classmethod
    def of(cls, fields: Fields) -> EstimateSettings:
        """From the values of a request; raises `InvalidValue` for what is missing, or differs from the receipt."""
        name, named, header = file_of(fields)
        described, promise = fields.mapping("language"), Fields(fields.mapping("promise"), "the promise")
        where, receipt = places_of(fields), receipt_of(fields, name)
        question, confidence = fields.choice("question", QUESTIONS), fields.number("confidence", 0.95)
        fields.done()
        options = _promise(promise)
        seconds = None if receipt is None else receipt["options"].get("certificate_time")
        seconds = seconds if isinstance(seconds, (int, float)) else None
        text = json.dumps(described, sort_keys=True)
        mechanism = _mechanism(text, tuple(options.items()), seconds)
        _, language, symbols = declared(text)
        if receipt is not None:
            _check(receipt, mechanism, options)
        bare = header is False or (receipt is not None and without_header(receipt, name, named))
        whole = {**language, **where, **options, "no_header": bare}
        return cls(name, named, mechanism, Request(**where), question, confidence, whole, receipt, symbols)


def receipt_of(fields: Fields, name: str) -> dict[str, Any] | None:
    """The receipt that comes with a question about the file of this name, if there is one that estimates can use."""
    text = fields.text("receipt", LONGEST_LIST) if fields.has("receipt") else None
    return None if text is None else checked_receipt(text, name)


def checked_receipt(text: str, name: str) -> dict[str, Any]:
    """The receipt of the file of this name from its text; raises `InvalidValue` if no estimate can be made by it."""
    receipt = receipts.decoded(text, name)
    options = receipt.get("options")
    if not isinstance(options, dict):
        raise InvalidValue(f"the receipt of {name} does not say with which options it was released: release it again")
    if options.get("budget") is not None and options.get("split") != "first":
        raise InvalidValue(
            f"the words of {name} were released with an ε for each person, since they share a budget, and estimates "
            "need one ε for all words: release with one ε, or with the first words of each person"
        )
    if options.get("report") is not None:
        raise InvalidValue(f"{name} has answers of a report, not words: use the command line, dpwords estimate")
    for option, called in _NOT_HERE.items():
        if options.get(option) is not None:
            raise InvalidValue(
                f"{name} was released with {called}, which the page does not have: use the command line, dpwords "
                "estimate"
            )
    return receipt


def without_header(receipt: Mapping[str, Any], name: str, named: str | None) -> bool:
    """Whether a receipt tells that a file of this name and format has no header."""
    return receipt["options"].get("no_header") is True and FileForm.of(name, named).kind in DELIMITED


def form_of(receipt: Mapping[str, Any]) -> dict[str, str]:
    """What the form says if it says the same as a receipt, by the names of its fields. Files have to be chosen anew."""
    options = receipt["options"]
    found = {"k": 1, "edits": "substitutions", "mechanism": None, **{name: DEFAULTS[name] for name in _CHOICES}}
    found |= {name: options[name] for name in found if options.get(name) is not None}
    found |= {"epsilon": receipt.get("epsilon"), "rules": "\n".join(map(str, options.get("rules") or ()))}
    found |= _language(options) | _places(options)
    return {name: "" if value is None else str(value).removesuffix(".0") for name, value in found.items()}


def _language(options: Mapping[str, Any]) -> dict[str, Any]:
    alphabet, system = options.get("alphabet"), options.get("system")
    if isinstance(alphabet, str):
        return {"kind": "symbols"} if alphabet.startswith("@") else {"kind": "alphabet", "alphabet": alphabet}
    if not isinstance(system, str):
        return {}
    if not system.startswith("grid:"):
        return {"kind": "system", "symbols-are": options.get("words"), "start-state": options.get("start")}
    size, _, start = system.removeprefix("grid:").partition("@")
    rows, _, columns = size.partition("x")
    found = {"kind": "grid", "rows": rows, "columns": columns, "start": start or "0,0"}
    return found | {
        "words": options.get("words") or "moves",
        "walls": options.get("walls"),
        "goal": options.get("goal"),
    }


def _places(options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("case") is not None:
        return {"shape": "log", **{name: options.get(name) for name in ("case", "symbol", "order")}}
    first, between, last = str(options.get("columns") or "").partition(":")
    if between:
        return {"shape": "wide", "first": first, "last": last}
    if options.get("column") is not None:
        return {"shape": "column", "column": options["column"], "separator": options.get("separator")}
    return {}


def _promise(fields: Fields) -> dict[str, Any]:
    """ε and everything else that chooses the mechanism, as options of the command line."""
    found = {
        "epsilon": fields.number("epsilon"),
        "k": fields.whole("k", 1, 10**6, default=1),
        "edits": fields.choice("edits", choice.EDITS, default="substitutions"),
        "mechanism": fields.choice("mechanism", choice.MECHANISMS) if fields.has("mechanism") else None,
        "utility": fields.choice("utility", list(choice.UTILITIES), default="best"),
        "alpha": fields.number("alpha", 1.0),
        "calibration": fields.choice("calibration", choice.CALIBRATIONS, default="tight"),
    }
    fields.done()
    return found


@lru_cache(16)
def _mechanism(described: str, promise: tuple[tuple[str, Any], ...], seconds: float | None) -> Private:
    options = dict(promise)
    limits = DEFAULT_LIMITS if seconds is None else replace(DEFAULT_LIMITS, certificate_time=float(seconds))
    return choice.mechanism(
        declared(described)[0],
        options["epsilon"],
        options["k"],
        cast("Edits", options["edits"]),
        options["mechanism"],
        options["utility"],
        options["alpha"],
        cast("Literal['tight', 'textbook']", options["calibration"]),
        limits,
    )


def _check(receipt: Mapping[str, Any], mechanism: Private, options: Mapping[str, Any]) -> None:
    """Raise if the receipt is of another mechanism than the form describes."""
    facts = {
        "ε =": (receipt.get("epsilon"), mechanism.epsilon),
        "k =": (receipt.get("k"), mechanism.k),
        "the distance": (receipt.get("distance"), mechanism.distance),
        "the mechanism": (receipt.get("mechanism"), type(mechanism).__name__),
    }
    for name in _CHOICES:
        facts[f"the {name}"] = receipt["options"].get(name, DEFAULTS[name]), options[name]
    for called, (said, given) in facts.items():
        if said != given:
            raise InvalidValue(f"the receipt says {called} {said}, and the settings say {given}: correct the settings")
    if receipt.get("language") != receipts.language_hash(mechanism):
        raise InvalidValue(
            "the receipt is of a release in another language, with other words, symbols, or another order of them: "
            "correct what could come out"
        )
