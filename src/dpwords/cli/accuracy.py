"""dpwords accuracy"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.accuracy_table import MARK, AccuracyTable
from dpwords.cli.help import SectionedCommand
from dpwords.cli.options import (
    LANGUAGE,
    above_zero,
    at_least_one,
    certificate_options,
    epsilons,
    field_options,
    given_recipe,
    language_options,
    refuse,
)
from dpwords.cli.terminal import Terminal, emit, status
from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue

if TYPE_CHECKING:
    from dpwords.accuracy import Figures, Target
    from dpwords.mechanisms.choice import Maker
    from dpwords.mechanisms.private import Private


def _share(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        raise InvalidValue("--target-probability is between 0 and 1: take for example --target-probability 0.9")
    return value


@click.command(cls=SectionedCommand, short_help="Show what accuracy to expect, before there is any data.")
@language_options
@click.option("--length", type=int, required=True, callback=at_least_one, help="The length of the words.")
@click.option("--epsilon", "-e", callback=epsilons, help="One or more values of ε, as in 1,2,5,10.")
@click.option(
    "--at-most",
    type=int,
    default=1,
    show_default=True,
    help="Show the probability of at most so many changes beside the expected distance.",
)
@click.option(
    "--target-distance",
    type=float,
    callback=above_zero,
    help="Find the least ε whose expected distance is at most this.",
)
@click.option(
    "--target-probability",
    type=float,
    callback=_share,
    help="Find the least ε at which the probability of at most --at-most changes is at least this, as in 0.9.",
)
@field_options("edits", "k")
@certificate_options
@click.option("--plot", type=click.Path(path_type=Path), help="Also plot distance against ε, in an .svg or .png file.")
def accuracy(
    length: int,
    epsilon: list[float],
    at_most: int,
    target_distance: float | None,
    target_probability: float | None,
    edits: Any,
    k: int,
    plot: Path | None,
    **_options: Any,
) -> None:
    """Compute the expected distance between a word and its release, for each mechanism, without any data.

    The probability of at most --at-most changes stands beside it, in parentheses. A * marks the best mechanism of each
    row, the one that --mechanism best takes. Each row is shown as soon as it is ready. With a target, the last row has
    the least ε at which each mechanism reaches it, or both of them if there are two.

    On a system, the figures are averages over words drawn uniformly from the language, because those for one word are
    private. With --edits all, the distance is Levenshtein distance: for an alphabet, the expected number of edits made,
    which is an upper bound; for a system, the mean over 400 releases.

    \b
    Examples:
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords accuracy --system grid:15x15 --words states --length 18 --epsilon 2,3,4,6 --plot accuracy.svg
      dpwords accuracy --system grid:6x6 --length 8 --target-distance 1
      dpwords accuracy --system grid:6x6 --length 8 --target-probability 0.9 --at-most 2
      dpwords accuracy --alphabet a-z --length 20 --epsilon 5,6,8,10 --edits all
    """
    from dpwords import accuracy as measured
    from dpwords import plots
    from dpwords.core.files import staged
    from dpwords.mechanisms.choice import contenders, offers, quietly

    wanted = target_distance is not None or target_probability is not None
    if not epsilon and not wanted:
        raise InvalidValue(
            "there is nothing to compute: give --epsilon 1,2,5,10, or a target such as --target-distance 1, or both"
        )
    if not epsilon and target_probability is None:
        refuse("--at-most is about the probabilities of a table or of --target-probability", "at_most")
    whole_number(at_most, "--at-most", 0)
    target = measured.Target(target_distance, target_probability, at_most) if wanted else None
    if plot is not None:
        _check_plot(plot, epsilon)
    recipe = given_recipe((*LANGUAGE, "edits", "certificate_time"))
    public, limits = recipe.language(), recipe.limits()
    makers, contest = offers(public, k, edits, limits), contenders(public, k, edits, limits)
    for one, make in product(epsilon, makers.values()):
        quietly(make, one)  # raises what it has to raise before anything is printed
    title = f"expected distance for words of length {length}, k = {k}"
    changes = f"at most {at_most} change{'' if at_most == 1 else 's'}"
    compared = frozenset(contest if len(contest) > 1 or edits == "all" else makers)  # edits made are not distances
    table = AccuracyTable(tuple(makers), compared, Terminal.of_output())
    waiting = [f"{title} (and probability of {changes})" if epsilon else title, *table.head()]
    curves: dict[str, list[float]] = {name: [] for name in makers}
    for one in epsilon:
        found: dict[str, Figures] = {}
        for name, make in makers.items():
            with status(f"averaging at ε = {one:g}: {name}"):
                found[name] = measured.figures(make, one, length, at_most)
            curves[name].append(found[name].distance)
        emit([*waiting, *table.distances(one, found)])  # the title comes with the first row: bad use writes nothing
        waiting = []
    least: dict[str, float] = {}
    if target is not None:
        lowest = measured.lowest_epsilon(k, edits)
        for name, make in makers.items():
            with status(f"searching for the least ε: {name}") as say:
                announced = _announced(make, name, say)
                found_least = measured.least_epsilon(announced, target, length, lowest)
                least[name] = 0.0 if found_least == lowest and edits == "substitutions" else found_least
        waiting += [_aim(target, changes), *table.epsilons(least)]
        if 0.0 in least.values():
            waiting.append("(any: even an output that does not depend on the word reaches it)")
    if len(compared) > 1 and (epsilon or 0.0 not in least.values()):
        waiting.append(_legend(len(contest) > 1))
    if not public.alike:
        waiting.append("(averaged over words drawn uniformly from the language; the figure for one word is private)")
    contents = {}
    if plot is not None:
        contents[plot] = plots.content_for(plots.curves(epsilon, curves, title), plot)
    with staged(contents):
        emit(waiting)


def _aim(target: Target, changes: str) -> str:
    """The line above the least ε, in words."""
    aims = [] if target.distance is None else [f"an expected distance of {target.distance:g}"]
    aims += [] if target.probability is None else [f"a probability of {target.probability:g} of {changes}"]
    return f"least ε for {' and '.join(aims)}"


def _legend(chosen: bool) -> str:
    """What the mark means, and whether `--mechanism best` has several mechanisms to choose from."""
    return f"({MARK} the best of the row{'; at a given ε it is what --mechanism best takes' if chosen else ''})"


def _check_plot(path: Path, epsilon: list[float]) -> None:
    """Refuse a plot that could not be drawn or written, before anything is computed."""
    from dpwords import plots
    from dpwords.cli.targets import check_target

    if not epsilon or plots.checked_form(path) == "dot":
        raise InvalidValue("--plot needs values of --epsilon, and a file name that ends in .svg or .png")
    check_target(path, "plot")
    plots.need_matplotlib()


def _announced(make: Maker, name: str, say: Callable[[str], None]) -> Maker:
    """The same, but it says for which ε a mechanism is made: on words of states that can take a while."""

    def made(epsilon: float) -> Private:
        say(f"searching for the least ε, now at {epsilon:.4g}: {name}")
        return make(epsilon)

    return made
