"""dpwords study"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpwords.cli.colours import Terminal
from dpwords.cli.options import Command, at_least_one, with_options
from dpwords.cli.tables import side_by_side, table
from dpwords.cli.terminal import emit, shown

if TYPE_CHECKING:
    from dpwords.studies.study import Study

_OPTIONS = (
    click.option(
        "-k",
        default=1,
        show_default=True,
        callback=at_least_one,
        help="Words that differ in up to k places are neighbours.",
    ),
    click.option("--seed", help="Make the draws reproducible; nothing that is printed is private then."),
    click.option(
        "--output",
        "-o",
        type=click.Path(path_type=Path),
        help="A directory for the figures (SVG and PNG) and the results as JSON.",
    ),
)


def _options(command: Command) -> Command:
    """Add -k, --seed and --output."""
    return with_options(command, _OPTIONS)


@click.group(invoke_without_command=True, short_help="Repeat the case studies of the paper.")
@click.pass_context
def study(context: click.Context) -> None:
    """Run the paper's two case studies and show its numbers beside those found here.

    \b
    Examples:
      dpwords study strings
      dpwords study grid --seed 1 --output figures
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

    _report(run, k, seed, output)


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

    _report(run, k, seed, output)


def _report(run: Callable[..., Study], k: int, seed: str | None, output: Path | None) -> None:
    """Run a study, print it and write its files; after an error, no files are written."""
    from dpwords import plots
    from dpwords.core.files import check_output, staged

    if output is not None:
        check_output(output / f"{run.__name__}.json")
        plots.need_matplotlib()
    found = run(k=k, seed=seed, progress=shown)
    terminal = Terminal.of_output()
    width = min(terminal.width or 100, 100)
    lines = [*textwrap.wrap(found.title, width), ""]
    lines += [line for each in found.tables for line in (*table(each, terminal), "")]
    lines += [line for block in found.blocks for line in side_by_side(block, terminal)]
    lines += [line for note in found.notes for line in textwrap.wrap(note, width)]
    contents: dict[Path, bytes] = {}
    if output is not None:
        contents[output / f"{found.name}.json"] = json.dumps(found.document(), indent=1, ensure_ascii=False).encode()
        for name, draw in shown(list(found.figures.items()), "drawing figures"):
            figure = draw()
            contents |= {output / f"{name}.{form}": plots.encode(figure, form) for form in ("svg", "png")}
        lines += textwrap.wrap("Written: " + ", ".join(path.name for path in contents), width)
    with staged(contents):
        emit(lines)
