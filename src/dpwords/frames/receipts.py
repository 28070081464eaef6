"""Receipts: what a released file is, for those who work with it. Everything in a receipt is public.

A receipt is a JSON document: the mechanism, ε, k, the distance, the language (its options and a hash), where the words
are, the rule for people, the version of this package, and the number of words. It does not say how many rows were
skipped, nor when or from what it was made. Parquet and Arrow files have it in their metadata, under the key `dpwords`;
beside other files it is `NAME.receipt.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpwords import __version__
from dpwords.core.files import read_text
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.frames.formats import FileForm
from dpwords.frames.streams import Input
from dpwords.mechanisms.private import Private
from dpwords.spaces.choice import space_of

if TYPE_CHECKING:
    import pyarrow as pa

METADATA = b"dpwords"
_FORMAT = 1
OPTIONS = (  # of a release, by their names on the command line; all of them are public
    *("alphabet", "system", "words", "start", "lexicon", "epsilon", "k", "edits", "mechanism", "report", "utility"),
    *("alpha", "calibration", "certificate_time", "any_word", "action", "dot_symbols", "walls", "goal", "rules"),
    *("column", "columns", "case", "symbol", "order", "separator", "id", "by"),
    *("budget", "split", "invalid", "drop_others", "no_header"),
)


def receipt(mechanism: Private, public: Mapping[str, Any], words: int) -> dict[str, Any]:
    """The receipt of so many words that a mechanism has released, with those options of the user that are `OPTIONS`."""
    return _public_facts(mechanism, public) | {"words": words}


def public_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a user's options that a receipt tells, all of them; None for an option that was not given."""
    found = {name: options.get(name) for name in OPTIONS}
    found["rules"] = list(found["rules"] or ()) or None  # a list, as in the JSON file that it is compared with
    found["no_header"] = found["no_header"] or None
    if found["budget"] is not None and found["split"] is None and options.get("ledger") is None:
        found["split"] = "equal"  # a ledger, which the receipt does not tell, would not divide the budget
    return found


def is_of(document: Mapping[str, Any], mechanism: Private, public: Mapping[str, Any]) -> bool:
    """Whether a receipt is one of a release by this mechanism with these options."""
    facts = json.loads(encoded(_public_facts(mechanism, public)))
    return all(document.get(name) == value for name, value in facts.items())


def _public_facts(mechanism: Private, public: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "receipt": _FORMAT,
        "version": __version__,
        "mechanism": type(mechanism).__name__,
        "epsilon": mechanism.epsilon,
        "k": mechanism.k,
        "distance": mechanism.distance,
        "guarantee": str(mechanism.guarantee),
        "language": language_hash(mechanism),
        "options": {name: public[name] for name in OPTIONS if public.get(name) is not None},
    }


def language_hash(mechanism: Private) -> str:
    """A hash that two mechanisms share only if they have the same words and symbols."""
    onto = getattr(mechanism, "onto", None)
    symbols = repr(mechanism.language.alphabet.symbols)
    projected = None if onto is None else (space_of(onto).identity, onto.alphabet.symbols, onto.max_length)
    described = repr((mechanism._space.identity, symbols, projected))
    return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()


def encoded(document: Mapping[str, Any]) -> bytes:
    """The receipt as text."""
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def place_of(output: Path) -> Path:
    """Where the receipt of a file is that has no place for it inside."""
    return Path(f"{output}.receipt.json")


@within_memory()
def read(path: str, named: str | None = None) -> dict[str, Any]:
    """The receipt of a released file. `named` is the file's format if its suffix does not say it.

    Cost: reading the file's metadata, or the receipt beside it.
    """
    form, name = FileForm.of(path, named), Path(path).name
    if form.is_text:
        return decoded(read_text(place_of(Path(path))), name)
    with Input(path) as source:
        return inside(form.reader(source).schema, name)


def inside(schema: pa.Schema, name: str) -> dict[str, Any]:
    """The receipt in the metadata of a table; `name` is that of its file, for messages."""
    metadata = schema.metadata or {}
    if METADATA not in metadata:
        raise NoReceipt(f"{name} has no receipt of dpwords: it was not released by it, or rewritten since")
    return decoded(metadata[METADATA].decode("utf-8", "replace"), name)


def decoded(text: str, name: str) -> dict[str, Any]:
    """The receipt of a file of this name from its text."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("receipt") != _FORMAT:
        raise InvalidValue(
            f"the receipt of {name} is damaged, or of another version of dpwords: release the file again"
        )
    return document


def check_mechanism(document: Mapping[str, Any], mechanism: Private) -> None:
    """Raise `InvalidValue` if a receipt is of releases by another mechanism, or by mechanisms with several ε."""
    told = {"mechanism": type(mechanism).__name__, "epsilon": mechanism.epsilon, "k": mechanism.k}
    for name, value in told.items():
        if document.get(name) != value:
            raise InvalidValue(
                f"the receipt says that {_NAMES[name]} was {document.get(name)}, and the options say {value}: leave "
                "out the options that differ from the release"
            )
    if document.get("language") != language_hash(mechanism):
        raise InvalidValue(
            "the words were released with another alphabet, system or rules than those given now (the hash in the "
            "receipt differs): give the ones of the release, with the same files"
        )
    options = document.get("options")
    if isinstance(options, Mapping) and options.get("budget") is not None and options.get("split") == "equal":
        raise InvalidValue(
            "the words have different ε, because a budget was divided equally over the words of each person: release "
            f"them with one {named('epsilon')}, or with {named('split', 'first')}"
        )


_NAMES = {"mechanism": "the mechanism", "epsilon": "ε", "k": "k"}


class NoReceipt(InvalidValue):
    """A file that could have a receipt in its metadata has none."""
