"""dpwords release --input: from file to file, with a summary before the draw and a report after it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.completion import FILES
from dpwords.cli.options import Command, field_options, refuse
from dpwords.cli.targets import refuse_overwriting
from dpwords.cli.terminal import check_standard_output, copy_out, is_quiet, note, note_proofs, prepare, rows_bar
from dpwords.errors import InvalidValue, TooLarge, rendered
from dpwords.recipes.fields import WHERE, as_option
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import STANDARD

if TYPE_CHECKING:
    from dpwords.frames.jobs import FileRelease, Job
    from dpwords.frames.word_table import Plan
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private

_WORTH_TELLING = 100  # rows a second: for a few rows, the time is that of starting
_PATIENCE = 10  # seconds of proofs, after which a faster way is named
_MUCH = 10.0  # ε of a person, beyond which a promise says little
_SHOWN = 6  # names of columns in one line
_EXAMPLE = 10  # symbols of a word
_SHAPE = WHERE[:-1]  # the separator is also that of words that are no table
_FILES = ("input", "output", "format", "header", "no_header", "output_format", *_SHAPE, "id", "by", "budget", "split")
word_file_options = field_options("input", "format", "header", "no_header", *_SHAPE, "invalid")
_LEDGER = click.option(
    "--ledger",
    shell_complete=FILES,
    help="A file that records the ε spent for each person, before anything is drawn.",
)
_RESUME = click.option(
    "--resume", is_flag=True, help="Finish a release that was interrupted; it is not paid for twice."
)
_KEY = click.option(
    "--key-file",
    shell_complete=FILES,
    help="A file with 64 hexadecimal digits, a secret key: the same key, --id and word give the same draw.  "
    "[default: a fresh key, destroyed when the release is finished]",
)
NEED_INPUT = (*_FILES[1:], "ledger", "resume", "invalid", "drop_others", "key_file")


def file_options(command: Command) -> Command:
    """Add --input, --output and what belongs to them."""
    command = field_options("invalid", "drop_others")(_KEY(command))
    return field_options(*_FILES)(_LEDGER(_RESUME(command)))


def release_file(
    recipe: Recipe, mechanism: Private, inside: Language | None, certificates: Path | None, options: Mapping[str, Any]
) -> None:
    """Release the words of a file, as the recipe says; `options` are about this command, and may change at the next
    one.

    `inside` is the language that words have to be in, if it is not that of the mechanism.
    """
    from dpwords.frames import need_pyarrow

    _refuse_what_has_no_effect(recipe)
    need_pyarrow()
    from dpwords.frames.jobs import FileRelease

    key_file, charged = options["key_file"], options["ledger"] is not None
    job = _job(recipe, mechanism, inside)
    if charged and Path(options["ledger"]).exists():
        _ledger(options)  # refuses what is not a ledger before any work; a new one is only made when all is checked
    release: FileRelease | None = None
    begin, written = time.monotonic(), False
    try:
        with FileRelease(job, None if key_file is None else _key(key_file), options["resume"]) as release:
            if release.is_complete:
                note(f"{Path(job.target).name} is complete: there is nothing to resume")
                return
            if job.target == STANDARD:
                check_standard_output(release.target_is_text, job.source)
            with rows_bar("checking") as progress:
                plan = release.survey(progress, charged)
            _report_contents(release, plan, recipe, options["budget"])
            _prepare_all(mechanism, plan, certificates)
            _report_promise(plan)
            ledger = _ledger(options) if charged else None
            with rows_bar("releasing", plan.rows) as progress:
                output = release.write(plan, ledger, progress)
            written = True
            if output is not None:
                copy_out(output)
            _report_after(release, plan, time.monotonic() - begin)
    except KeyboardInterrupt:
        if written:
            raise KeyboardInterrupt("all was released before") from None
        if release is not None and release.is_begun:
            raise KeyboardInterrupt(
                "the output is not complete, and not in its place: finish it with --resume"
            ) from None
        raise
    except TooLarge as error:
        unfinished = release is not None and release.is_begun and not written
        remedy = "; where there is more memory, finish this release with --resume" if unfinished else ""
        raise TooLarge(f"{error.message}{remedy}") from None
    if certificates is not None and mechanism.certificates is not None:
        mechanism.certificates.save(certificates)


def _job(recipe: Recipe, mechanism: Private, inside: Language | None) -> Job:
    from dpwords.frames.jobs import Job
    from dpwords.frames.receipts import path_of
    from dpwords.frames.requests import Request

    target = str(recipe.output or STANDARD)
    for written in () if target == STANDARD else (Path(target), path_of(Path(target))):
        refuse_overwriting(written, recipe=recipe)
    formats, header = (recipe.format, recipe.output_format), not recipe.no_header
    request = Request.of(recipe, inside)
    return Job(mechanism, str(recipe.input or STANDARD), target, *formats, request, recipe.for_receipt(), header)


def _refuse_what_has_no_effect(recipe: Recipe) -> None:
    refuse("with --input the words come from a file", "words_given")
    if recipe.output in (None, STANDARD):
        refuse("only a file that --output names can be finished later", "resume")
    if recipe.budget is None:
        recipe.refuse("there is no --budget to divide", "split")


def _ledger(options: Mapping[str, Any]) -> Any:
    from dpwords.ledger import Ledger

    return Ledger(options["ledger"], budget=options["budget"])


def _key(path: str) -> bytes:
    """The key in a file; a note if others may read it."""
    from dpwords.core.files import read_text

    digits = read_text(path).strip()
    if not re.fullmatch("[0-9a-fA-F]{64}", digits):
        raise InvalidValue("a key file has 64 hexadecimal digits: make one with 'openssl rand -hex 32'")
    if os.name == "posix" and Path(path).stat().st_mode & 0o077:
        note("note: the key file can be read by others, who can then undo the privacy: chmod 600 it")
    return bytes.fromhex(digits)


def _prepare_all(mechanism: Private, plan: Plan, certificates: Path | None) -> None:
    """Make everything that the draws need from calibration, where it can be seen."""
    note_proofs(plan.kinds)
    begin, said = time.monotonic(), False
    for number, (each, length) in enumerate(plan.kinds, start=1):
        if length:
            about = f" ({number} of {len(plan.kinds)})" if len(plan.kinds) > 1 and not _hides_lengths(plan) else ""
            prepare(each, [length], certificates if each is mechanism else None, about)
        if not said and number < len(plan.kinds) and time.monotonic() - begin > _PATIENCE:
            note(
                f"proofs for {number} of {len(plan.kinds)} lengths took {time.monotonic() - begin:.0f} s: "
                "--certificate-time 2 or --mechanism online is faster, and can be less accurate"
            )
            said = True


def _report_contents(release: FileRelease, plan: Plan, recipe: Recipe, budget: float | None) -> None:
    """What is in the file, what happens to its columns, and what people spend, for the owner of the data.

    `budget` is that of a person, which is the ledger's if there is one.
    """
    verb = "is" if plan.skipped == 1 else "are"
    skipped = f", of which {plan.skipped:,} {verb} not in the language and left out" if plan.skipped else ""
    note(f"{_number_of_rows(plan)}{skipped}")
    if recipe.columns is not None:
        first, *others = release.word_columns
        where = f"{len(others) + 1} columns, from {first} to {others[-1]}" if others else f"one column, {first}"
        note(f"each word is in {where}")
    if release.copied_columns:
        needless = plan.release.row == "row" and set(release.copied_columns) - {recipe.id, recipe.by}
        remedy = " (--drop-others leaves out those that no option names)" if needless else ""
        note(f"copied as they are, and not protected: {_listed(release.copied_columns)}{remedy}")
    if plan.facts is not None:
        note(str(plan.facts))
        if plan.facts.most_spent > _MUCH:
            fewer = f"give a {'' if budget is None else 'smaller '}--budget, or release fewer words of each"
            note(
                f"warning: ε = {plan.facts.most_spent:.4g} in all promises next to nothing about what the words of a "
                f"person have in common, such as a home: {fewer}"
            )
    elif recipe.id is None:
        note("each word spends its ε, also if one person has several: --by tells what they add up to")
    if release.job.target != STANDARD and Path(release.job.target).exists():
        note(f"{Path(release.job.target).name} is replaced: if it was published, its words have spent ε before")


def _report_promise(plan: Plan) -> None:
    """The public summary for the ε of a typical word of the commonest length, and warnings for other lengths.

    Where lengths are hidden as well, it is for a length that has nothing to do with the words.
    """
    from dpwords.frames.receipts import SEVERAL_EPSILONS

    mechanism, hidden = plan.release.mechanism, _hides_lengths(plan)
    length = _some_length(mechanism.language) if hidden else plan.commonest_length
    if is_quiet() or not length or not plan.words:
        return
    lengths = [length] if hidden else sorted({each for _, each in plan.kinds if each})
    summary = plan.release.like(plan.typical_epsilon, length).summary(length)
    first, *lines = rendered(summary.message, as_option).splitlines()
    remark = " (an example: lengths are hidden)" if hidden else " (most words have this length)"
    for line in (f"{first}{remark}" if hidden or len(lengths) > 1 else first, *lines):
        note(line)
    if plan.epsilons_differ and summary.no_estimates is None:
        note(rendered(SEVERAL_EPSILONS, as_option))
    for other in sorted({lengths[0], lengths[-1]} - {length}):
        for text in plan.release.like(plan.typical_epsilon, other).known_warnings(other):
            note(f"warning for words of length {other}: {text}")


def _hides_lengths(plan: Plan) -> bool:
    """Whether the promise is also about the lengths of words."""
    return plan.release.mechanism.distance != "hamming"


def _some_length(language: Language) -> int:
    """A length of words, 10 if there are any; 0 if there are only very long ones."""
    return next((each for each in (*range(_EXAMPLE, 0, -1), *range(_EXAMPLE, 64)) if language.count(each)), 0)


def _number_of_rows(plan: Plan) -> str:
    return f"{plan.rows:,} {plan.release.row}{'' if plan.rows == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    """Some names, the last ones only counted if there are many."""
    return ", ".join(names) if len(names) <= _SHOWN else f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"


def _report_after(release: FileRelease, plan: Plan, seconds: float) -> None:
    rows, rate = f"{plan.release.row}s", plan.words / max(seconds, 1e-9)
    number = f"{plan.words:,} {plan.release.row if plan.words == 1 else rows}"
    note(f"{number} in {seconds:.1f} s" + (f", {rate:,.0f} {rows}/s" if rate >= _WORTH_TELLING else ""))
    if release.receipt_path is not None:
        note(f"the receipt is in {release.receipt_path.name}")
    elif not release.target_is_text:
        note("the receipt is in the output's metadata")
    if plan.facts is not None:
        note(f"spent: ε = {plan.facts.typical_spent:.4g} for a typical person, {plan.facts.most_spent:.4g} at most")
