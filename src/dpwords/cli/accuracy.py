"""dpwords accuracy"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dpwords.cli.options import EDITS, K, language_options, public_language
from dpwords.cli.terminal import emit, shown
from dpwords.errors import InvalidValue


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str | None) -> list[float]:
    try:
        return [float(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise InvalidValue("--epsilon takes numbers separated by commas, as in 1,2,5,10") from None


@click.command()
@language_options
@click.option("--length", type=int, required=True, help="The length of the words.")
@click.option("--epsilon", "-e", callback=_numbers, help="One or more values of ε, as in 1,2,5,10.")
@click.option("--target-distance", type=float, help="Find the least ε whose expected distance is at most this.")
@EDITS
@K
@click.option("--plot", type=click.Path(path_type=Path), help="Also plot distance against ε, in an .svg or .png file.")
def accuracy(
    length: int,
    epsilon: list[float],
    target_distance: float | None,
    edits: Any,
    k: int,
    plot: Path | None,
    **options: Any,
) -> None:
    """Compute the expected distance between a word and its release, for each mechanism, without any data.

    On a system, the distance is averaged over words drawn uniformly from the language, because the figure for one word
    is private. With --edits all, it is the Levenshtein distance: for an alphabet, the expected number of edits made,
    which is an upper bound; for a system, the mean over 400 releases.

    \b
    Examples:
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords accuracy --system grid:15x15 --words states --length 18 --epsilon 2,3,4,6 --plot accuracy.svg
      dpwords accuracy --system grid:6x6 --length 8 --target-distance 1
      dpwords accuracy --alphabet a-z --length 20 --epsilon 5,6,8,10 --edits all
    """
    from dpwords import accuracy as measured
    from dpwords import plots
    from dpwords.core.files import staged
    from dpwords.mechanisms.choice import offers

    if not epsilon and target_distance is None:
        raise InvalidValue("there is nothing to compute: give --epsilon 1,2,5,10, or --target-distance 1, or both")
    if plot is not None:
        if not epsilon or plots.checked_form(plot) == "dot":
            raise InvalidValue("--plot needs values of --epsilon, and a file name that ends in .svg or .png")
        plots.need_matplotlib()
    public = public_language(**options)
    makers = offers(public, k, edits)
    title = f"expected distance for words of length {length}, k = {k}"
    lines = [title, _row("ε", makers)]
    tasks = [(one, make) for one in epsilon for make in makers.values()]
    found = [measured.expected_distance(make, one, length) for one, make in shown(tasks, "averaging")]
    rows = [found[at : at + len(makers)] for at in range(0, len(found), len(makers))]
    lines += [_row(f"{one:g}", _cells(makers, row)) for one, row in zip(epsilon, rows, strict=True)]
    if target_distance is not None:
        searched = shown(list(makers.values()), "searching")
        lowest = measured.lowest_epsilon(k, edits)
        least = [measured.least_epsilon(make, target_distance, length, lowest) for make in searched]
        lines.append(f"least ε for an expected distance of {target_distance:g}")
        lines.append(_row("", _cells(makers, least)))
    if not public.alike:
        lines.append("(averaged over words drawn uniformly from the language; the figure for one word is private)")
    contents = {}
    if plot is not None:
        curves = dict(zip(makers, map(list, zip(*rows, strict=True)), strict=True))
        figure = plots.curves(epsilon, curves, title)
        contents[plot] = plots.content_for(figure, plot)
    with staged(contents):
        emit(lines)


def _row(name: str, cells: Any) -> str:
    return name.rjust(8) + "".join(f"   {cell}" for cell in cells)


def _cells(names: Any, values: Sequence[float]) -> list[str]:
    """The numbers as text, each as wide as the name above it."""
    return [
        ("too large" if math.isnan(value) else f"{value:.4g}").rjust(len(name))
        for name, value in zip(names, values, strict=True)
    ]
