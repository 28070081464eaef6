"""The same estimate for copying: as a command, and as Python code."""

from __future__ import annotations

from typing import Any

from dpwords.recipes import code, commands
from dpwords.recipes.recipe import Recipe
from dpwords.web.estimate_settings import EstimateSettings

_USUAL = 0.95  # the confidence that the command line and Python assume


def command(settings: EstimateSettings) -> str:
    """The command that estimates the same. A receipt says which mechanism it was; else the options do."""
    recipe = settings.recipe
    more: dict[str, Any] = {"input": recipe.input, "question": settings.question}
    more |= {} if recipe.format is None else {"format": recipe.format}
    more |= {} if settings.confidence == _USUAL else {"confidence": settings.confidence}
    return commands.command(Recipe() if settings.receipt else recipe.without("input", "format"), "estimate", more)


def python(settings: EstimateSettings) -> str:
    """Python code that estimates the same, and prints it."""
    recipe = settings.recipe
    imports, reading, _ = code.files_code(recipe)
    confidence = "" if settings.confidence == _USUAL else f", confidence={settings.confidence!r}"
    return code.whole(
        imports,
        [
            *code.language_code(recipe),
            f"mechanism = {code.mechanism_code(recipe, imports)}",
            *reading,
            f"words = dw.frames.words(mechanism, table, {', '.join(code.places_code(recipe))})",
            f"found = dw.estimate.{settings.question}(words, mechanism{confidence})",
            "for label, share in found.items():",
            '    print(label, share, f"counted: {found.counted[label]:.4g}")',
        ],
    )
