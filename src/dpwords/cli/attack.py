"""dpwords attack"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import click

from dpwords.cli.attack_released import attack_released, hint
from dpwords.cli.completion import FILES
from dpwords.cli.options import (
    LANGUAGE,
    SectionedCommand,
    at_least_one,
    certificate_options,
    epsilons,
    field_options,
    given_recipe,
    language_options,
    refuse,
)
from dpwords.cli.priors import given_prior, prior_option
from dpwords.cli.tables import table
from dpwords.cli.targets import check_plot, check_target, csv_content, json_content
from dpwords.cli.terminal import Terminal, emit, shown
from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue, TooLarge
from dpwords.mechanisms import choice
from dpwords.recipes.recipe import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpwords.attack import Guess
    from dpwords.attack.results import Success
    from dpwords.mechanisms.mechanism import Mechanism

_ALL, _LITERAL = "all", "literal"
_FIGURES = {  # columns of files, and what they have of a `Guess`
    "method": "method",
    "hits": "hits",
    "hits_low": "low.hits",
    "hits_high": "high.hits",
    "whole": "whole",
    "whole_low": "low.whole",
    "whole_high": "high.whole",
    "in_words": "of_100",
}


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> list[int]:
    """The whole numbers that were given to --releases, with commas between them."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidValue("--releases takes whole numbers separated by commas, as in 1,5,20") from None
    return [whole_number(number, "--releases", 1) for number in found]


def _samples(_context: click.Context, _parameter: click.Parameter, number: int) -> int:
    """The number that was given to --samples, if there are as many as intervals need."""
    return whole_number(number, "--samples", 100)


@click.command(cls=SectionedCommand, short_help="Show what an adversary can guess, before a release or from one.")
@language_options
@click.option("--length", type=int, callback=at_least_one, help="The length of the words.")
@click.option("--epsilon", "-e", callback=epsilons, help="One or more values of ε, as in 1,2,3,5.")
@click.option(
    "--released",
    shell_complete=FILES,
    help="A file that 'dpwords release' has written: what is guessed of the words behind it, with a prior that is "
    "fitted to it. Its receipt says how it was released.",
)
@field_options("format", help="The format of the released file, if its name does not end in it.")
@click.option(
    "--releases",
    default="1",
    show_default=True,
    callback=_numbers,
    help="How many independent releases of the same word the adversary sees: one or more numbers, as in 1,5,20.",
)
@prior_option("What is known beforehand", "uniform")
@click.option(
    "--mechanism",
    type=click.Choice((_ALL, *choice.MECHANISMS, _LITERAL)),
    default=_ALL,
    show_default=True,
    is_eager=True,  # so that --epsilon knows it
    help="One mechanism only, as in 'dpwords release', or 'literal', the paper's formula, which is not private.",
)
@field_options("report", "edits", "k")
@certificate_options
@click.option(
    "--samples",
    default=4000,
    show_default=True,
    callback=_samples,
    help="How many words are simulated where figures cannot be computed, or how many of a released file are guessed: "
    "more make intervals narrower.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Also write all figures, with the hits at each position, to a .json or .csv file.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Also plot them against ε, in an .svg or .png file.")
def attack(
    length: int | None,
    epsilon: list[float],
    released: str | None,
    format: str | None,
    releases: list[int],
    prior: str,
    mechanism: str,
    samples: int,
    output: Path | None,
    plot: Path | None,
    **_options: Any,
) -> None:
    """Compute what an adversary can guess of a private word who knows the mechanism and how likely each word is.

    For each ε and mechanism, the table shows how many positions of a word the best guesses get right, on average, and
    the probability that the best guess of the whole word is right. Below it is what can be guessed without any release.
    No data is needed: all figures are public.

    They are for the --prior that you name, and somebody who knows more guesses more. Whoever has a released file can
    fit a prior to it: --released shows what is then expected to be guessed of the words behind the file, beside the
    same for the uniform prior. It reads the file and its receipt, costs no privacy, and is right if the fitted prior
    is.

    Figures are exact for free words that are equally likely, and for languages with few words of this length. Otherwise
    words and releases are simulated, and the upper end of an interval stands in parentheses.

    \b
    Examples:
      dpwords attack --alphabet name:dna --length 20 --epsilon 1,2,3,5
      dpwords attack --system grid:5x5 --words states --length 8 --epsilon 1,2,3,5 --plot guessed.svg
      dpwords attack --system grid:3x3 --length 4 --epsilon 1 --releases 1,5,20 --mechanism online
      dpwords attack --alphabet ab --length 6 --epsilon 2 --prior chain.csv --output guessed.json
      dpwords attack --alphabet a-z --length 5 --epsilon 1 --mechanism literal
      dpwords attack --released private.csv
    """
    from dpwords.attack import guess
    from dpwords.mechanisms.choice import quietly

    if output is not None:
        check_target(output, suffixes=(".json", ".csv"))
    if released is not None:
        attack_released(released, format, samples, output)
        return
    refuse("only --released reads words from a file", "format")
    for option, missing in (("--length", length is None), ("--epsilon", not epsilon)):
        if missing:
            raise InvalidValue(f"{option} is missing: give it, or --released with a file that was released")
    assert length is not None
    check_plot(plot)
    recipe = given_recipe((*LANGUAGE, "report", "edits", "k", "certificate_time"))
    public, k = recipe.language(), recipe.k
    if recipe.report is not None:
        refuse("--report is a mechanism of its own, for whole words", "mechanism", "edits", "k", "certificate_time")
    makers = _makers(recipe, mechanism)
    known = given_prior(prior, public)
    made = {(one, name): quietly(make, one) for one in epsilon for name, make in makers.items()}

    refusals: list[TooLarge] = []

    def guessed(one: Mechanism, number: int) -> Guess | None:
        try:
            return guess(one, length, known, number, samples=samples)
        except TooLarge as refusal:
            refusals.append(refusal)
            return None

    jobs = [(one, number, name) for number in releases for one in epsilon for name in makers]
    rows = [
        AttackRow(one, number, name, guessed(made[one, name], number)) for one, number, name in shown(jobs, "guessing")
    ]
    if len(refusals) == len(rows):
        raise refusals[0]
    found = AttackTable(length, rows)
    likely = found.assumed
    contents = {}
    if output is not None:
        about = {"language": repr(public), "k": k, "prior": likely}
        contents[output] = found.content(output.suffix.lower(), about)
    if plot is not None:
        from dpwords import plots

        contents[plot] = plots.content_for(found.curves(epsilon, f"proportion at most, words of length {length}"), plot)
    title = f"what is guessed of words of length {length}, if {likely}"
    hints = [hint(recipe)] if known == "uniform" else []
    emit([f"{title}, k = {k}", *found.shown(Terminal.of_output()), *found.notes(), *hints], contents)


def _makers(recipe: Recipe, name: str) -> dict[str, Callable[[float], Mechanism]]:
    """The mechanisms that are attacked, by title."""
    from dpwords.mechanisms.paper_literal import PaperLiteral

    public, k, edits = recipe.language(), recipe.k, recipe.edits
    if recipe.report is not None:
        return {f"report of {recipe.report}": lambda epsilon: recipe.changed({"epsilon": epsilon}).mechanism()}
    if name == _ALL:
        found = choice.offers(public, k, cast(Any, edits), recipe.limits())
        return {title: one for title, one in found.items() if one.in_language}
    if edits == "all" and name in (_LITERAL, "best"):
        what = "the paper's formula is" if name == _LITERAL else "--mechanism best is here"
        raise InvalidValue(f"{what} for words that keep their length: leave out --edits all")
    if name == _LITERAL:
        return {choice.Title.LITERAL: lambda epsilon: PaperLiteral(public, epsilon, k)}
    return {name: lambda epsilon: recipe.changed({"epsilon": epsilon, "mechanism": name}).mechanism()}


class AttackRow(NamedTuple):
    """What is guessed through one mechanism at one ε; None if that is too large to compute."""

    epsilon: float
    releases: int
    mechanism: str
    found: Guess | None

    def fields(self) -> dict[str, Any]:
        """The row of a file."""
        known = {name: None if self.found is None else attrgetter(path)(self.found) for name, path in _FIGURES.items()}
        return {"epsilon": self.epsilon, "releases": self.releases, "mechanism": self.mechanism, **known}


@dataclass(frozen=True)
class AttackTable:
    """Rows for several mechanisms, values of ε and numbers of releases, all about words of one length."""

    length: int
    rows: Sequence[AttackRow]

    @property
    def _found(self) -> list[Guess]:
        """The results that there are, one at least."""
        return [row.found for row in self.rows if row.found is not None]

    @property
    def assumed(self) -> str:
        """What the prior assumes, in words."""
        return self._found[0].assumed

    @property
    def _several(self) -> bool:
        return len({row.releases for row in self.rows}) > 1

    def shown(self, terminal: Terminal) -> list[str]:
        """The rows as text."""
        several, said = ("releases",) if self._several else (), f"in words, if {self.assumed}"
        header = ("ε", *several, "mechanism", "positions", "whole word", said)
        lines = []
        for row in self.rows:
            cells = ("too large", "too large", "") if row.found is None else _cells(row.found)
            lines.append((f"{row.epsilon:g}", *((str(row.releases),) if self._several else ()), row.mechanism, *cells))
        return table(header, lines, terminal)

    def notes(self) -> list[str]:
        """What the figures mean, in words."""
        from dpwords.attack.results import in_a_crowd, upward

        without = self._found[0].without
        before = f"{upward(without.hits)} of {self.length} positions, and {in_a_crowd(without.whole)} guessed"
        lines = [f"(without any release, if {self.assumed}: {before})"]
        simulated = [each for each in self._found if each.method == "simulation"]
        if simulated:
            fewest = min(each.samples for each in simulated)
            sure = simulated[0].confidence
            lines.append(f"(≤: the upper end of an interval that holds with {sure:g}, from {fewest:,} simulated words)")
        if any(each.method == "bound" for each in self._found):
            lines.append("(≤ alone: nothing but a bound is known, which follows from the promise)")
        return lines

    def content(self, suffix: str, about: dict[str, Any]) -> bytes:
        """The content of a .json or .csv file."""
        rows = [row.fields() for row in self.rows]
        if suffix == ".csv":
            return csv_content(list(rows[0]), [list(row.values()) for row in rows])
        first = self._found[0]
        without = first.without._asdict() | {"hits_by_place": list(first.without_by_place)}
        for row, fields in zip(self.rows, rows, strict=True):
            fields["hits_by_place"] = None if row.found is None else list(row.found.hits_by_place)
        return json_content({**about, "length": self.length, "without": without, "rows": rows})

    def curves(self, epsilons: Sequence[float], title: str) -> Figure:
        """Proportions of positions and of whole words that are guessed, against ε; at most so many where they are
        simulated."""
        from dpwords import plots

        found: dict[str, list[Success | None]] = {}
        titles: dict[str, str] = {}
        for row in self.rows:
            seen = "1 release" if row.releases == 1 else f"{row.releases} releases"
            name = f"{row.mechanism}, {seen}" if self._several else row.mechanism
            titles[name] = row.mechanism
            found.setdefault(name, []).append(None if row.found is None else row.found.high)
        drawn = {name: most for name, most in found.items() if any(most)}
        drawn["without any release"] = [self._found[0].without] * len(epsilons)
        positions = {name: [each.hits / self.length if each else nan for each in most] for name, most in drawn.items()}
        words = {name: [each.whole if each else nan for each in most] for name, most in drawn.items()}
        panels = {"positions that are guessed": positions, "whole words that are guessed": words}
        return plots.panels(epsilons, panels, title, titles)


def _cells(found: Guess) -> tuple[str, str, str]:
    from dpwords.attack.results import in_a_crowd

    positions, whole = f"{found.hits:.4g} of {found.length}", _percent(found.whole)
    if found.method == "bound":
        positions, whole = f"≤ {found.high.hits:.4g} of {found.length}", f"≤ {_percent(found.high.whole)}"
    elif not found.exact:
        positions = f"{found.hits:.4g} (≤ {found.high.hits:.4g}) of {found.length}"
        whole = f"{whole} (≤ {_percent(found.high.whole)})"
    return positions, whole, f"{in_a_crowd(found.high.whole)} guessed"


def _percent(proportion: float) -> str:
    return f"{100 * proportion:.3g}%"
