"""Receipts: what a released file is, for those who work with it. Everything in a receipt is public.

A receipt is a recipe with facts, as JSON: the recipe without the names of the owner's files, the mechanism, ε, k, the
distance, the promise in words, a hash of the language, the version of this package, and the number of words. Where a
budget was divided, ε and the promise are those of the budget, and the ε of each word is there if all had the same. A
receipt does not say how many rows were skipped, nor when or from what it was made. Parquet and Arrow files have it in
their metadata, under the key `dpwords`; beside other files it is `NAME.receipt.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpwords import __version__
from dpwords.core.checks import LARGEST_EPSILON
from dpwords.core.files import read_text
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.frames.formats import FileForm
from dpwords.frames.streams import Input
from dpwords.mechanisms.private import Private
from dpwords.recipes.description import parsed
from dpwords.recipes.fields import DEFAULTS
from dpwords.recipes.kinds import NamedFile
from dpwords.recipes.recipe import Recipe
from dpwords.spaces.choice import space_of

if TYPE_CHECKING:
    import pyarrow as pa

METADATA = b"dpwords"
_FORMAT = 2  # 1 had options in place of a recipe, and alphabets and systems of files by their names only
_EACH = "epsilon_of_each_word"  # the fact that makes a file with a budget one of words with the same ε
SEVERAL_EPSILONS = (
    "the words have different ε, because a budget is divided equally over people with different numbers of words, and "
    "proportions of a population are estimated from words of one ε: where they are wanted, release with "
    f"{named('split', 'first')} and an {named('epsilon')} of which the budget pays for some words of each person, or "
    f"without a {named('budget')}"
)
_WORDS = 10**15  # at most so many words are stated; more would be no table


def receipt(mechanism: Private, recipe: Recipe, words: int, shared_epsilon: float | None = None) -> dict[str, Any]:
    """The receipt of so many words that a mechanism has released; `recipe` is what `Recipe.for_receipt` returns.

    `shared_epsilon` is the ε of each word where a budget was divided and all words had the same. It follows from the
    numbers of words that people have, which are public.
    """
    each = {} if shared_epsilon is None or not recipe.shares_budget else {_EACH: shared_epsilon}
    return _public_facts(mechanism, recipe) | each | {"words": words}


def is_of(document: Mapping[str, Any], mechanism: Private, recipe: Recipe) -> bool:
    """Whether a receipt is one of a release by this mechanism with this recipe."""
    facts = json.loads(encoded(_public_facts(mechanism, recipe)))
    return all(document.get(name) == value for name, value in facts.items())


def _public_facts(mechanism: Private, recipe: Recipe) -> dict[str, Any]:
    facts = {"receipt": _FORMAT, "version": __version__, **_facts(mechanism)}
    return facts | {"language": language_hash(mechanism), "recipe": recipe.document()}


def _facts(mechanism: Private) -> dict[str, Any]:
    return {
        "mechanism": type(mechanism).__name__,
        "epsilon": mechanism.epsilon,
        "k": mechanism.k,
        "distance": mechanism.distance,
        "guarantee": str(mechanism.guarantee),
    }


def language_hash(mechanism: Private) -> str:
    """A hash that two mechanisms share only if they have the same words and symbols."""
    onto = mechanism.projected_onto
    symbols = repr(mechanism.language.alphabet.symbols)
    projected = None if onto is None else (space_of(onto).identity, onto.alphabet.symbols, onto.max_length)
    described = repr((mechanism._space.identity, symbols, projected))
    return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()


def encoded(document: Mapping[str, Any]) -> bytes:
    """The receipt as text."""
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def path_of(output: Path) -> Path:
    """Where the receipt of a file is that has no place for it inside."""
    return Path(f"{output}.receipt.json")


@within_memory()
def read(path: str, named: str | None = None) -> dict[str, Any]:
    """The receipt of a released file. `named` is the file's format if its suffix does not say it.

    Cost: reading the file's metadata, or the receipt beside it.
    """
    form, name = FileForm.of(path, named), Path(path).name
    if form.is_text:
        return decoded(read_text(path_of(Path(path))), name)
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
        document = parsed(text, name)
    except InvalidValue:
        document = None
    if not isinstance(document, dict) or document.get("receipt") not in (1, _FORMAT):
        raise InvalidValue(
            f"the receipt of {name} is damaged, or of another version of dpwords: release the file again"
        )
    described = "recipe" if document["receipt"] == _FORMAT else "options"
    for fact in document:
        if fact not in (*_FACTS, described):
            raise InvalidValue(
                f"the receipt of {name} has an unknown field {fact[:40]}: take the one that was written with it"
            )
    words = document.get("words")
    if words is not None and (type(words) is not int or not 0 <= words <= _WORDS):
        raise InvalidValue(f"the receipt of {name} is damaged: the number of its words is not one")
    each = document.get(_EACH, 1.0)
    if type(each) not in (int, float) or not 0 < each <= LARGEST_EPSILON:
        raise InvalidValue(f"the receipt of {name} is damaged: the ε of each word is not one")
    return document


def recipe_of(document: Mapping[str, Any], name: str) -> Recipe:
    """The recipe by which each word of a file of this name was released, from its receipt. It reads no files.

    Where a budget was divided and each word had the same ε, it has that ε and no budget.
    """
    found = whole_recipe_of(document, name)
    if _EACH in document and found.shares_budget:
        return found.without("budget", "split").changed({"epsilon": document[_EACH]})
    return found


def whole_recipe_of(document: Mapping[str, Any], name: str) -> Recipe:
    """The recipe in a receipt of a file of this name, with the mechanism's ε if it has none. It reads no files.

    Receipts of the first format have options, in which an alphabet or a system can be the name of a file.
    """
    whose = f"the receipt of {name}"
    values = document.get("recipe" if document["receipt"] == _FORMAT else "options", {})
    if not isinstance(values, Mapping):
        raise InvalidValue(f"{whose} is damaged: release the file again, or describe it by options")
    if document["receipt"] != _FORMAT:
        given = {key: value for key, value in values.items() if value is not None and value != DEFAULTS.get(key)}
        values = {key: _named_file(key, value) for key, value in given.items()}
    epsilon = {} if document.get("epsilon") is None else {"epsilon": document["epsilon"]}
    return Recipe.from_json({**epsilon, **values}, whose).closed(whose)


def _named_file(key: str, value: Any) -> Any:
    """An option of a receipt of the first format; a name of a file as such."""
    if not isinstance(value, str):
        return value
    if key == "alphabet" and value.startswith("@"):
        return NamedFile(Path(value[1:]).name)
    return NamedFile(Path(value).name) if key in ("system", "lexicon") and not value.startswith("grid:") else value


def check_mechanism(document: Mapping[str, Any], released: Recipe, mechanism: Private, recipe: Recipe) -> None:
    """Raise `InvalidValue` if a receipt is of releases by another mechanism, or by mechanisms with several ε.

    `released` is the recipe in it, and `recipe` the one of the mechanism.
    """
    refuse_several_epsilons(recipe)
    check_facts(document, released, mechanism, recipe)


def refuse_several_epsilons(recipe: Recipe) -> None:
    """Raise `InvalidValue` if words that were released by a recipe, in the sense of `recipe_of`, have several ε."""
    if recipe.shares_budget:
        raise InvalidValue(SEVERAL_EPSILONS)


def check_facts(document: Mapping[str, Any], released: Recipe, mechanism: Private, recipe: Recipe) -> None:
    """Raise `InvalidValue` if a receipt is of releases by another mechanism; see `check_mechanism`."""
    now = _facts(mechanism)
    divided = _EACH in document
    document = {**document, "epsilon": document[_EACH]} if divided else document
    _refuse_others({called: (document.get(name), now[name]) for name, called in _NAMES.items()})
    _refuse_others({named(name): (getattr(released, name), getattr(recipe, name)) for name in _CALIBRATING})
    if document.get("language") != language_hash(mechanism):
        raise InvalidValue(
            "the words were released with another alphabet, system or rules than those given now (the hash in the "
            "receipt differs): give the ones of the release, with the same files"
        )
    if document.get("version") == __version__ and not divided:  # others may put it otherwise
        _refuse_others({"the promise": (document.get("guarantee"), now["guarantee"])})


def check_number(document: Mapping[str, Any], found: int, name: str) -> None:
    """Raise `InvalidValue` if a file of this name has more releases than its receipt is about; it may have fewer."""
    words = document.get("words", found)
    if found > words:
        raise InvalidValue(
            f"the receipt of {name} is about {words:,} releases, but the file has {found:,}, so rows of another "
            "release were added: use each released file with its own receipt"
        )


def _refuse_others(facts: Mapping[str, tuple[Any, Any]]) -> None:
    """Raise if what the receipt says about a fact differs from what holds now."""
    for called, (said, now) in facts.items():
        if said != now:
            one, other = _short(said), _short(now)
            raise InvalidValue(
                f"the receipt says that {called} was {'another one' if one == other else one}, and its recipe or what "
                f"is given beside it says {other}: leave out or correct what differs, and take the receipt as it was "
                "written"
            )


def _short(fact: Any) -> str:
    """A fact, of a promise the part before its explanation, in as many characters as a message has room for."""
    return str(fact).partition(": ")[0][:40]


_NAMES = {"mechanism": "the mechanism", "epsilon": "ε", "k": "k", "distance": "the distance"}
_CALIBRATING = ("utility", "alpha", "calibration", "certificate_time")  # fields that no other fact tells
_FACTS = ("receipt", "version", *_NAMES, "guarantee", "language", _EACH, "words")


class NoReceipt(InvalidValue):
    """A file that could have a receipt in its metadata has none."""
