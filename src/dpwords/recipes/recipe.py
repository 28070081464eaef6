"""One value that describes a release, whoever wrote it down: the command line, Python, the page, or a receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpwords.core.limits import DEFAULTS as LIMITS
from dpwords.core.limits import Limits
from dpwords.errors import named
from dpwords.recipes.description import Description

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private


@dataclass(frozen=True, repr=False)
class Recipe(Description):
    """The public description of a release: what may be released, what is promised, where the words are and whose.

    It is made from keyword arguments, which are named like the options of the command line, or from JSON. It is
    immutable, can be compared, and has no private word in it. `mechanism` is chosen by `mechanism_name`.

    >>> recipe = Recipe(alphabet="acgt", epsilon=3)
    >>> recipe.mechanism()
    Exponential(<Words: 4 symbols>, epsilon=3, k=1, Linear(), tight, hamming)
    >>> print(recipe.python().splitlines()[-1])
    mechanism = dw.Exponential(language, epsilon=3)
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    def mechanism(self, limits: Limits = LIMITS) -> Private:
        """The mechanism that it describes. Cost: that of `language`, and of building the mechanism."""
        from dpwords.recipes.building import mechanism_of

        return mechanism_of(self, limits)

    def limits(self, limits: Limits = LIMITS) -> Limits:
        """The limits, with the time for certificates that it has."""
        from dpwords.recipes.building import limits_of

        return limits_of(self, self.language(), limits)

    def inside(self, mechanism: Private) -> Language | None:
        """The language that words have to be in, although the mechanism would take any word over its symbols."""
        if mechanism.projected_onto is None:
            self.refuse(f"only {named('edits', 'all')} on a system takes other words than its own", "any_word")
        return None if self.any_word else mechanism.projected_onto

    def command(self) -> str:
        """The command that does the same, for a shell; before it, one that writes a list of symbols to a file."""
        from dpwords.recipes.commands import command

        return command(self)

    def python(self) -> str:
        """Python code that does the same."""
        from dpwords.recipes.code import python

        return python(self)
