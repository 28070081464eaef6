"""dpwords accuracy"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.options import language_options, public_language

if TYPE_CHECKING:
    from dpwords.automata import Language
    from dpwords.mechanisms.exponential import Exponential


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter("numbers with commas between them are needed, as in 1,2,5,10") from None


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
    rows = [_row(public, one, k, length) for one in epsilon]
    names = list(rows[0])
    click.echo(f"expected distance of {length} places, k = {k}")
    click.echo("ε".rjust(8) + "".join(name.rjust(len(name) + 3) for name in names))
    for one, row in zip(epsilon, rows, strict=True):
        cells = (row[name].rjust(len(name) + 3) for name in names)
        click.echo(f"{one:g}".rjust(8) + "".join(cells))
    if not isinstance(public, Words):
        click.echo("(averaged over words drawn uniformly from the language; the figure for one word is private)")


def _row(public: Language, epsilon: float, k: int, length: int) -> dict[str, str]:
    """The expected distance for each mechanism that applies, the default first."""
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.privacy import Inverse, Linear

    best = Exponential(public, epsilon, k)
    linear = Exponential(public, epsilon, k, Linear(), "textbook")
    mechanisms = (
        {"linear, textbook": linear}
        if best.calibration == linear.calibration
        else {
            f"default ({best.calibration.method})": best,
            "linear, textbook": linear,
        }
    )
    mechanisms["inverse (α=1), textbook"] = Exponential(public, epsilon, k, Inverse(1.0), "textbook")
    return {name: _figure(mechanism, length) for name, mechanism in mechanisms.items()}


def _figure(mechanism: Exponential, length: int) -> str:
    from dpwords.errors import TooLarge

    try:
        return f"{mechanism.expected_distance(length=length):.4g}"
    except TooLarge:
        return "too large"
