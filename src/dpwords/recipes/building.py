"""The mechanism that a recipe describes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue, named
from dpwords.mechanisms import choice

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private
    from dpwords.recipes.description import Description

_NOT_FOR_REPORTS = ("edits", "mechanism", "k", "utility", "alpha", "calibration", "certificate_time", "any_word")
_NO_PROOF = "long proofs are for tight calibration on words of states that keep their length, which is not in use here"


def mechanism_of(recipe: Description, limits: Limits) -> Private:
    """The mechanism of a recipe; raises `InvalidValue` for choices that have no effect on it."""
    language = recipe.language()
    epsilon = recipe.epsilon or (recipe.budget if recipe.shares_budget else None)
    if epsilon is None:
        raise InvalidValue(f"{named('epsilon')} is missing: say what each word may spend, as in {named('epsilon', 3)}")
    if recipe.report is not None:
        recipe.refuse(f"{named('report')} is a mechanism of its own, for whole words", *_NOT_FOR_REPORTS)
        from dpwords.mechanisms.report import Report

        return Report(language, epsilon, cast(Any, recipe.report))
    chosen = name_of(recipe)
    if chosen != "exponential":
        recipe.refuse(f"{named('mechanism', chosen)} leaves no utility to choose", "utility", "alpha", "calibration")
    elif recipe.utility != "inverse":
        recipe.refuse(f"{named('alpha')} is the constant of {named('utility', 'inverse')}", "alpha")
    if chosen not in ("best", "exponential") or recipe.utility == "inverse" or recipe.calibration == "textbook":
        recipe.refuse(_NO_PROOF, "certificate_time")
    limits = limits_of(recipe, language, limits)
    if recipe.mechanism_name == "best" and recipe.edits == "all":
        from dpwords.accuracy import best

        return best(language, epsilon, recipe.k, length=None, distance="levenshtein")
    return choice.mechanism(
        language,
        epsilon,
        recipe.k,
        cast(Any, recipe.edits),
        recipe.mechanism_name,
        recipe.utility,
        recipe.alpha,
        cast(Any, recipe.calibration),
        limits,
    )


def name_of(recipe: Description) -> str:
    """The name of the mechanism, that of the default one if none is chosen."""
    edits = cast(Any, recipe.edits)
    default = choice.default_name(recipe.language(), edits, recipe.utility, recipe.calibration)
    return recipe.mechanism_name or default


def limits_of(recipe: Description, language: Language, limits: Limits) -> Limits:
    """The limits with another time for certificates, if the recipe has one."""
    if recipe.certificate_time is None:
        return limits
    if language.symbols_are != "states" or recipe.edits == "all":
        recipe.refuse(_NO_PROOF, "certificate_time")
    return replace(limits, certificate_time=recipe.certificate_time)
