"""dpwords release"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.certifying import certified, certify
from dpwords.cli.help import SectionedCommand
from dpwords.cli.options import (
    certificate_options,
    described,
    language_options,
    mechanism_options,
    public_language,
    refuse,
    report_option,
)
from dpwords.cli.release_files import file_options, refuse_file_options, release_file
from dpwords.cli.terminal import emit, lines_of_stdin, note, shown
from dpwords.errors import InvalidValue, NotInLanguage

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.by_length import ByLength
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.private import Private

_WARNED = 3  # lengths, the largest ones, whose warnings are shown


def _silence(_context: click.Context, _parameter: click.Parameter, chosen: bool) -> bool:
    """Show no warnings in this process."""
    if chosen:
        warnings.simplefilter("ignore")
    return chosen


@click.command(cls=SectionedCommand, short_help="Release private versions of words, of lines, or of a table.")
@click.argument("words_given", metavar="[WORD]...", nargs=-1)
@language_options
@click.option(
    "--epsilon",
    "-e",
    type=float,
    help="The privacy budget that each word spends. It may be left out where a --budget is shared equally.",
)
@report_option
@mechanism_options
@click.option("--separator", help="What separates symbols.  [default: nothing, or a space if symbols are longer]")
@certificate_options
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="A file that keeps the certificates of a system or lexicon for the next run; each is proved again when it is "
    "read. Those of a large lexicon, which take minutes, are made only with this option.",
)
@click.option(
    "--any-word",
    is_flag=True,
    help="With --edits all on a system: take any word over its symbols, and not only words of the system.",
)
@file_options
@click.option("--quiet", "-q", is_flag=True, callback=_silence, help="Write nothing to standard error but errors.")
def release(
    words_given: tuple[str, ...],
    separator: str | None,
    epsilon: float | None,
    certificates: Path | None,
    any_word: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Release a private version of each WORD, of each line of standard input, or of each word in a table.

    With --input the words are in a file: lists or text in a --column, one of the --columns for each step, or one row
    for each event of a --case. They may have any lengths; k is at most the length of each. Other columns are copied as
    they are, and are not protected. The output appears when it is complete. With --resume an interrupted run goes on.

    For words and lines, the output has one line for each word, or is empty if there is an error. Blank lines at the end
    of the input are ignored; where --edits all takes the empty word, each blank line is one. Words keep their length,
    unless --edits all hides insertions and deletions too. The alphabet or system is public: declare it, and never
    derive it from the data. On a system, words of each length use the mechanism with the least public expected distance
    at that length; a line on standard error names it. --mechanism fixes one instead.

    With --report, what is released are not words: each line, or each row of the column of words, has the answers that
    are named, the true one perhaps among them. Words in --columns are answered in one column, answer, and events in one
    row for each --case.

    \b
    Examples:
      dpwords release "american control conference 2019" --alphabet "a-z0-9 " --epsilon 6
      dpwords release SSEE EESS --system grid:15x15 --epsilon 5
      dpwords release "0,1 0,2 1,2" --system grid:15x15 --words states --epsilon 5
      dpwords release --system roads.csv --epsilon 5 < routes.txt
      dpwords release SSEE --system grid:15x15 --epsilon 2 --mechanism online
      dpwords release "meet me at noon" --alphabet "a-z " --epsilon 8 --edits all
      dpwords release bern --lexicon cities.txt --epsilon 6 --edits all
      dpwords release --alphabet @activities.txt --separator ";" --epsilon 3 < traces.txt
      dpwords release EESS SSEE --system grid:15x15 --report visits --epsilon 4
    \b
      # routes in Parquet on a road network
      dpwords release --input routes.parquet --column route --system roads.csv --epsilon 5 \\
          --by user --output private.parquet
      # the same, but all words of a user together spend ε = 10
      dpwords release --input routes.parquet --column route --system roads.csv --by user --budget 10 \\
          --output private.parquet
      # runs on a grid, JSON Lines with arrays of cells
      dpwords release --input runs.jsonl --column cells --system grid:15x15@any --words states \\
          --epsilon 5 --output private.jsonl
      # a wide table with a column for each month, and an event log
      dpwords release --input months.csv --columns "Jul.93:Jun.99" --alphabet @states.txt --epsilon 4 \\
          --output private.csv
      dpwords release --input log.csv --case case:concept:name --symbol concept:name --order time:timestamp \\
          --alphabet @activities.txt --epsilon 3 --output private.csv
      # one answer of each person about a run that is secret as a whole
      dpwords release --input runs.jsonl --column run --system grid:15x15 --words states --report visits \\
          --epsilon 4 --output answers.parquet
      # from standard input to standard output
      zcat words.csv.gz | dpwords release --input - --format csv --column word --alphabet a-z --epsilon 6 \\
          > private.csv
    """
    from dpwords.cli.targets import check_target
    from dpwords.mechanisms.report import Report
    from dpwords.recipes.notation import Notation

    language = public_language(**options)
    epsilon = _epsilon(epsilon, options)
    mechanism = described(language, epsilon, **options)
    exponential = certified(mechanism)
    if mechanism.certificates is None:
        refuse(
            "certificates are for tight calibration on systems and lexicons, which is not in use here", "certificates"
        )
    if certificates is not None:
        check_target(certificates, "certificates")
    inside = _checked_inside(mechanism, any_word)
    if options["input"] is not None:
        options |= {"separator": separator, "epsilon": epsilon, "any_word": any_word, "quiet": quiet}
        release_file(mechanism, inside, certificates, options)
        return
    refuse_file_options()
    notation = Notation(language, separator)
    empty_word = mechanism.distance == "levenshtein" and language.accepts([])
    words = [notation.read(text) for text in words_given or lines_of_stdin(ends_blank=empty_word)]
    if inside is not None:
        _refuse_others(inside, words)
    if exponential is not None and all(map(language.accepts, words)):
        certify(exponential, certificates, {len(word) for word in words if word})
    try:
        released = mechanism.release_all(words, progress=partial(shown, label="releasing"))
    except NotInLanguage as error:
        _refuse_broken_rules(words, options)
        change = " (--separator changes that)" if notation.as_characters else ""
        raise NotInLanguage(f"{error.message}; words are read {notation.manner}{change}") from None
    if certificates is not None and exponential is not None:
        exponential.certificate.save(certificates)
    if isinstance(mechanism, Report):
        emit([mechanism.written(answer, separator or " ") for answer in released])
    else:
        emit([notation.write(word) for word in released])
    if not quiet and words:
        _tell(mechanism, sorted({len(word) for word in words if word}), options["calibration"] == "tight")


def _tell(mechanism: Private, lengths: list[int], tight: bool) -> None:
    """How words of these lengths were released, and what is to be said about the promise."""
    from dpwords.mechanisms.by_length import ByLength
    from dpwords.mechanisms.report import Report

    exponential = certified(mechanism)
    if isinstance(mechanism, Report):
        note(mechanism.in_force(lengths[0]).text)
    elif isinstance(mechanism, ByLength):
        note(_chosen(mechanism, lengths))
    elif exponential is not None and tight:
        _note_textbook(exponential, lengths)
    for length in lengths[-_WARNED:]:
        for text in mechanism.known_warnings(length):
            note(f"warning: {text}" if len(lengths) == 1 else f"warning for words of length {length}: {text}")


def _epsilon(epsilon: float | None, options: Mapping[str, Any]) -> float:
    """The ε of the mechanism: that of each word, or a budget that the words of each person share."""
    if epsilon is not None:
        return epsilon
    shared = options["split"] == "equal" or (options["split"] is None and options["ledger"] is None)
    if options["budget"] is None or not shared:
        raise InvalidValue("--epsilon is missing: see dpwords release --help")
    return float(options["budget"])


def _checked_inside(mechanism: Private, any_word: bool) -> Language | None:
    """The language that words have to be in although the mechanism would take any word over its symbols."""

    onto = mechanism.projected_onto
    if onto is None:
        refuse("only --edits all on a system takes other words than its own", "any_word")
    return None if any_word else onto


def _refuse_others(inside: Language, words: list[Any]) -> None:
    for number, word in enumerate(words, start=1):
        fault = inside.fault(tuple(word))
        if fault is not None:
            raise NotInLanguage(
                f"word {number}: the word is not in the language ({fault}): correct it, or use --any-word to take "
                "every word over the symbols"
            )


def _refuse_broken_rules(words: list[Any], options: Mapping[str, Any]) -> None:
    """Refuse the first word that is in the language except for one of the rules, with the rule."""
    without = public_language(**{**options, "rules": ()})
    for number, word in enumerate(words, start=1):
        for text in options["rules"] if without.accepts(word) else ():
            if not public_language(**{**options, "rules": (text,)}).accepts(word):
                raise NotInLanguage(f"word {number} breaks the rule {text}: correct it, or leave out the rule")


def _chosen(mechanism: ByLength, lengths: list[int]) -> str:
    """Which candidate words of each length have used, in one line."""
    used: dict[str, list[int]] = {}
    for length in lengths:
        used.setdefault(mechanism.chosen(length) + _rate(mechanism, length), []).append(length)
    parts = [f"{name} for words of length {', '.join(map(str, some))}" for name, some in used.items()]
    if len(lengths) == 1:
        found, name = mechanism.compared(lengths[0]), mechanism.chosen(lengths[0])
        shown = {each: "too large to compute" if isnan(found[each]) else f"{found[each]:.3g}" for each in found}
        figures = ", ".join(f"{each} {shown[each]}" for each in sorted(found, key=lambda each: each != name))
        parts[0] += f" (expected distance: {figures})"
    return f"best mechanism: {'; '.join(parts)}"


def _rate(mechanism: ByLength, length: int) -> str:
    """What to add to the name of the candidate where nothing better than the textbook rate is proven."""
    at_half = mechanism.in_force(length).calibration == "textbook"
    return " (at the textbook rate)" if at_half and "textbook" not in mechanism.chosen(length) else ""


def _note_textbook(mechanism: Exponential, lengths: list[int]) -> None:
    """Say for which lengths nothing better than the textbook rate is proven."""
    some = [length for length in lengths if mechanism.in_force(length).calibration == "textbook"]
    if some:
        note(f"the textbook rate, half of ε, is in force for words of length {', '.join(map(str, some))}")
