"""What a recipe says, as values, as JSON, as what a receipt tells, as a language, and as a mechanism."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from dpwords.core.files import FileContent, file_name, read_text
from dpwords.core.limits import DEFAULTS as LIMITS
from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue, TooLarge, named, within_memory
from dpwords.mechanisms import choice
from dpwords.recipes.fields import ATTRIBUTES, DEFAULTS, FIELDS, LANGUAGE, RecipeFields, Section
from dpwords.recipes.kinds import NamedFile, hash_of

if TYPE_CHECKING:
    from dpwords.core.symbols import Word
    from dpwords.languages.language import Language
    from dpwords.languages.systems import TransitionSystem
    from dpwords.mechanisms.private import Private

FORMAT = 1  # of the JSON form
LARGEST_INCLUDED = 2**16  # characters of JSON of a public file that a receipt has in full
_PUBLIC = ("alphabet", "system", "lexicon")  # fields that can name public files
SYSTEM_FIELDS = ("system", "words", "protect", "start", "action", "dot_symbols", "walls", "goal")
_INSTEAD = (  # fields that stand for each other: if one of a group is given, those of the other groups do not count
    (("alphabet",), SYSTEM_FIELDS, ("lexicon",)),
    (("column", "separator"), ("columns",), ("case", "symbol", "order")),
    (("header",), ("no_header",)),
)
_ON_SYSTEMS = ("certificate_time", "any_word")  # which say nothing about other languages
_NOT_FOR_REPORTS = (
    "protect",
    "edits",
    "mechanism",
    "k",
    "utility",
    "alpha",
    "calibration",
    "certificate_time",
    "any_word",
)
_NO_PROOF = "long proofs are for tight calibration on systems, of words that keep their length: not in use here"


@dataclass(frozen=True, repr=False)
class Description(RecipeFields):
    """The fields of a recipe, checked, and what can be made of them. See `Recipe`."""

    given: frozenset[str] = field(default=frozenset(), compare=False)  # fields that somebody wrote, even as defaults
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)  # names of documents that have them

    def __post_init__(self) -> None:
        values = {key: getattr(self, attribute) for key, attribute in ATTRIBUTES.items()}
        for key, value in values.items():
            if value is not None and not (type(value) is type(DEFAULTS[key]) and value == DEFAULTS[key]):
                object.__setattr__(self, ATTRIBUTES[key], FIELDS[key].kind.checked(key, value))
        object.__setattr__(self, "given", self.given | self.values().keys())
        if self.header and self.no_header:
            raise InvalidValue(f"{named('header')} and {named('no_header')} say the opposite: leave out one of them")

    def __repr__(self) -> str:
        shown = {ATTRIBUTES[key]: value for key, value in self.values().items()}
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in shown.items())})"

    @classmethod
    def of(cls, values: Mapping[str, Any], sources: Mapping[str, str] | None = None) -> Self:
        """From values by their names in JSON and on the command line; others, and None, count as not given.

        `sources` are the names of the documents that fields come from, for messages.
        """
        present = {key: value for key, value in values.items() if key in FIELDS and value is not None}
        attributes = {ATTRIBUTES[key]: value for key, value in present.items()}
        return cls(**attributes, given=frozenset(present), sources=sources or {})

    @classmethod
    @within_memory()
    def from_json(cls, document: str | Mapping[str, Any] | os.PathLike[str], name: str = "the recipe") -> Self:
        """From JSON: a text, a file as a `Path`, or what `json.load` returns. Unknown fields are refused.

        Of a receipt it is the recipe in it, which must not name a path. `name` is for messages. Cost: the size of the
        text; files that the recipe names are not read.
        """
        if isinstance(document, os.PathLike):
            name, document = file_name(document), read_text(document)
        elif isinstance(document, str) and not document.lstrip().startswith(("{", "[")):
            raise InvalidValue(f"{name} is not valid JSON: write an object {{…}}, or pass a Path to read a file")
        values = parsed(document, name) if isinstance(document, str) else document
        is_receipt = isinstance(values, Mapping) and isinstance(values.get("recipe"), Mapping)
        values = values["recipe"] if is_receipt else values
        if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
            raise InvalidValue(f'{name} is not a JSON object of fields: write for example {{"alphabet": "a-z"}}')
        if values.get("recipe", FORMAT) != FORMAT:
            raise InvalidValue(f"{name} is of another version of dpwords: write it again with this one")
        for key in values:
            if key != "recipe" and key not in FIELDS:
                from difflib import get_close_matches

                near = "".join(f" to {each}" for each in get_close_matches(key, FIELDS, 1))
                raise InvalidValue(f"{name} has an unknown field {key[:40]}: leave it out, or correct it{near}")
        try:
            found = cls.of(values, dict.fromkeys(values, name))
        except InvalidValue as error:
            raise InvalidValue(f"{name}: {error.message}") from None
        return found.closed(name) if is_receipt else found

    def values(self) -> dict[str, Any]:
        """The values of the fields that are not their defaults, by their names."""
        found = {key: getattr(self, attribute) for key, attribute in ATTRIBUTES.items()}
        return {key: value for key, value in found.items() if value != DEFAULTS[key]}

    def document(self) -> dict[str, Any]:
        """The JSON form as a dict."""
        return {"recipe": FORMAT} | {key: FIELDS[key].kind.document(value) for key, value in self.values().items()}

    def to_json(self) -> str:
        """The JSON form, which `from_json` reads."""
        return json.dumps(self.document(), indent=1, ensure_ascii=False)

    def changed(self, values: Mapping[str, Any]) -> Self:
        """The recipe with other values, by their names. An alphabet replaces a system, and so on.

        A default takes back a value, as if nobody had written it.
        """
        new = {key: value for key, value in values.items() if key in FIELDS and value is not None}
        told = {key for key, value in new.items() if value != DEFAULTS[key]}
        dropped = {
            each
            for groups in _INSTEAD
            for group in groups
            for each in group
            if any(told & set(other) for other in groups if other is not group)
        }
        if "system" in dropped:
            dropped.update(_ON_SYSTEMS)
        kept = {key: getattr(self, ATTRIBUTES[key]) for key in self.given if key not in dropped and key not in new}
        added = {key: value for key, value in new.items() if key in told or key not in self.given}
        found = type(self).of(kept | added, {key: self.sources[key] for key in kept if key in self.sources})
        if "_public" in vars(self) and all(getattr(found, key) == getattr(self, key) for key in LANGUAGE):
            vars(found)["_public"] = self._public
        return found

    def without(self, *keys: str) -> Self:
        """The recipe without the values of some fields."""
        return type(self).of({key: value for key, value in self.values().items() if key not in keys}, self.sources)

    def refuse(self, rule: str, *keys: str) -> None:
        """Raise `InvalidValue` if one of these fields is given, although it has no effect; `rule` says why."""
        where = {key: f" (in {name})" for key, name in self.sources.items()}
        idle = [named(key) + where.get(key, "") for key in FIELDS if key in keys and key in self.given]
        if idle:
            raise InvalidValue(f"{rule}: leave out {', '.join(idle)}")

    def for_receipt(self) -> Self:
        """What stands in a receipt: no names of the owner's files, and public files in full if they are small.

        Cost: that of `language`.
        """
        values = {key: value for key, value in self.values().items() if FIELDS[key].in_receipt}
        if self.shares_budget:
            values.pop("epsilon", None)  # no word has it
        for key in _PUBLIC:
            if self._is_file(key):
                values |= self._included(key)
        return type(self).of(values)

    def _is_file(self, key: str) -> bool:
        value = getattr(self, key)
        if isinstance(value, (NamedFile, FileContent)):
            return True
        if not isinstance(value, str):
            return False
        return value.startswith("@") if key == "alphabet" else not value.startswith("grid:")

    def _included(self, key: str) -> dict[str, Any]:
        """What stands for the content of a public file: all of it, or its name and hash if it is long and on a disk."""
        from dpwords.recipes.languages import public_content

        plain, value = self.without_rules(), getattr(self, key)
        found = public_content(key, plain, self._public[0])
        if not isinstance(value, FileContent) and len(json.dumps(found)) > LARGEST_INCLUDED:
            return {key: NamedFile(file_name(getattr(value, "name", str(value)).lstrip("@")), hash_of(found))}
        states = {"words": "states"} if plain.symbols_are == "states" and plain.spelling is None else {}
        idle = {"start": None, "action": None, "dot_symbols": None} if key == "system" else {}
        return idle | found | states

    def closed(self, name: str) -> Self:
        """The recipe itself, if it reads no file; for recipes that come from elsewhere, in something of this name."""
        for key in _PUBLIC:
            if isinstance(getattr(self, key), str) and self._is_file(key):
                grid = ", or be a grid" if key == "system" else ""
                raise InvalidValue(f"{name} must not name a path: {named(key)} has to be written out{grid}")
        return self

    def located(self, folder: Path) -> Self:
        """The recipe with paths for the files that it only names: they may lie here, or in this folder."""
        values = {}
        for key in _PUBLIC:
            value = getattr(self, key)
            if isinstance(value, NamedFile) and value.path is None:
                paths = [path for path in (Path(value.name), folder / value.name) if path.is_file()]
                if not paths:
                    path = "@PATH" if key == "alphabet" else "PATH"
                    raise InvalidValue(
                        f"the recipe names the file {value.name}, which is not here: say where, with {named(key, path)}"
                    )
                values[key] = replace(value, path=str(paths[0]))
        return self.changed(values) if values else self

    @property
    def shares_budget(self) -> bool:
        """Whether the words of a person share a budget equally."""
        return self.budget is not None and self.split != "first"

    @property
    def most_of_a_word(self) -> float | None:
        """The ε of the mechanism: the most that a word may spend. A shared budget is that of an only word."""
        return self.budget if self.shares_budget else self.epsilon

    @cached_property
    def _public(self) -> tuple[TransitionSystem | None, Language, Language]:
        """The system, if there is one, the language without rules, and the language."""
        from dpwords.recipes.languages import languages_of

        return languages_of(self)

    def without_rules(self) -> Language:
        """The language that it describes, if there were no rules."""
        return self._public[1]

    def broken_rule(self, word: Word) -> str | None:
        """The first rule that a word breaks, if it is in the language but for the rules; None if there is none."""
        from dpwords.recipes.notation import rule

        plain = self.without_rules()
        rules = self.rules if plain.accepts(word) else ()
        return next((text for text in rules if not rule(text, plain).accepts(word)), None)

    def language(self) -> Language:
        """The language that it describes. Cost: reading the files that it names, once; building the language."""
        return self._public[2]

    @property
    def chosen(self) -> str:
        """The name of the mechanism, that of the default one if none is chosen."""
        edits = cast(Any, self.edits)
        return self.mechanism_name or choice.default_name(self.language(), edits, self.utility, self.calibration)

    def mechanism(self, limits: Limits = LIMITS) -> Private:
        """The mechanism that it describes; raises `InvalidValue` for choices that have no effect on it.

        Cost: that of `language`, and of building the mechanism.
        """
        language = self.language()
        epsilon = self.most_of_a_word
        if epsilon is None:
            raise InvalidValue(
                f"{named('epsilon')} is missing: say what each word may spend, as in {named('epsilon', 3)}"
            )
        if self.report is not None:
            self.refuse(f"{named('report')} is a mechanism of its own, for whole words", *_NOT_FOR_REPORTS)
            from dpwords.mechanisms.report import Report

            return Report(language, epsilon, cast(Any, self.report))
        if self.chosen != "exponential":
            rule = f"{named('mechanism', self.chosen)} leaves no utility to choose"
            self.refuse(rule, "utility", "alpha", "calibration")
        elif self.utility != "inverse":
            self.refuse(f"{named('alpha')} is the constant of {named('utility', 'inverse')}", "alpha")
        proves = self.chosen in ("best", "exponential", "projected") and self.utility != "inverse"
        if not proves or self.calibration == "textbook":
            self.refuse(_NO_PROOF, "certificate_time")
        limits = self.limits(limits)
        if self.mechanism_name == "best" and self.edits == "all":
            from dpwords.accuracy import best

            made = best(language, epsilon, self.k, length=None, distance="levenshtein")
        else:
            made = choice.mechanism(
                language,
                epsilon,
                self.k,
                cast(Any, self.edits),
                self.mechanism_name,
                self.utility,
                self.alpha,
                cast(Any, self.calibration),
                limits,
            )
        self.inside(made)  # raises
        return made

    def limits(self, limits: Limits = LIMITS) -> Limits:
        """The limits, with the time for certificates that it has."""
        if self.certificate_time is None:
            return limits
        if self.language().alike or self.language().listed or self.edits == "all":
            self.refuse(_NO_PROOF, "certificate_time")
        return replace(limits, certificate_time=self.certificate_time)

    def inside(self, mechanism: Private) -> Language | None:
        """The language that words have to be in, although the mechanism would take any word over its symbols."""
        if mechanism.projected_onto in (None, mechanism.language):
            self.refuse(f"only {named('edits', 'all')} on a system takes other words than its own", "any_word")
            return None
        return None if self.any_word else mechanism.projected_onto

    def table_values(self) -> dict[str, Any]:
        """Where the words are, whose they are, and what happens to bad rows, by name: all fields but those of files."""
        names = [key for key, each in FIELDS.items() if each.section is Section.TABLE and each.in_receipt]
        return {name: getattr(self, name) for name in (*names, "separator") if name != "no_header"}


def parsed(text: str, name: str) -> Any:
    """A JSON document in which no key is repeated, and no number is infinite or undefined."""
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_no_number)
    except (json.JSONDecodeError, RecursionError):
        raise InvalidValue(f"{name} is not valid JSON: is it cut off?") from None
    except ValueError:
        raise InvalidValue(f"{name} has a key twice, or a number that is not finite or very long: correct it") from None
    except MemoryError:
        raise TooLarge(f"{name} is too large: describe less") from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _no_number(_text: str) -> Any:
    raise ValueError


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
