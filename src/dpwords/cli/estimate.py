"""dpwords estimate"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.completion import FILES, RULES
from dpwords.cli.estimate_rows import EstimateRows
from dpwords.cli.options import (
    SectionedCommand,
    at_least_one,
    certificate_options,
    field_options,
    language_options,
    mechanism_options,
    probability,
    refuse,
)
from dpwords.cli.released import ReleasedFile, released_file
from dpwords.cli.tables import percentage
from dpwords.cli.targets import check_target
from dpwords.cli.terminal import Terminal, emit, note, status
from dpwords.core.files import is_same_file, write_whole
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import WHERE
from dpwords.recipes.questions import OF_REPORTS, QUESTIONS

if TYPE_CHECKING:
    from dpwords.estimate import Estimates
    from dpwords.languages.language import Language

_TABLES, _PICTURES = (".json", ".csv", ".parquet", ".tex", ".md"), (".png", ".svg")
_MOST_NOTES = 3
MODELS = ("auto", "chain", "by place", "two steps")
_LEAST = 2  # releases: one does not show how much they vary


@click.command(cls=SectionedCommand, short_help="Estimate proportions, with intervals, from what was released.")
@click.option(
    "--question",
    type=click.Choice(QUESTIONS),
    help="Proportions of symbols (frequencies), of states that runs enter (visits), of steps between states "
    "(transitions), of pairs of consecutive symbols (dfg, the directly-follows graph), of first and last symbols, of "
    "whole words (variants), of lengths, or of words with a --pattern; or the probability of each step in its state "
    "(rates).  [default: for answers of a report, its question]",
)
@click.option(
    "--pattern",
    "patterns",
    multiple=True,
    shell_complete=RULES,
    help="Symbols in a row, written as words are, or a rule for whole words as in --rule. It can be given several "
    "times.",
)
@click.option("--per-place", is_flag=True, help="With frequencies: a table for each position of the words.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    callback=probability(0.95),
    help="How often the intervals cover the true proportion.",
)
@click.option(
    "--method",
    type=click.Choice(["auto", "inverse", "em"]),
    default="auto",
    show_default=True,
    help="'inverse' takes the noise off the counts, 'em' fits a model of the population by expectation–maximisation.",
)
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default="auto",
    show_default=True,
    help="What a step of the population depends on: the state alone (chain), also the position in the word (by place), "
    "or also the step before (two steps). 'auto' takes the one that explains releases best that were left out of its "
    "fit.",
)
@click.option(
    "--top",
    type=int,
    callback=at_least_one,
    help="Show so many of the largest ones.  [default: 20 on a terminal, 5 symbols with --per-place; otherwise all]",
)
@field_options("input", required=True, help="The released file. '-' is standard input.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A file to write instead of the table on standard output: .json, .csv or .parquet; .tex or .md, a table for a "
    "paper, rounded as the intervals justify; or a picture, .png or .svg. It can be given several times.",
)
@click.option(
    "--compare",
    shell_complete=FILES,
    help="A second released file, with a receipt of its own: estimate by how much larger the proportions of --input "
    "are. Its people must not be those of --input.",
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
    model: str,
    top: int | None,
    input: str,
    output: tuple[Path, ...],
    compare: str | None,
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
      dpwords estimate --input answers.parquet --output proportions.csv --output proportions.tex
      dpwords estimate --input weekdays.csv --compare weekends.csv --question transitions
      # without a receipt
      dpwords estimate --input private.txt --question frequencies --alphabet a-z --epsilon 6
    """
    for path in output:
        if compare is not None and path.suffix.lower() in _PICTURES:
            raise InvalidValue(
                f"a comparison has no picture: write a table ({', '.join(_TABLES[:-1])} or {_TABLES[-1]}), or "
                "leave out --compare"
            )
        check_target(path, suffixes=_TABLES + (_PICTURES if compare is None else ()))
    if compare is not None and (compare == input or is_same_file(Path(input), compare)):
        raise InvalidValue("--compare needs another file than --input: a population does not differ from itself")
    files = [_read(path, format, output) for path in (input, *([] if compare is None else [compare]))]
    read, asked = files[0], [_question(question, each, patterns) for each in files]
    if asked[0] != asked[-1]:
        raise InvalidValue(
            f"{files[0].name} has answers about {asked[0]}, {files[1].name} about {asked[1]}: compare like with like"
        )
    if asked[0] != "patterns":
        refuse("--pattern belongs to --question patterns", "patterns")
    if asked[0] != "frequencies":
        refuse("only --question frequencies has a table for each position", "per_place")
    how = {"confidence": confidence, "method": method, "model": model}
    wanted = [_pattern(text, read.mechanism.language, read.separator) for text in dict.fromkeys(patterns)]
    found = []
    for each in files:
        try:
            found.append(_answered(asked[0], each, wanted, per_place, how))
        except InvalidValue as error:
            whose = "" if compare is None or error.message.startswith(each.name) else f"{each.name}: "
            raise InvalidValue(f"{whose}{error.message}") from None
    names = tuple(dict.fromkeys(patterns)) or (read.contents.positions if per_place else ())
    symbol = "symbol" if read.mechanism.language.spelling is None else "state"
    shown, compared = found[0], None
    if compare is not None:
        from dpwords.estimate import difference

        shown, compared = difference(*found), (files[0].name, files[1].name)
    rows = EstimateRows(shown, per_place, names, top, symbol, compared, read.separator)
    if output:
        mechanisms = [each.mechanism for each in files]
        write_whole({path: rows.content(path, *mechanisms) for path in output})
    else:
        emit(rows.lines(Terminal.of_output()))
    _report(rows, [text for each in files for text in each.notes], output)


def _read(path: str, format: str | None, output: Sequence[Path]) -> ReleasedFile:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "of each word only")  # advice for who is about to release
        return released_file(path, format, output)


def _question(question: str | None, read: ReleasedFile, patterns: Sequence[str]) -> str:
    if read.mechanism.answers is not None:
        refuse(
            "answers of a report are estimated by inversion, over all positions",
            "method",
            "model",
            "per_place",
            "patterns",
        )
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
    patterns: Sequence[Any],
    per_place: bool,
    how: dict[str, Any],
) -> Sequence[Estimates]:
    """The estimates, one table or one for each position. Warnings that are not among their notes are passed on."""
    from dpwords import estimate as asked

    mechanism, codes = read.mechanism, read.contents.codes
    if len(read.contents) < _LEAST:
        number = len(read.contents) or "no"
        raise InvalidValue(f"{read.name} has {number} release to estimate a population from: collect many of them")
    options: dict[str, Any] = {"confidence": how["confidence"]}
    if question == "lengths":
        refuse("lengths are counted, or fitted for the edit channel", "method", "model")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if mechanism.answers is None:
            read.prepare()
        with status("estimating") as say:
            if mechanism.answers is None and question != "lengths":
                options |= {**how, "progress": say}
            if question == "patterns":
                found: Sequence[Estimates] = [asked.patterns(codes, mechanism, patterns, **options)]
            elif per_place:
                found = asked.frequencies(codes, mechanism, per_place=True, **options)
            else:
                found = [getattr(asked, question)(codes, mechanism, **options)]
    said = {text for one in found for text in one.notes}
    for text in dict.fromkeys(str(each.message) for each in caught):
        if text not in said:
            note(f"note: {text}")
    return found


def _pattern(text: str, language: Language, separator: str | None) -> Any:
    """A rule for whole words, or symbols in a row."""
    from dpwords.languages.systems import written
    from dpwords.recipes.notation import Notation, is_rule, rule

    unknown = re.match("[A-Za-z_-]+:", text) and not any(":" in written(each) for each in language.letters.symbols)
    if is_rule(text) or unknown:
        return rule(text, language)
    try:
        named = language if language.spelling is None else language.system.by_states()  # patterns are of states
        notation = Notation(named, separator)
    except InvalidValue:
        raise InvalidValue("symbols have spaces in their names: write the pattern as a rule, contains:a;b") from None
    return tuple(notation.read(text))


def _report(rows: EstimateRows, of_files: Sequence[str], output: Sequence[Path]) -> None:
    """How the estimates were made, and what to beware of; `of_files` are notes about the files."""
    first = rows.tables[0]
    apart = rows.by_position or first.question in ("patterns", "rates", "variants")
    what = "proportions" if rows.compared is None else "differences"
    off = "" if apart else f"; all {what} together are off by about {first.total_error:.2g}"
    sure = "no intervals" if math.isnan(first.total_error) else f"{percentage(first.confidence)} intervals{off}"
    sizes = " and ".join(f"{number:,}" for number in rows.releases)
    note(f"{first.question} from {sizes} releases, by {rows.method}; {sure}")
    if rows.compared is not None:
        clear, number = sum(len(getattr(one, "beyond_chance", ())) for one in rows.tables), sum(map(len, rows.tables))
        if first.question == "lengths":
            number = len(getattr(first, "found", first))  # others are not shown
        note(f"differences are {' − '.join(rows.compared)}; {clear:,} of {number:,} have intervals without 0")
    notes = rows.notes()
    more, written = len(notes) - _MOST_NOTES, [path.name for path in output if path.suffix.lower() == ".json"]
    where = f"{written[0]} has" if written else "--output FILE.json would have"
    others = [f"{where} {more} more {'note' if more == 1 else 'notes'}"] if more > 0 else []
    for text in (*of_files, *notes[:_MOST_NOTES], *others):
        note(f"note: {text}")
