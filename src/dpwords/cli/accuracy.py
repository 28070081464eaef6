"""dpwords accuracy"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.accuracy_people import accuracy_of_people
from dpwords.cli.options import (
    LANGUAGE,
    SectionedCommand,
    above_zero,
    at_least_one,
    certificate_options,
    epsilons,
    field_options,
    given_recipe,
    language_options,
    probability,
    refuse,
)
from dpwords.cli.priors import given_prior, prior_option
from dpwords.cli.targets import check_plot
from dpwords.cli.terminal import Terminal, emit, in_bold, status
from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue
from dpwords.recipes.questions import KINDS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpwords.accuracy import Figures, Target
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Maker
    from dpwords.mechanisms.private import Private

MARK = "*"
_WIDTH = len("0.01234 (>99.9%)*")  # of a cell; smaller numbers reach into the gap before it
_NARROW = len("0.0001234")  # of a cell whose probability is on a second line
_FIRST = 8  # the width of the column of ε
_GAP = 2  # between columns of a terminal


@dataclass(frozen=True)
class AccuracyTable:
    """A column for each mechanism, with the names of those among which the best one is marked.

    It is made row by row: plain in a pipe; on a terminal with colours, and as wide as it is.
    """

    names: tuple[str, ...]
    contest: frozenset[str]
    terminal: Terminal

    def head(self) -> list[str]:
        """The names of the columns."""
        lines = self._row("ε", dict(zip(self.names, self.names, strict=True)), self.names)
        if not self.terminal.colours:
            return lines
        from rich.text import Text

        return lines + self.terminal.lines(Text("─" * (_FIRST + len(self.names) * (self._width + _GAP)), "dim"))

    def distances(self, epsilon: float, found: Mapping[str, Figures]) -> list[str]:
        """The row of one ε, with the least distance marked."""
        best = self._least({name: each.surely for name, each in found.items()})
        return self._marked(f"{epsilon:g}", {name: _figures(each) for name, each in found.items()}, best)

    def epsilons(self, found: Mapping[str, float]) -> list[str]:
        """A row with an ε for each mechanism, the least of them marked; 0 stands for any ε, which is no distinction."""
        texts = {name: _number(each) if each else "any" for name, each in found.items()}
        return self._marked("", texts, None if 0.0 in found.values() else self._least(found))

    def _least(self, values: Mapping[str, float]) -> str | None:
        """The name with the least number, if there are several to compare."""
        known = {name: values[name] for name in values if name in self.contest and not math.isnan(values[name])}
        return min(known, key=lambda name: known[name]) if known and len(self.contest) > 1 else None

    def _marked(self, first: str, texts: Mapping[str, str], best: str | None) -> list[str]:
        """A row whose cells have the mark, or room for it."""
        return self._row(first, {name: text + (MARK if name == best else " ") for name, text in texts.items()}, [best])

    def _row(self, first: str, cells: Mapping[str, str], bold: Collection[str | None]) -> list[str]:
        """A row; on a terminal with colours, some names are in bold type, and in the colours of their mechanisms."""
        if not self.terminal.colours:
            wide = (f"   {cell.rjust(max(len(name), _WIDTH))}" for name, cell in cells.items())
            return [(first.rjust(_FIRST) + "".join(wide)).rstrip()]
        from rich.padding import Padding
        from rich.table import Table as Grid
        from rich.text import Text

        from dpwords.plots.palette import mechanism_colour

        grid = Grid.grid(padding=(0, 0, 0, _GAP), pad_edge=False)
        grid.add_column(width=_FIRST, justify="right")
        row: list[RenderableType] = [Text(first, "bold" if first == "ε" else "")]
        for name, cell in cells.items():
            grid.add_column(width=_GAP + self._width, justify="right")
            text = Text(cell.rstrip(), in_bold(mechanism_colour(name)) if name in bold else "")
            row.append(Padding(text, (0, len(cell) - len(text), 0, 0)))  # rich takes spaces at the end away
        grid.add_row(*row)
        return self.terminal.lines(grid)

    @property
    def _width(self) -> int:
        """The width of a column on a terminal; long names take several lines, and so do cells where it is narrow."""
        fits = _FIRST + len(self.names) * (_WIDTH + _GAP) <= (self.terminal.width or 0)
        return _WIDTH if fits else _NARROW


def _figures(found: Figures) -> str:
    within = "" if math.isnan(found.within) else f" ({_percent(found.within)})"
    return ("" if found.error is None else "≈") + _number(found.distance) + within


def _percent(proportion: float) -> str:
    """A probability, without claiming that anything is certain or impossible."""
    return "<0.1%" if proportion < 0.001 else ">99.9%" if proportion > 0.999 else f"{proportion:.1%}"


def _number(value: float) -> str:
    return "too large" if math.isnan(value) else f"{value:.4g}"


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
    callback=probability(0.9),
    help="Find the least ε at which the probability of at most --at-most changes is at least this, as in 0.9.",
)
@click.option(
    "--people",
    type=int,
    help="Show how precise estimates from so many people will be, instead of distances: --question says of what.",
)
@click.option(
    "--question",
    type=click.Choice(tuple(KINDS)),
    default="transitions",
    show_default=True,
    help="What will be estimated from the releases of these --people, as in 'dpwords estimate'.",
)
@prior_option("With --people: what their words are like", "predictable")
@field_options("edits", "k")
@certificate_options
@click.option("--plot", type=click.Path(path_type=Path), help="Also plot distance against ε, in an .svg or .png file.")
def accuracy(
    length: int,
    epsilon: list[float],
    at_most: int,
    target_distance: float | None,
    target_probability: float | None,
    people: int | None,
    question: str,
    prior: str,
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
    which is an upper bound. What is projected onto a language is simulated, which ≈ shows, unless it has few words.

    With --people, the table shows what an estimate from the releases of so many people will be off by: the half-width
    of its intervals of 95%, and the sum of the errors of all proportions. It is simulated, with words as --prior has
    them.

    \b
    Examples:
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords accuracy --system grid:15x15 --words states --length 18 --epsilon 2,3,4,6 --plot accuracy.svg
      dpwords accuracy --system grid:6x6 --length 8 --target-distance 1
      dpwords accuracy --system grid:6x6 --length 8 --target-probability 0.9 --at-most 2
      dpwords accuracy --alphabet a-z --length 20 --epsilon 5,6,8,10 --edits all
      dpwords accuracy --alphabet abcd --length 12 --epsilon 1,2,3,4 --people 2000 --question transitions
    """
    from dpwords import accuracy as measured
    from dpwords import plots
    from dpwords.mechanisms.choice import contenders, offers, quietly

    _check_asked(people, epsilon, target_distance, target_probability, plot)
    whole_number(at_most, "--at-most", 0)
    wanted = target_distance is not None or target_probability is not None
    target = measured.Target(target_distance, target_probability, at_most) if wanted else None
    recipe = given_recipe((*LANGUAGE, "edits", "certificate_time"))
    public, limits = recipe.language(), recipe.limits()
    makers, contest = offers(public, k, edits, limits), contenders(public, k, edits, limits)
    for one, make in product(epsilon, makers.values()):
        quietly(make, one)  # raises what it has to raise before anything is printed
    if people is not None:
        accuracy_of_people(contest or makers, epsilon, people, length, question, given_prior(prior, public))
        return
    words = f"for words of length {length}, k = {k}"
    title, changes = f"expected distance {words}", f"at most {at_most} change{'' if at_most == 1 else 's'}"
    compared = frozenset(contest if len(contest) > 1 or edits == "all" else makers)  # edits made are not distances
    table = AccuracyTable(tuple(makers), compared, Terminal.of_output())
    waiting = [f"{title} (and probability of {changes})", *table.head()] if epsilon else []
    curves, errors = {name: list[float]() for name in makers}, list[float]()
    for one in epsilon:
        found: dict[str, Figures] = {}
        for name, make in makers.items():
            with status(f"averaging at ε = {one:g}: {name}"):
                found[name] = measured.figures(make, one, length, at_most)
            curves[name].append(found[name].distance)
            errors.append(found[name].error or 0.0)
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
        aim = [_aim(target, changes)] if epsilon else [f"{_aim(target, changes)}, {words}", *table.head()]
        waiting += [*aim, *table.epsilons(least)]
        if 0.0 in least.values():
            waiting.append("(any: even an output that does not depend on the word reaches it)")
    if len(compared) > 1 and (epsilon or 0.0 not in least.values()):
        taken = "; at a given ε it is what --mechanism best takes" if len(contest) > 1 else ""
        waiting.append(f"({MARK} the best of the row{taken})")
    waiting += _how_averaged(public, errors)
    drawn = {} if plot is None else {plot: plots.content_for(plots.curves(epsilon, curves, title), plot)}
    emit(waiting, drawn)


def _check_asked(
    people: int | None, epsilon: list[float], distance: float | None, likely: float | None, plot: Path | None
) -> None:
    """Refuse options that have no effect together, or that need others."""
    if people is None:
        refuse("this is for estimates, whose precision --people asks for", "question", "prior")
    else:
        rule = "with --people, the precision of estimates is shown, for each --epsilon"
        refuse(rule, "at_most", "target_distance", "target_probability", "plot")
    if not epsilon and distance is None and likely is None:
        raise InvalidValue(
            "there is nothing to compute: give --epsilon 1,2,5,10, or a target such as --target-distance 1, or both"
        )
    if not epsilon and likely is None:
        refuse("--at-most is about the probabilities of a table or of --target-probability", "at_most")
    if plot is not None and not epsilon:
        raise InvalidValue("--plot needs values of --epsilon, and a file name that ends in .svg or .png")
    check_plot(plot)


def _how_averaged(public: Language, errors: list[float]) -> list[str]:
    """What the last lines say about the figures; `errors` are the standard errors of those that are simulated."""
    found = [] if public.spelling is None else ["(distances count the states that are changed, not the moves)"]
    if not public.alike:
        found.append("(averaged over words drawn uniformly from the language; the figure for one word is private)")
    if any(errors):
        error = f"the standard error is at most {max(errors):.2g}, and the best is better by two of them"
        found.append(f"(≈ simulated on such words, always the same; {error})")
    return found


def _aim(target: Target, changes: str) -> str:
    """The line above the least ε, in words."""
    aims = [] if target.distance is None else [f"an expected distance of {target.distance:g}"]
    aims += [] if target.probability is None else [f"a probability of {target.probability:g} of {changes}"]
    return f"least ε for {' and '.join(aims)}"


def _announced(make: Maker, name: str, say: Callable[[str], None]) -> Maker:
    """The same, but it says for which ε a mechanism is made: on words of states that can take a while."""

    def made(epsilon: float) -> Private:
        say(f"searching for the least ε, now at {epsilon:.4g}: {name}")
        return make(epsilon)

    return made
