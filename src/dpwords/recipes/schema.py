"""The JSON Schema of recipes and receipts, which the documentation shows."""

from __future__ import annotations

import json
from typing import Any

from dpwords.recipes.description import FORMAT
from dpwords.recipes.fields import DEFAULTS, FIELDS
from dpwords.recipes.kinds import HASH

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def recipe_schema() -> dict[str, Any]:
    """The schema of a recipe."""
    properties: dict[str, Any] = {"recipe": {"const": FORMAT}}
    for key, each in FIELDS.items():
        default = {} if DEFAULTS[key] in (None, ()) else {"default": DEFAULTS[key]}
        properties[key] = {"description": each.help, **each.kind.schema, **default}
    return {
        "$schema": _DIALECT,
        "title": "A recipe: the description of a release",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def receipt_schema() -> dict[str, Any]:
    """The schema of a receipt: a recipe with facts."""
    recipe = {key: value for key, value in recipe_schema().items() if key != "$schema"}
    facts: dict[str, Any] = {
        "receipt": {"const": 2, "description": "The format."},
        "version": {"type": "string", "description": "That of dpwords."},
        "mechanism": {"type": "string", "description": "The class of the mechanism."},
        "epsilon": {"type": "number", "exclusiveMinimum": 0},
        "k": {"type": "integer", "minimum": 1},
        "distance": {"enum": ["hamming", "levenshtein", "any"]},
        "guarantee": {"type": "string", "description": "The promise, in words."},
        "language": {**HASH, "description": "A hash of the words and symbols that can come out."},
        "recipe": recipe,
        "epsilon_of_each_word": {
            "type": "number",
            "exclusiveMinimum": 0,
            "description": "Only where a budget was divided, and all words had the same ε.",
        },
        "words": {"type": "integer", "minimum": 0, "description": "How many words were released."},
    }
    return {
        "$schema": _DIALECT,
        "title": "A receipt: a recipe with facts",
        "type": "object",
        "properties": facts,
        "required": [name for name in facts if name != "epsilon_of_each_word"],
        "additionalProperties": False,
    }


def written(schema: dict[str, Any]) -> str:
    """A schema as the documentation has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
