"""dpwords release --input: from file to file, with a summary before the draw and a report after it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpwords.cli.certifying import certified, certify
from dpwords.cli.completing import files
from dpwords.cli.options import above_zero, refuse, with_options
from dpwords.cli.targets import refuse_overwriting
from dpwords.cli.terminal import check_standard_output, copy_out, note, rows_bar, status
from dpwords.errors import InvalidValue, TooLarge
from dpwords.recipes.table_formats import FORMATS

if TYPE_CHECKING:
    from dpwords.frames.runs import FileRun, Job
    from dpwords.frames.survey import Plan
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private

Command = TypeVar("Command", bound=Callable[..., Any])
_STANDARD = "-"
_WORTH_TELLING = 100  # rows a second: for a few rows, the time is that of starting
_PATIENCE = 10  # seconds of proofs, after which a faster way is named
_MUCH = 10.0  # ε of a person, beyond which a promise says little
_SHOWN = 6  # names of columns in one line
_EXAMPLE = 10  # symbols of a word
_INPUT = click.option(
    "--input",
    shell_complete=files,
    help="A file with a table of words: .csv, .tsv, .jsonl, .txt (a word on each line), .parquet, .arrow or "
    ".feather; text also as .gz, .bz2, .xz or .zst. '-' is standard input.",
)
NO_HEADER = click.option(
    "--no-header",
    is_flag=True,
    help="The first line of a CSV or TSV file is a row like the others. Columns are called 1, 2, 3, …, and CSV and TSV "
    "are written without a header, too.",
)
HEADER = click.option(
    "--header",
    is_flag=True,
    help="The first line of a CSV or TSV file has the names of the columns, even if they could be words or symbols.",
)
_FORMAT = click.option("--format", type=click.Choice(FORMATS), help="The input's format.  [default: by its suffix]")
_SHAPE = (
    click.option("--column", help="The column of words: lists of symbols, or text."),
    click.option("--columns", help="One column for each step: a range 'm1:m12' or a pattern 'm*'."),
    click.option("--case", help="In a log with one row for each event, the column that says which word it belongs to."),
    click.option("--symbol", help="In a log, the column of symbols."),
    click.option("--order", help="In a log, the column that orders the events of a word, such as a time."),
)
_INVALID = click.option(
    "--invalid",
    type=click.Choice(["fail", "skip"]),
    help="Rows whose word is not in the language: refuse the file, or leave the rows out.  [default: fail]",
)
_FILES = (
    _INPUT,
    click.option("--output", shell_complete=files, help="The file to write. '-' is standard output.  [default: -]"),
    _FORMAT,
    HEADER,
    NO_HEADER,
    click.option(
        "--output-format",
        type=click.Choice(FORMATS),
        help="The output's format.  [default: by its suffix; on standard output that of the input]",
    ),
    *_SHAPE,
    click.option(
        "--id",
        help="A column that differs in every row and names its word; draws depend on it. A --key-file needs one.  "
        "[default: the row's number]",
    ),
    click.option("--by", help="The column that says whose word it is: what the words of a person spend adds up."),
    click.option(
        "--budget",
        type=float,
        callback=above_zero,
        help="The most ε that the words of one person may spend; with --ledger, in all runs.",
    ),
    click.option(
        "--split",
        type=click.Choice(["equal", "first"]),
        help="How a budget is divided: equally over a person's words, or --epsilon for as many of the first ones as it "
        "pays for.  [default: equal; with --ledger, not at all]",
    ),
    click.option(
        "--ledger",
        shell_complete=files,
        help="A file that records the ε spent for each person, before anything is drawn.",
    ),
    click.option("--resume", is_flag=True, help="Finish a run that was interrupted; it is not paid for twice."),
    _INVALID,
    click.option("--drop-others", is_flag=True, help="Write no columns but those of the words, --id and --by."),
    click.option(
        "--key-file",
        shell_complete=files,
        help="A file with 64 hexadecimal digits, a secret key: the same key, --id and word give the same draw.  "
        "[default: a fresh key, destroyed when the run is finished]",
    ),
)
_NEED_INPUT = (
    *(
        "output",
        "format",
        "header",
        "no_header",
        "output_format",
        "column",
        "columns",
        "case",
        "symbol",
        "order",
        "id",
        "by",
    ),
    *("budget", "split", "ledger", "resume", "invalid", "drop_others", "key_file"),
)
_WHERE = ("column", "columns", "case", "symbol", "order", "separator", "id", "by")


def file_options(command: Command) -> Command:
    """Add --input, --output and what belongs to them."""
    return with_options(command, _FILES)


def word_file_options(command: Command) -> Command:
    """Add --input, and what says where its words are."""
    return with_options(command, (_INPUT, _FORMAT, HEADER, NO_HEADER, *_SHAPE, _INVALID))


def refuse_file_options() -> None:
    """Raise `InvalidValue` if an option is given that has no effect without --input."""
    refuse("without --input there is no file", *_NEED_INPUT)


def release_file(
    mechanism: Private, inside: Language | None, certificates: Path | None, options: Mapping[str, Any]
) -> None:
    """Release the words of a file, as the options say.

    `inside` is the language that words have to be in, if it is not that of the mechanism.
    """
    from dpwords.frames import need_pyarrow

    _refuse_what_has_no_effect(options)
    need_pyarrow()
    from dpwords.frames.runs import FileRun

    quiet, key_file, charged = options["quiet"], options["key_file"], options["ledger"] is not None
    job = _job(mechanism, inside, options)
    if charged and Path(options["ledger"]).exists():
        _ledger(options)  # refuses what is not a ledger before any work; a new one is only made when all is checked
    run: FileRun | None = None
    begin, written = time.monotonic(), False
    try:
        with FileRun(job, None if key_file is None else _key(key_file, quiet), options["resume"]) as run:
            if run.is_complete:
                _tell(not quiet, f"{Path(job.target).name} is complete: there is nothing to resume")
                return
            if job.target == _STANDARD:
                check_standard_output(run.target_is_text)
            with rows_bar("checking", quiet=quiet) as progress:
                plan = run.survey(progress, charged)
            if not quiet:
                _tell_contents(run, plan, options)
            _certify_all(mechanism, plan, certificates, quiet)
            if not quiet:
                _tell_promise(run, plan)
            ledger = _ledger(options) if charged else None
            with rows_bar("releasing", plan.rows, quiet) as progress:
                output = run.write(plan, ledger, progress)
            written = True
            if output is not None:
                copy_out(output)
            if not quiet:
                _tell_after(run, plan, time.monotonic() - begin)
    except KeyboardInterrupt:
        if written:
            raise KeyboardInterrupt("all was released before") from None
        if run is not None and run.is_begun:
            raise KeyboardInterrupt(
                "the output is not complete, and not in its place: finish it with --resume"
            ) from None
        raise
    except TooLarge as error:
        unfinished = run is not None and run.is_begun and not written
        remedy = "; where there is more memory, finish this run with --resume" if unfinished else ""
        raise TooLarge(f"{error.message}{remedy}") from None
    if certificates is not None and (exponential := certified(mechanism)) is not None:
        exponential.certificate.save(certificates)


def _job(mechanism: Private, inside: Language | None, options: Mapping[str, Any]) -> Job:
    from dpwords.frames.receipts import place_of, public_options
    from dpwords.frames.requests import Request
    from dpwords.frames.runs import Job

    divided = options["ledger"] is None or options["split"] is not None
    public = public_options(options)
    for name in ("alphabet", "system", "lexicon"):
        if public[name] is not None:
            public[name] = _without_folder(public[name])
    request = Request(
        **{name: options[name] for name in _WHERE},
        budget=options["budget"] if divided else None,
        split=options["split"],
        invalid=options["invalid"] or "fail",
        drop_others=options["drop_others"],
        header=confirmed_header(options),
        inside=inside,
    )
    target = options["output"] or _STANDARD
    for written in () if target == _STANDARD else (Path(target), place_of(Path(target))):
        refuse_overwriting(written)
    formats, header = (options["format"], options["output_format"]), not options["no_header"]
    return Job(mechanism, options["input"], target, *formats, request, public, header)


def confirmed_header(options: Mapping[str, Any]) -> bool | None:
    """True if the user says that there is a header; None if they do not."""
    if options["header"] and options["no_header"]:
        raise InvalidValue("--header and --no-header say the opposite: leave out one of them")
    return options["header"] or None


def _without_folder(option: str) -> str:
    """An option without the folder of a file that it names: that is nobody's business but the owner's."""
    mark = "@" if option.startswith("@") else ""
    return mark + Path(option[len(mark) :]).name if Path(option[len(mark) :]).is_file() else option


def _refuse_what_has_no_effect(options: Mapping[str, Any]) -> None:
    refuse("with --input the words come from a file", "words_given")
    if options["output"] in (None, _STANDARD):
        refuse("only a file that --output names can be finished later", "resume")
    if options["budget"] is None:
        refuse("there is no --budget to divide", "split")


def _ledger(options: Mapping[str, Any]) -> Any:
    from dpwords.ledger import Ledger

    return Ledger(options["ledger"], budget=options["budget"])


def _key(path: str, quiet: bool) -> bytes:
    """The key in a file; a note if others may read it."""
    from dpwords.core.files import read_text

    digits = read_text(path).strip()
    if not re.fullmatch("[0-9a-fA-F]{64}", digits):
        raise InvalidValue("a key file has 64 hexadecimal digits: make one with 'openssl rand -hex 32'")
    if not quiet and os.name == "posix" and Path(path).stat().st_mode & 0o077:
        note("note: the key file can be read by others, who can then undo the privacy: chmod 600 it")
    return bytes.fromhex(digits)


def _certify_all(mechanism: Private, plan: Plan, certificates: Path | None, quiet: bool) -> None:
    """Make everything that the draws need from calibration, where it can be seen."""
    from dpwords.mechanisms.by_length import ByLength

    begin, told = time.monotonic(), quiet
    for number, (each, length) in enumerate(plan.kinds, start=1):
        exponential = certified(each)
        if exponential is not None and length:
            several = len(plan.kinds) > 1 and not _hides_lengths(plan)
            about = f" words of length {length} ({number} of {len(plan.kinds)})" if several else ""
            certify(exponential, certificates if each is mechanism else None, {length}, quiet, about)
        if isinstance(each, ByLength):
            with status(f"choosing a mechanism for words of length {length}"):
                each.at(length)
        if not told and number < len(plan.kinds) and time.monotonic() - begin > _PATIENCE:
            note(
                f"proofs for {number} of {len(plan.kinds)} lengths took {time.monotonic() - begin:.0f} s: "
                "--certificate-time 2 or --mechanism online is faster, and can be less accurate"
            )
            told = True


def _tell_contents(run: FileRun, plan: Plan, options: Mapping[str, Any]) -> None:
    """What is in the file, what happens to its columns, and what people spend, for the owner of the data."""
    skipped = f", of which {plan.skipped:,} are not in the language and left out" if plan.skipped else ""
    note(f"{plan.rows:,} {plan.release.row}s{skipped}")
    if options["columns"] is not None:
        first, *others = run.word_columns
        where = f"{len(others) + 1} columns, from {first} to {others[-1]}" if others else f"one column, {first}"
        note(f"each word is in {where}")
    if run.copied_columns:
        needless = plan.release.row == "row" and set(run.copied_columns) - {options["id"], options["by"]}
        remedy = " (--drop-others leaves out those that no option names)" if needless else ""
        note(f"copied as they are, and not protected: {_listed(run.copied_columns)}{remedy}")
    if plan.facts is not None:
        note(str(plan.facts))
        if plan.facts.most_spent > _MUCH:
            note(
                f"warning: ε = {plan.facts.most_spent:.4g} in all promises next to nothing about what the words of a "
                "person have in common, such as a home: give a --budget, or release fewer words of each"
            )
    elif options["id"] is None:
        note("each word spends its ε, also if one person has several: --by tells what they add up to")
    if run.job.target != _STANDARD and Path(run.job.target).exists():
        note(f"{Path(run.job.target).name} is replaced: if it was published, its words have spent ε before")


def _tell_promise(run: FileRun, plan: Plan) -> None:
    """The public summary for the ε of a typical word of the commonest length, and warnings for other lengths.

    Where lengths are hidden as well, it is for a length that has nothing to do with the words.
    """
    mechanism, hidden = plan.release.mechanism, _hides_lengths(plan)
    length = _some_length(mechanism.language) if hidden else run.commonest_length
    if not length or not plan.words:
        return
    lengths = [length] if hidden else sorted({each for _, each in plan.kinds if each})
    first, *lines = str(plan.release.like(plan.typical_epsilon, length).summary(length)).splitlines()
    remark = " (an example: lengths are hidden)" if hidden else " (most words have this length)"
    for line in (f"{first}{remark}" if hidden or len(lengths) > 1 else first, *lines):
        note(line)
    for other in sorted({lengths[0], lengths[-1]} - {length}):
        for text in plan.release.like(plan.typical_epsilon, other).known_warnings(other):
            note(f"warning for words of length {other}: {text}")


def _hides_lengths(plan: Plan) -> bool:
    """Whether the promise is also about the lengths of words."""
    return plan.release.mechanism.distance != "hamming"


def _some_length(language: Language) -> int:
    """A length of words, 10 if there are any; 0 if there are only very long ones."""
    return next((each for each in (*range(_EXAMPLE, 0, -1), *range(_EXAMPLE, 64)) if language.count(each)), 0)


def _tell(wanted: bool, text: str) -> None:
    if wanted:
        note(text)


def _listed(names: Sequence[str]) -> str:
    """Some names, the last ones only counted if there are many."""
    return ", ".join(names) if len(names) <= _SHOWN else f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"


def _tell_after(run: FileRun, plan: Plan, seconds: float) -> None:
    rows, rate = f"{plan.release.row}s", plan.rows / max(seconds, 1e-9)
    note(f"{plan.rows:,} {rows} in {seconds:.1f} s" + (f", {rate:,.0f} {rows}/s" if rate >= _WORTH_TELLING else ""))
    if run.receipt is not None:
        note(f"the receipt is in {run.receipt.name}")
    elif not run.target_is_text:
        note("the receipt is in the output's metadata")
    if plan.facts is not None:
        note(f"spent: ε = {plan.facts.typical_spent:.4g} for a typical person, {plan.facts.most_spent:.4g} at most")
