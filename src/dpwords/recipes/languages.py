"""The language that a recipe describes, and the content of its public files as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from dpwords.bridges.system_files import read_system
from dpwords.core.files import AnyFile, FileContent
from dpwords.errors import InvalidValue, named
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.languages.lexicon import Lexicon
from dpwords.languages.systems import GridWorld, TransitionSystem, written
from dpwords.recipes.fields import RecipeFields
from dpwords.recipes.kinds import NamedFile, hash_of
from dpwords.recipes.notation import alphabet_symbols, grid, lines_of, rule


def languages_of(recipe: RecipeFields) -> tuple[TransitionSystem | None, Language, Language]:
    """The system of a recipe, before its states are made symbols; the language without rules; and the language."""
    given = [each for each in (recipe.alphabet, recipe.system, recipe.lexicon) if each is not None]
    if len(given) != 1:
        raise InvalidValue(
            f"exactly one of {named('alphabet')}, {named('system')} and {named('lexicon')} must say what may be "
            f"released ({len(given)} are given): write for example {named('alphabet', 'a-z')}"
        )
    is_grid = isinstance(recipe.system, str) and recipe.system.startswith("grid:")
    if not is_grid and (recipe.walls, recipe.goal) != (None, None):
        raise InvalidValue(
            f"{named('walls')} and {named('goal')} belong to a grid: write {named('system', 'grid:15x15')}, or "
            f"{named('rules', 'never:…')} and {named('rules', 'ends_in:…')}"
        )
    of_files = (recipe.start, recipe.action, recipe.dot_symbols) != (None, None, None)
    if is_grid and of_files:
        raise InvalidValue(
            f"a grid takes no {named('start')}, {named('action')} or {named('dot_symbols')}: write grid:15x15@1,2 "
            "for a start"
        )
    if recipe.system is None and (of_files or (recipe.words, recipe.protect) != (None, None)):
        raise InvalidValue(
            f"{named('words')}, {named('protect')}, {named('start')}, {named('action')} and {named('dot_symbols')} "
            f"belong to {named('system')}: leave them out, or give a {named('system')}"
        )
    system = None
    if recipe.system is not None:
        system = grid(str(recipe.system), recipe.walls, recipe.goal) if is_grid else _system_in_file(recipe)
        plain: Language = system.by_states() if recipe.words == "states" else system
        if recipe.protect == "moves" and plain.symbols_are == "states":
            raise InvalidValue(
                f"these words are words of states, and have no moves to protect: leave out {named('protect')}, or use "
                f"{named('words', 'moves')}"
            )
        if recipe.protect == "states" and recipe.edits == "all":
            raise InvalidValue(
                f"{named('protect', 'states')} is for words that keep their length: leave out {named('edits', 'all')}, "
                f"or use {named('words', 'states')} instead"
            )
        if recipe.protect == "states":
            plain = plain.system.plans()
    elif recipe.lexicon is not None:
        plain = Lexicon(_listed("lexicon", recipe.lexicon, "word"))
    elif isinstance(recipe.alphabet, str) and not recipe.alphabet.startswith("@"):
        plain = Words(alphabet_symbols(recipe.alphabet))
    else:
        file = recipe.alphabet.removeprefix("@") if isinstance(recipe.alphabet, str) else recipe.alphabet
        plain = Words(_listed("alphabet", file, "symbol"))
    return system, plain, reduce(lambda so_far, text: rule(text, so_far), recipe.rules, plain)


def _system_in_file(recipe: RecipeFields) -> TransitionSystem:
    value = recipe.system
    file: AnyFile = value if isinstance(value, FileContent) else _path("system", value)
    found = read_system(file, recipe.words, recipe.start, recipe.action, recipe.dot_symbols)
    if isinstance(value, NamedFile):
        _check_hash("system", value, public_content("system", found, found))
    return found


def public_content(key: str, language: Language, system: TransitionSystem | None) -> dict[str, Any]:
    """The alphabet, system or lexicon of a language without rules, as fields of a recipe that name no file.

    What the symbols of runs are is not among them.
    """
    if key == "alphabet":
        return {key: list(map(written, language.alphabet.symbols))}
    if isinstance(language, Lexicon):
        return {key: ["".join(map(str, word)) for word in language]}
    assert system is not None
    if isinstance(system, GridWorld):
        start = "any" if system.start is None else written(system.start)
        cells = (system.walls, system.accepting or ())
        walls, goal = (";".join(map(written, sorted(some))) or None for some in cells)
        return {key: f"grid:{system.rows}x{system.columns}@{start}", "walls": walls, "goal": goal}
    return {key: json.loads(system.to_json())}


def _listed(key: str, value: Any, content: str) -> Sequence[str]:
    """The symbols or words that a field has, or that the file has which it names."""
    if isinstance(value, (str, NamedFile)):
        found = lines_of(_path(key, value), content)
        found = sorted(set(found)) if content == "word" else found
        _check_hash(key, value, {key: found})
        return found
    return list(value)


def _path(key: str, value: Any) -> Path:
    if not isinstance(value, NamedFile):
        return Path(value)
    if value.path is None:
        raise InvalidValue(f"the file {value.name} is only named: say where it is, with {named(key)}")
    return Path(value.path)


def _check_hash(key: str, value: Any, content: dict[str, Any]) -> None:
    """Raise `InvalidValue` if a named file is not the one that was named."""
    if isinstance(value, NamedFile) and value.sha256 is not None and hash_of(content) != value.sha256:
        raise InvalidValue(
            f"{value.name} is not the file of the release (its hash differs): give the right one with {named(key)}"
        )
