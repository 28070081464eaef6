"""dpwords attack"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from dpwords.cli import completing
from dpwords.cli.colours import Terminal
from dpwords.cli.help import SectionedCommand
from dpwords.cli.options import (
    LANGUAGE,
    at_least_one,
    certificate_options,
    epsilons,
    field_options,
    given_recipe,
    language_options,
    refuse,
)
from dpwords.cli.terminal import emit, shown
from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue
from dpwords.mechanisms import choice
from dpwords.recipes.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpwords.attack import Guess, Prior
    from dpwords.languages.language import Language
    from dpwords.mechanisms.mechanism import Mechanism

_ALL, _LITERAL = "all", "literal"


def _numbers(_context: click.Context, _parameter: click.Parameter, text: str) -> list[int]:
    """The whole numbers that were given to --releases, with commas between them."""
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise InvalidValue("--releases takes whole numbers separated by commas, as in 1,5,20") from None
    return [whole_number(number, "--releases", 1) for number in found]


@click.command(cls=SectionedCommand, short_help="Show what an adversary can guess, before there is any data.")
@language_options
@click.option("--length", type=int, required=True, callback=at_least_one, help="The length of the words.")
@click.option("--epsilon", "-e", required=True, callback=epsilons, help="One or more values of ε, as in 1,2,3,5.")
@click.option(
    "--releases",
    default="1",
    show_default=True,
    callback=_numbers,
    help="How many independent releases of the same word the adversary sees: one or more numbers, as in 1,5,20.",
)
@click.option(
    "--prior",
    default="uniform",
    show_default=True,
    shell_complete=completing.priors,
    help="What is known beforehand: 'uniform', all words of this length are equally likely, or a file with a Markov "
    "chain, .json {state: {symbol: probability}} or .csv with the columns state,symbol,probability. Public.",
)
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
    help="How many words are simulated where figures cannot be computed: more make intervals narrower.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Also write all figures, with the hits at each position, to a .json or .csv file.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Also plot them against ε, in an .svg or .png file.")
def attack(
    length: int,
    epsilon: list[float],
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

    Figures are exact for free words that are equally likely, and for languages with few words of this length. Otherwise
    words and releases are simulated, and the upper end of an interval stands in parentheses.

    \b
    Examples:
      dpwords attack --alphabet name:dna --length 20 --epsilon 1,2,3,5
      dpwords attack --system grid:5x5 --words states --length 8 --epsilon 1,2,3,5 --plot guessed.svg
      dpwords attack --system grid:3x3 --length 4 --epsilon 1 --releases 1,5,20 --mechanism online
      dpwords attack --alphabet ab --length 6 --epsilon 2 --prior chain.csv --output guessed.json
      dpwords attack --alphabet a-z --length 5 --epsilon 1 --mechanism literal
    """
    from dpwords.attack import guess
    from dpwords.cli.attack_table import AttackRow, AttackTable
    from dpwords.cli.tables import table
    from dpwords.core.files import staged
    from dpwords.errors import TooLarge
    from dpwords.mechanisms.choice import quietly

    _check_files(output, plot)
    recipe = given_recipe((*LANGUAGE, "report", "edits", "k", "certificate_time"))
    public, k = recipe.language(), recipe.k
    if recipe.report is not None:
        refuse("--report is a mechanism of its own, for whole words", "mechanism", "edits", "k", "certificate_time")
    makers = _makers(recipe, mechanism)
    known = _prior(prior, public)
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
    likely = "all words are equally likely" if known == "uniform" else "words come from the chain in the file"
    contents = {}
    if output is not None:
        about = {"language": repr(public), "k": k, "prior": likely}
        contents[output] = found.content(output.suffix.lower(), about)
    if plot is not None:
        from dpwords import plots

        contents[plot] = plots.content_for(found.curves(epsilon, f"proportion at most, words of length {length}"), plot)
    title = f"what is guessed of words of length {length}, if {likely}"
    with staged(contents):
        emit([f"{title}, k = {k}", *table(found.table(), Terminal.of_output()), *found.notes()])


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


def _prior(text: str, public: Language) -> Prior:
    """The prior that the option names."""
    if text == "uniform":
        return "uniform"
    if not text.lower().endswith((".json", ".csv")):
        raise InvalidValue("--prior takes 'uniform', or a file name that ends in .json or .csv")
    from dpwords.bridges.probability_files import read_chain
    from dpwords.estimate import chain

    return chain(public, read_chain(text, public))


def _check_files(output: Path | None, plot: Path | None) -> None:
    """Refuse files that could not be written, before anything is computed."""
    from dpwords import plots
    from dpwords.cli.targets import check_target

    if output is not None:
        if output.suffix.lower() not in (".json", ".csv"):
            raise InvalidValue("--output takes a file name that ends in .json or .csv")
        check_target(output)
    if plot is not None:
        if plots.checked_form(plot) == "dot":
            raise InvalidValue("--plot takes a file name that ends in .svg or .png")
        check_target(plot, "plot")
        plots.need_matplotlib()
