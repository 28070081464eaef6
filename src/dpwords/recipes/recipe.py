"""One value that describes a release, whoever wrote it down: the command line, Python, the page, or a receipt."""

from __future__ import annotations

from dataclasses import dataclass

from dpwords.recipes.description import Description


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

    def command(self) -> str:
        """The command that does the same, for a shell.

        Before it, a list of symbols or a small system in JSON is written to a file; a comment names the file of a
        system whose content the recipe has otherwise.
        """
        from dpwords.recipes.code import command

        return command(self)

    def python(self) -> str:
        """Python code that does the same."""
        from dpwords.recipes.code import python

        return python(self)
