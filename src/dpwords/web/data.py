"""The view of data: what is in a file, what a release of it promises and spends, and the release itself.

The file comes with each question and is in memory only while the question is answered. Nothing of it is kept here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa

from dpwords.errors import InvalidValue
from dpwords.frames.coders import is_list, is_text
from dpwords.frames.jobs import MemoryRelease
from dpwords.frames.receipts import encoded
from dpwords.frames.requests import Request
from dpwords.frames.samples import guessed, occurring, sample_of
from dpwords.frames.word_table import Plan
from dpwords.languages.systems import written
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import output_name
from dpwords.web.messages import Message, labelled, on_page, picked
from dpwords.web.questions import RECIPE, Values, answers, mechanism_of, of, source_of, whole
from dpwords.web.words import marked
from dpwords.web.workers import ShowProgress

ROWS, CELL = 5, 60  # rows of a file that are shown, and characters of each value
EXAMPLES = 8  # released words that are shown
_CHECKED, _PREPARED = 0.2, 0.5  # proportions of the progress when everything is checked, and when it can be drawn


@answers(recipe=RECIPE)
def look(recipe: Recipe, content: bytes) -> Values:
    """The columns and first rows of a file, and a guess at where the words are, for the owner of the file."""
    source = source_of(recipe, content)
    sample = sample_of(source)
    guess = guessed(sample, source.form.header)
    first, *_, last = guess.columns or (None, None)
    shape = "log" if guess.case else "wide" if first else "column"
    return {
        "columns": [[field.name, _called(field.type)] for field in sample.schema],
        "rows": [[_short(value) for value in row.values()] for row in sample.slice(0, ROWS).to_pylist()],
        "guess": {"shape": shape, "first": first, "last": last}
        | picked(guess, "column", "separator", "case", "symbol", "order", "by"),
        "format": source.form.kind,
    }


@answers(recipe=RECIPE, confirmed=of(bool, default=False))
def symbols(recipe: Recipe, confirmed: bool, content: bytes) -> Values:
    """The symbols that occur in a file. They are as private as the file is, unless its owner knows better."""
    if not confirmed:
        raise InvalidValue("symbols are read off a file only where its owner confirms that they are public knowledge")
    return {"symbols": occurring(source_of(recipe, content), Request.of(recipe))}


@answers(recipe=RECIPE)
def check(recipe: Recipe, content: bytes) -> Values:
    """What a release of a file promises, and what people spend. Everything is read and checked, nothing is drawn."""
    plan = _run(recipe.changed({"invalid": "skip"}), content).survey()
    length = plan.commonest_length
    mechanism = plan.release.like(plan.typical_epsilon, length)
    whole = recipe.changed({"output": output_name(str(recipe.input)), "output_format": recipe.format})
    return picked(plan, "rows", "words", "skipped") | {
        "row": plan.release.row,
        "fault": _first_fault(recipe, content) if plan.skipped else None,
        "lengths": [[length, number] for length, number in plan.lengths.items()],
        "length": length,
        "promise": str(mechanism.guarantee),
        "typical": {"epsilon": mechanism.epsilon, "k": mechanism.k, "edits": recipe.edits},
        "people": plan.facts and picked(plan.facts, "people", "typical", "most", "left_out", "typical_spent", "rule"),
        "spent": _spent(plan),
        "command": whole.command(),
        "python": whole.python(),
    }


@answers(length=whole(1, 10**9), recipe=RECIPE)
def summary(length: int, recipe: Recipe) -> Values:
    """The public summary of a mechanism for words of one length, line by line. Certificates may take a while."""
    return {"lines": labelled(mechanism_of(recipe).summary(length).message).splitlines()[1:]}


@answers(recipe=RECIPE)
def release(recipe: Recipe, content: bytes, progress: ShowProgress) -> Message:
    """The released file, its receipt, and for the owner some words before and after. Each call spends ε."""
    run = _run(recipe, content)
    plan = run.survey()
    if not plan.words:
        raise InvalidValue("the file has no word that could be released: check where the words are")
    progress(_CHECKED)
    for number, (mechanism, length) in enumerate(plan.kinds, start=1):
        mechanism.parameters(max(length, 1))  # makes the certificates that the draws need
        progress(_CHECKED + (_PREPARED - _CHECKED) * number / len(plan.kinds))
    released = run.write(plan, lambda rows: progress(_PREPARED + (1 - _PREPARED) * rows / plan.rows))
    distance, language = plan.release.mechanism.distance, plan.release.mechanism.language
    values = {
        "name": output_name(str(recipe.input)),
        "words": plan.words,
        "spent": _spent(plan),
        "receipt": encoded(run.receipt(plan)).decode(),
        "inside": not run.target_is_text,
        "between": "" if language.letters.of_characters else " ",
        "examples": [
            [list(map(written, before)), marked(before, after, distance, language)]
            for before, after in run.examples(plan, EXAMPLES)
        ],
    }
    return Message(values, released)


def _run(recipe: Recipe, content: bytes) -> MemoryRelease:
    if recipe.budget is not None and recipe.by is None:
        raise InvalidValue("a budget is for each person: choose the column that says whose word it is")
    mechanism = mechanism_of(recipe)
    request = replace(Request.of(recipe, recipe.inside(mechanism)), header=recipe.header)  # the page chose the columns
    return MemoryRelease(mechanism, source_of(recipe, content), request, recipe.for_receipt())


def _first_fault(recipe: Recipe, content: bytes) -> str | None:
    """What is wrong with the first row that has no word of the language."""
    try:
        _run(recipe.changed({"invalid": "fail"}), content).survey()
    except InvalidValue as error:
        return on_page(error)
    return None


def _spent(plan: Plan) -> float:
    """The most ε that a person spends, or a word if it is not known who has several."""
    return plan.release.mechanism.epsilon if plan.facts is None else plan.facts.most_spent


def _called(kind: Any) -> str:
    """What people call a type of values."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_list(plain):
        return f"lists of {_called(plain.value_type)}"
    if is_text(plain):
        return "text"
    return "numbers" if pa.types.is_integer(plain) or pa.types.is_floating(plain) else str(plain)


def _short(value: Any) -> str:
    text = (
        value if isinstance(value, str) else "" if value is None else json.dumps(value, default=str, ensure_ascii=False)
    )
    return text if len(text) <= CELL else f"{text[:CELL]}…"
