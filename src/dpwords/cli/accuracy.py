"""dpwords accuracy"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.options import language_options, public_language
from dpwords.cli.terminal import emit, shown
from dpwords.errors import InvalidValue

if TYPE_CHECKING:
    from dpwords.automata import Language
    from dpwords.mechanisms.exponential import Exponential


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidValue("--epsilon takes numbers with commas between them, as in 1,2,5,10") from None


@click.command()
@language_options
@click.option("--length", type=int, required=True, help="The length of the words.")
@click.option("--epsilon", "-e", callback=_numbers, required=True, help="One ε or several, as in 1,2,5,10.")
@click.option("-k", default=1, show_default=True, help="Words that differ in up to k places are neighbours.")
def accuracy(length: int, epsilon: list[float], k: int, **options: Any) -> None:
    """Expected distance between a word and its release, for each mechanism, before any data is touched.

    On a system it is averaged over words drawn uniformly from the language: the figure for one word is private.

    \b
    Examples:
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords accuracy --system grid:15x15 --length 18 --epsilon 2,4,6 -k 2
    """
    from dpwords.automata import Words

    public = public_language(**options)
    rows = [_mechanisms(public, one, k) for one in epsilon]
    figures = [
        _figure(mechanism, length) for mechanism in shown([m for row in rows for m in row.values()], "averaging")
    ]
    names = list(rows[0])
    lines = [f"expected distance of {length} places, k = {k}"]
    lines.append("ε".rjust(8) + "".join(name.rjust(len(name) + 3) for name in names))
    for row, one in enumerate(epsilon):
        cells = figures[row * len(names) : (row + 1) * len(names)]
        lines.append(f"{one:g}".rjust(8) + "".join(c.rjust(len(n) + 3) for n, c in zip(names, cells, strict=True)))
    if not isinstance(public, Words):
        lines.append("(averaged over words drawn uniformly from the language; the figure for one word is private)")
    emit(lines)


def _mechanisms(public: Language, epsilon: float, k: int) -> dict[str, Exponential]:
    """The mechanisms that apply, by name, the default first."""
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.privacy import Inverse, Linear

    default = Exponential(public, epsilon, k)
    inverse = {"inverse (α=1), textbook": Exponential(public, epsilon, k, Inverse(1.0), "textbook")}
    linear = Exponential(public, epsilon, k, Linear(), "textbook")
    return {"tight (default)": default, "linear, textbook": linear} | inverse


def _figure(mechanism: Exponential, length: int) -> str:
    """The expected distance; only linear utility, the one that can always be had, says why it cannot."""
    from dpwords.errors import TooLarge
    from dpwords.privacy import Linear

    try:
        return f"{mechanism.expected_distance(length=length):.4g}"
    except TooLarge:
        if isinstance(mechanism.utility, Linear):
            raise
        return "too large"
