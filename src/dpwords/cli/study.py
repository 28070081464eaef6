"""dpwords study"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.options import (
    Command,
    SectionedCommand,
    at_least_one,
    certificate_options,
    epsilons,
    field_options,
    given_recipe,
    language_options,
)
from dpwords.cli.release_files import word_file_options
from dpwords.cli.tables import side_by_side, table
from dpwords.cli.terminal import Terminal, emit, note, shown
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import FIELDS
from dpwords.recipes.questions import KINDS

if TYPE_CHECKING:
    from dpwords.studies.study import Study

_SEED = click.option("--seed", help="Make the draws reproducible; nothing that is printed is private then.")
_OUTPUT = click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="A directory for the figures (SVG and PNG) and the results as JSON.",
)
_POSITIONS = click.option(
    "-k",
    default=1,
    show_default=True,
    callback=at_least_one,
    help="Words that differ in up to k positions are neighbours.",
)


def _options(command: Command) -> Command:
    """Add -k, --seed and --output."""
    return _POSITIONS(_SEED(_OUTPUT(command)))


@click.group(invoke_without_command=True, short_help="Repeat the paper's case studies, or try your own data.")
@click.pass_context
def study(context: click.Context) -> None:
    """Run the paper's two case studies, with its numbers beside those found here, or a study of your own data.

    \b
    Examples:
      dpwords study strings
      dpwords study grid --seed 1 --output figures
      dpwords study data --input log.csv --alphabet @activities.txt --epsilon 2,4,6 --output figures
    """
    if context.invoked_subcommand is None:
        emit(context.get_help().splitlines())


@study.command()
@_options
def strings(k: int, seed: str | None, output: Path | None) -> None:
    """Case study 1: "american control conference 2019" at ε = 10, 1, 0.1 and 0.

    Shows samples of the paper's literal formula and of the correct mechanisms, with the true ε of each.

    \b
    Examples:
      dpwords study strings
      dpwords study strings -k 32 --seed 1 --output figures
    """
    from dpwords.studies.strings import strings as run

    _show("strings", partial(run, k=k, seed=seed), output)


@study.command()
@_options
def grid(k: int, seed: str | None, output: Path | None) -> None:
    """Case study 2: a path of 17 moves on a 15×15 grid, at ε = 5, as words of moves and of states.

    \b
    Examples:
      dpwords study grid
      dpwords study grid -k 17 --seed 1 --output figures
    """
    from dpwords.studies.grid import grid as run

    _show("grid", partial(run, k=k, seed=seed), output)


@study.command(cls=SectionedCommand)
@language_options
@field_options("separator")
@word_file_options
@click.option("--epsilon", "-e", callback=epsilons, required=True, help="One or more values of ε, as in 2,3,4,6.")
@field_options("edits", "k")
@certificate_options
@click.option(
    "--question",
    type=click.Choice(list(KINDS)),
    help="What an analyst wants to know: proportions of symbols, of states, of steps between states, of pairs of "
    "symbols (directly-follows graph), of first or of last symbols.  [default: transitions on a system, otherwise dfg]",
)
@click.option(
    "--draws", default=1, show_default=True, callback=at_least_one, help="Simulated releases of all words for each row."
)
@_SEED
@_OUTPUT
def data(
    input: str | None,
    epsilon: list[float],
    k: int,
    edits: Any,
    question: str | None,
    draws: int,
    seed: str | None,
    output: Path | None,
    **_options: Any,
) -> None:
    """Try every mechanism on your own true words: what it does to them, and what an analyst still learns.

    This is for the owner of the data and is NOT private: it simulates releases, and what it prints and writes are
    statistics of the true words. For each mechanism and ε the table has the distance per step, expected and observed;
    and the error of the --question, the sum of the absolute errors of all proportions, if the releases are counted as
    they are and if they are estimated. A report stands for promises about whole words, for which ε is the total.

    The words of the file are described as for dpwords release: lists or text in a --column, one of the --columns for
    each step, or one row for each event of a --case. Words of states need proofs, which take minutes at ε < 3;
    --certificate-time limits them, and the table says which calibration was in force.

    \b
    Examples:
      dpwords study data --input runs.jsonl --column cells --system grid:15x15@any --words states \\
          --epsilon 3,4,6 --seed 1 --output figures
      dpwords study data --input months.csv --columns "Jul.93:Jun.99" --alphabet @states.txt --epsilon 2,3,4,6
      dpwords study data --input log.csv --alphabet @activities.txt --epsilon 4,6 --edits all --draws 5
    """
    from dpwords.frames import need_pyarrow

    recipe = given_recipe([key for key in FIELDS if key not in ("epsilon", "output")])
    language, limits = recipe.language(), recipe.limits()
    if input is None:
        raise InvalidValue("--input is missing: name the file with the true words")
    need_pyarrow()
    from dpwords.frames.requests import Request
    from dpwords.frames.sources import words_in
    from dpwords.studies.data import NOT_PRIVATE, reading
    from dpwords.studies.data import data as run

    mechanism, inside = reading(language, edits)
    request = Request.of(recipe, inside)
    found = words_in(input, recipe.format, request, mechanism, not recipe.no_header)
    study = partial(run, found.words, language, epsilon, k, edits, question, draws=draws, seed=seed, limits=limits)
    skipped = (f"{found.skipped:,} rows are not in the language and left out",) if found.skipped else ()
    _show("data", study, output, (*skipped, NOT_PRIVATE))


def _show(name: str, run: Callable[..., Study], output: Path | None, remarks: tuple[str, ...] = ()) -> None:
    """Run a study, print it and write its files; after an error, no files are written.

    `remarks` are lines for standard error that go with the results.
    """
    from dpwords import plots
    from dpwords.cli.targets import check_target
    from dpwords.core.files import staged

    if output is not None:
        check_target(output / f"{name}.json")
        plots.need_matplotlib()
    found = run(progress=shown)
    terminal = Terminal.of_output()
    width = min(terminal.width or 100, 100)
    lines = [*textwrap.wrap(found.title, width), ""]
    lines += [line for each in found.tables for line in (*table(each.header, each.rows, terminal), "")]
    lines += [line for block in found.blocks for line in side_by_side(block, terminal)]
    lines += [line for note in found.notes for line in textwrap.wrap(note, width)]
    contents: dict[Path, bytes] = {}
    if output is not None:
        contents[output / f"{found.name}.json"] = json.dumps(found.document(), indent=1, ensure_ascii=False).encode()
        for title, draw in shown(list(found.figures.items()), "drawing figures"):
            figure = draw()
            contents |= {output / f"{title}.{form}": plots.encode(figure, form) for form in ("svg", "png")}
        lines += textwrap.wrap("Written: " + ", ".join(path.name for path in contents), width)
    with staged(contents):
        for text in remarks:
            note(text)
        emit(lines)
