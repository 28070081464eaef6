"""dpwords estimate"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.colours import Terminal
from dpwords.cli.completing import rules
from dpwords.cli.estimate_table import EstimateRows
from dpwords.cli.help import SectionedCommand
from dpwords.cli.options import (
    at_least_one,
    certificate_options,
    field_options,
    language_options,
    mechanism_options,
    refuse,
)
from dpwords.cli.released import ReleasedFile, released_file
from dpwords.cli.terminal import emit, note, status
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import WHERE
from dpwords.recipes.questions import OF_REPORTS, QUESTIONS

if TYPE_CHECKING:
    from dpwords.estimate import Estimates
    from dpwords.languages.language import Language

_OUTPUTS = (".json", ".csv", ".parquet", ".png", ".svg")
_MOST_NOTES = 3
_LEAST = 2  # releases: one does not show how much they vary


def _proportion(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise InvalidValue("--confidence is between 0 and 1: take for example --confidence 0.95")
    return value


def _at_least_one(context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    return None if value is None else at_least_one(context, option, value)


@click.command(cls=SectionedCommand, short_help="Estimate proportions, with intervals, from what was released.")
@click.option(
    "--question",
    type=click.Choice(QUESTIONS),
    help="Proportions of symbols (frequencies), of states that runs enter (visits), of steps between states "
    "(transitions), of pairs of consecutive symbols (dfg, the directly-follows graph), of first and last symbols, of "
    "lengths, or of words with a --pattern.  [default: for answers of a report, its question]",
)
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    shell_complete=rules,
    help="Symbols in a row, written as words are, or a rule for whole words as in --rule. It can be given several "
    "times.",
)
@click.option("--per-place", is_flag=True, help="With frequencies: a table for each position of the words.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    callback=_proportion,
    help="How often the intervals cover the true proportion.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "inverse", "em"]),
    default="auto",
    show_default=True,
    help="'inverse' takes the noise off the counts, 'em' fits a Markov chain by expectation–maximisation.",
)
@click.option(
    "--top",
    type=int,
    callback=_at_least_one,
    help="Show so many of the largest proportions.  [default: 20 on a terminal, 5 symbols with --per-place; otherwise all]",
)
@field_options("input", required=True, help="The released file. '-' is standard input.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A file to write instead of the table on standard output: .json, .csv or .parquet, or a picture, .png or "
    ".svg. It can be given several times.",
)
@field_options("format", "no_header", *WHERE)
@language_options
@field_options("epsilon", help="The ε of each word.")
@field_options("report")
@mechanism_options
@certificate_options
def estimate(
    question: str | None,
    patterns: tuple[str, ...],
    per_place: bool,
    confidence: float,
    method: Any,
    top: int | None,
    input: str,
    output: tuple[Path, ...],
    format: str | None,
    **_release: Any,
) -> None:
    """Estimate what a population of private words looks like, from a file that 'dpwords release' has written.

    Each proportion comes with a confidence interval and, as "counted", with what the releases would give if they were
    taken for the true words. No privacy is spent: only the released file and its receipt are read. Releases of one
    person count as if they came from several people.

    How the words were released, and where they are in the file, is in the receipt: in the metadata of the file, or
    beside it as NAME.receipt.json. Options replace what the receipt says, for example where the file of an --alphabet
    lies elsewhere now. They have to describe the same mechanism. Without a receipt, they describe all of it.

    On a terminal the output is a table, and in a pipe there are tabs between the columns.

    \b
    Examples:
      dpwords estimate --input private.parquet --question transitions
      dpwords estimate --input private.jsonl --question visits --output visits.png --output visits.json
      dpwords estimate --input months.csv --question frequencies --per-place --output months.svg
      dpwords estimate --input log.csv --question dfg --alphabet @activities.txt --output graph.svg
      dpwords estimate --input log.csv --question patterns --pattern "pay ship" --pattern "never:cancel"
      dpwords estimate --input answers.parquet --output proportions.csv
      # without a receipt
      dpwords estimate --input private.txt --question frequencies --alphabet a-z --epsilon 6
    """
    for path in output:
        _check_output(path)
    read = _read(input, format)
    asked = _question(question, read, patterns)
    if asked != "patterns":
        refuse("--pattern belongs to --question patterns", "patterns")
    if asked != "frequencies":
        refuse("only --question frequencies has a table for each position", "per_place")
    found = _answered(asked, read, patterns, per_place, confidence, method)
    names = _named(read, patterns) if per_place or asked == "patterns" else ()
    rows = EstimateRows(found, per_place, names, top)
    _write(rows, read, output)
    _report(rows, read)


def _read(path: str, format: str | None) -> ReleasedFile:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "of each word only")  # advice for who is about to release
        return released_file(path, format)


def _question(question: str | None, read: ReleasedFile, patterns: Sequence[str]) -> str:
    if read.mechanism.answers is not None:
        refuse("answers of a report are estimated by inversion, over all positions", "method", "per_place", "patterns")
        answered = OF_REPORTS[read.mechanism.answers.question]
        if question not in (None, answered):
            raise InvalidValue(f"these people were asked about {answered}: leave out --question")
        return answered
    if question is None and not patterns:
        raise InvalidValue(f"--question is missing: ask for one of {', '.join(QUESTIONS)}")
    if question == "patterns" and not patterns:
        raise InvalidValue("there is no pattern to look for: give at least one --pattern")
    return question or "patterns"


def _answered(
    question: str,
    read: ReleasedFile,
    patterns: Sequence[str],
    per_place: bool,
    confidence: float,
    method: Any,
) -> Sequence[Estimates]:
    """The estimates, one table or one for each position. Warnings that are not among their notes are passed on."""
    from dpwords import estimate as asked

    mechanism, codes = read.mechanism, read.contents.codes
    if len(read.contents) < _LEAST:
        number = len(read.contents) or "no"
        raise InvalidValue(f"{read.name} has {number} release to estimate a population from: collect many of them")
    options: dict[str, Any] = {"confidence": confidence}
    if question == "lengths":
        refuse("lengths are counted, or fitted for the edit channel", "method")
    with warnings.catch_warnings(record=True) as caught, status("estimating") as say:
        warnings.simplefilter("always")
        if mechanism.answers is None:
            _prepare(read, say)
            options |= {} if question == "lengths" else {"method": method, "progress": say}
        if question == "patterns":
            wanted = [_pattern(text, mechanism.language, read.separator) for text in dict.fromkeys(patterns)]
            found: Sequence[Estimates] = [asked.patterns(codes, mechanism, wanted, **options)]
        elif per_place:
            found = asked.frequencies(codes, mechanism, per_place=True, **options)
        else:
            found = [getattr(asked, question)(codes, mechanism, **options)]
    said = {text for one in found for text in one.notes}
    for text in dict.fromkeys(str(each.message) for each in caught):
        if text not in said:
            note(f"note: {text}")
    return found


def _prepare(read: ReleasedFile, say: Any) -> None:
    """Make what the estimates need from calibration, where it can be seen."""
    from dpwords.core.symbols import Ragged

    assert isinstance(read.contents.codes, Ragged)
    lengths = sorted(set(read.contents.codes.sizes.tolist()) - {0})
    for number, length in enumerate(lengths, start=1):
        if read.mechanism.certificates is not None and read.mechanism.k <= length:
            read.mechanism.prepare(length, partial(_say_step, say, f" ({number} of {len(lengths)})"))
    say("estimating")


def _say_step(say: Callable[[str], None], about: str, text: str, _proportion: float | None) -> None:
    say(text + about)


def _pattern(text: str, language: Language, separator: str | None) -> Any:
    """A rule for whole words, or symbols in a row."""
    from dpwords.recipes.notation import Notation
    from dpwords.recipes.rule_notation import is_rule, rule

    if is_rule(text):
        return rule(text, language)
    try:
        notation = Notation(language, separator)
    except InvalidValue:
        raise InvalidValue("symbols have spaces in their names: write the pattern as a rule, contains:a;b") from None
    return tuple(notation.read(text))


def _named(read: ReleasedFile, patterns: Sequence[str]) -> Sequence[str]:
    """The names of the positions, if they have columns, or of the patterns."""
    return tuple(dict.fromkeys(patterns)) or read.contents.positions


def _check_output(path: Path) -> None:
    """Refuse a file that could not be written, before anything is computed."""
    from dpwords.cli.targets import check_target

    if path.suffix.lower() not in _OUTPUTS:
        raise InvalidValue(f"--output takes a file name that ends in {', '.join(_OUTPUTS[:-1])} or {_OUTPUTS[-1]}")
    if path.suffix.lower() in (".png", ".svg"):
        from dpwords import plots

        plots.need_matplotlib()
    check_target(path)


def _write(rows: EstimateRows, read: ReleasedFile, output: Sequence[Path]) -> None:
    """Write all files, or the table to standard output."""
    from dpwords.core.files import write_whole

    if not output:
        emit(rows.lines(Terminal.of_output()))
        return
    mechanism = read.mechanism
    about = {"mechanism": type(mechanism).__name__, "epsilon": mechanism.epsilon, "guarantee": str(mechanism.guarantee)}
    write_whole({path: _content(rows, path, read, about) for path in output})


def _content(rows: EstimateRows, path: Path, read: ReleasedFile, about: dict[str, Any]) -> bytes:
    kind = path.suffix.lower()
    if kind == ".json":
        return rows.json(about)
    if kind == ".csv":
        return rows.csv()
    if kind == ".parquet":
        return rows.parquet()
    from dpwords import plots

    found = list(rows.tables) if rows.by_position else rows.tables[0]
    return plots.content_for(plots.estimates(found, read.mechanism.language, names=rows.names), path)


def _report(rows: EstimateRows, read: ReleasedFile) -> None:
    """How the estimates were made, and what to beware of."""
    first = rows.tables[0]
    how = {"inverse": "inversion", "counted": "counting"}.get(first.method, "expectation–maximisation")
    apart = rows.by_position or first.question == "patterns"
    off = "" if apart else f"; all proportions together are off by about {first.total_error:.2g}"
    sure = "no intervals" if math.isnan(first.total_error) else f"intervals of {first.confidence:.4g}{off}"
    note(f"{first.question} from {first.releases:,} releases, by {how}; {sure}")
    for text in read.notes:
        note(f"note: {text}")
    notes = rows.notes()
    for text in notes[:_MOST_NOTES]:
        note(f"note: {text}")
    if len(notes) > _MOST_NOTES:
        note(f"note: {len(notes) - _MOST_NOTES} more notes are in a .json file that --output names")
