"""dpwords audit"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli import completing
from dpwords.cli.audit_rows import channel_rows, exact_rows, says, statistical_rows
from dpwords.cli.colours import Terminal
from dpwords.cli.help import SectionedCommand
from dpwords.cli.options import (
    LANGUAGE,
    MECHANISM,
    above_zero,
    certificate_options,
    field_options,
    given_recipe,
    language_options,
    mechanism_options,
    refuse,
)
from dpwords.cli.preparing import prepare
from dpwords.cli.tables import facts, verdict
from dpwords.cli.terminal import emit, shown
from dpwords.core.checks import positive_number
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge

if TYPE_CHECKING:
    from dpwords.audit import ChannelAudit, ExactAudit, StatisticalAudit
    from dpwords.mechanisms.mechanism import Mechanism
    from dpwords.recipes.notation import Notation

_MECHANISM = ("report", "mechanism", "utility", "alpha", "calibration", "literal", "certificate_time")
_SAMPLING = ("word", "neighbour", "draws", "sureness")


def _proportion(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not 0 < value < 1:
        raise InvalidValue("--confidence is between 0 and 1, and never 1: take for example --confidence 0.999")
    return value


@click.command(cls=SectionedCommand, short_help="Measure ε, exactly or by sampling, and compare it with the claim.")
@language_options
@click.option("--length", type=int, help="The length of the words, of which at most 1,024 can be compared exactly.")
@click.option("--epsilon", "-e", type=float, help="The claimed ε.")
@field_options("report")
@mechanism_options
@certificate_options
@click.option("--literal", is_flag=True, help="Audit the paper's literal mechanism instead, whose claim does not hold.")
@click.option("--statistical", is_flag=True, help="Sample two words instead of comparing all: for long words.")
@click.option(
    "--command",
    "program",
    metavar="PROGRAM",
    help="Sample a program instead, such as 'python release.py'. It reads a word on each line and writes one for each. "
    "It is started 16 times for each of the two words.",
)
@click.option("--word", help="The first word of the pair to be sampled.  [default: one of the language]")
@click.option("--neighbour", help="The second word of the pair.  [default: one near the first]")
@click.option("--draws", type=int, default=20_000, show_default=True, help="How often each of the two words is drawn.")
@click.option(
    "--confidence",
    "sureness",
    type=float,
    default=0.999,
    show_default=True,
    callback=_proportion,
    help="How surely an accusation is right.",
)
@click.option(
    "--timeout",
    type=float,
    default=60.0,
    show_default=True,
    callback=above_zero,
    help="Seconds that a run of the --command may take.",
)
@click.option(
    "--channel",
    shell_complete=completing.files,
    help="Measure a channel in a CSV file instead: a matrix with the outputs in its first line and an input before "
    "each row, or the columns input, output and probability.",
)
@click.option(
    "--distance",
    shell_complete=completing.files,
    help="Between the inputs of a --channel: hamming or levenshtein for words, any if any two inputs are neighbours, "
    "or a CSV file with a matrix.  [default: hamming]",
)
@click.option(
    "--plot", type=click.Path(path_type=Path), help="Also draw losses beside claims, in an .svg or .png file."
)
def audit(
    length: int | None,
    epsilon: float | None,
    literal: bool,
    statistical: bool,
    program: str | None,
    channel: str | None,
    plot: Path | None,
    **options: Any,
) -> int:
    """Measure ε over every pair of words and every output, and compare it with the claim.

    With --edits all, the audit covers all words of at most this length, and outputs of up to two more symbols if they
    can be listed; it says how likely other outputs are, which it does not cover. A channel onto a system is audited
    before the projection, which cannot increase ε. With --report, it covers all words of at most this length, and all
    answers. About 10,000 draws are compared with the probabilities. The exit code is 1 if the claim is broken.

    With --statistical, or a --command, two words are drawn many times, and a lower bound on ε is computed from how
    often an event occurs for each. Such an audit can break a claim, but never prove one. Without --word and
    --neighbour, the pair is taken from the language. Words of a --command are read as single characters, unless a
    language says otherwise; its claim is --epsilon for -k positions, or for -k edits with --edits all.

    With --channel, the probabilities are in a file. Without --epsilon, what a --command or a --channel loses is shown
    and compared with nothing.

    \b
    Examples:
      dpwords audit --alphabet ab --length 5 --epsilon 1
      dpwords audit --system grid:3x3 --words states --length 4 --epsilon 2
      dpwords audit --alphabet ab --length 4 --epsilon 2 --edits all
      dpwords audit --alphabet abc --length 4 --epsilon 1 --report symbols
      dpwords audit --alphabet abc --length 4 --epsilon 1 --literal --plot losses.svg
      dpwords audit --alphabet a-z --length 32 --epsilon 1 --literal --statistical
      dpwords audit --command "python release.py" --word abba --neighbour abbb --epsilon 1
      dpwords audit --channel matrix.csv --distance levenshtein --epsilon 1
    """
    if plot is not None:
        _check_plot(plot)
    if epsilon is not None:
        positive_number(epsilon, "--epsilon", "--epsilon 1", zero_allowed=True)
    found: ExactAudit | StatisticalAudit | ChannelAudit
    if channel is not None:
        found, rows = _of_channel(channel, epsilon, **options)
    elif program is not None:
        found, rows = _of_program(program, length, epsilon, **options)
    else:
        found, rows = _of_mechanism(length, epsilon, literal, statistical, **options)
    terminal = Terminal.of_output()
    settled = found.holds is False or (
        found.holds and not hasattr(found, "reach")
    )  # what is only not accused is not green
    said = verdict(says(found), bool(found.holds), terminal) if settled else [says(found)]
    _write([*facts(rows, terminal), *said], found, plot)
    return 1 if found.holds is False else 0


def _write(lines: list[str], found: Any, plot: Path | None) -> None:
    from dpwords.core.files import staged

    contents = {}
    if plot is not None:
        from dpwords import plots

        contents[plot] = plots.content_for(plots.audit(found, "loss of two words, beside what was claimed"), plot)
    with staged(contents):
        emit(lines)


def _of_mechanism(
    length: int | None, epsilon: float | None, literal: bool, statistical: bool, **options: Any
) -> tuple[Any, list[tuple[str, str]]]:
    from dpwords.mechanisms.paper_literal import PaperLiteral
    from dpwords.recipes.notation import Notation

    refuse("--timeout belongs to a --command", "timeout")
    refuse("--distance belongs to a --channel; the edits that are hidden are --edits", "distance")
    if literal:
        refuse("--literal is a mechanism of its own", "edits", *(set(_MECHANISM) - {"alpha", "literal"}))
    if epsilon is None:
        raise _missing("--epsilon")
    if not statistical:
        refuse("words are drawn only with --statistical", *_SAMPLING)
        if length is None:
            raise _missing("--length")
    recipe = given_recipe((*LANGUAGE, "report", *MECHANISM, "certificate_time"))
    notation = Notation(recipe.language())
    mechanism: Mechanism = (
        PaperLiteral(notation.language, epsilon, k=recipe.k, alpha=recipe.alpha)
        if literal
        else recipe.changed({"epsilon": epsilon}).mechanism()
    )
    if statistical:
        promise = {"k": mechanism.k, "distance": mechanism.distance}
        return _sampled(mechanism, notation, length, **(options | promise))
    assert length is not None
    return _compared(mechanism, notation, length)


def _compared(mechanism: Mechanism, notation: Notation, length: int) -> tuple[ExactAudit, list[tuple[str, str]]]:
    """The exact audit."""
    from dpwords import audit as audits

    mechanism = mechanism.without_projection()
    try:
        found = audits.exact(mechanism, length, progress=partial(shown, label="comparing all words", least=64))
    except TooLarge as error:
        raise TooLarge(f"{error.message}, or add --statistical to audit two words by sampling") from None
    if found.words == 1:
        raise InvalidValue("there is only one word of this length, so nothing can be compared: use another length")
    return found, exact_rows(found, mechanism, notation, length)


def _sampled(
    release: Any,
    notation: Notation | None,
    length: int | None,
    *,
    k: int,
    distance: Any,
    word: str | None,
    neighbour: str | None,
    draws: int,
    sureness: float,
    claimed: float | None = None,
    **_other: Any,
) -> tuple[StatisticalAudit, list[tuple[str, str]]]:
    """The statistical audit of a mechanism or a program."""
    from dpwords import audit as audits

    pair: tuple[Any, Any]
    if (word is None) != (neighbour is None):
        raise InvalidValue("a pair has two words: give both --word and --neighbour, or neither")
    if word is not None and neighbour is not None:
        refuse("the words that are given have a length", "length")
        pair = (word, neighbour)
        if notation is not None:
            pair = (_read(notation, word, "--word"), _read(notation, neighbour, "--neighbour"))
    elif length is None or notation is None:
        raise InvalidValue("which words are to be sampled? give --word and --neighbour, or a language and --length")
    else:
        pair = audits.public_pair(notation.language, length, k, distance)
        pair = (notation.read(notation.write(pair[0])), notation.read(notation.write(pair[1])))
    _prepare(release, pair[0])
    found = audits.statistical(
        release,
        pair[0],
        pair[1],
        draws,
        sureness,
        claimed=claimed,
        k=k,
        distance=distance,
        progress=partial(shown, label="drawing"),
    )
    write = str if notation is None else notation.write
    return found, statistical_rows(found, write(pair[0]), write(pair[1]), any_two=distance == "any")


def _read(notation: Notation, text: str, option: str) -> Any:
    """A word of the language."""
    word = notation.read(text)
    fault = notation.language.fault(tuple(word))
    if fault is not None:
        raise NotInLanguage(f"{option} is not in the language ({fault}); words are read {notation.manner}")
    return word


def _prepare(release: Any, word: Any) -> None:
    """Make the certificate that the draws need, where it can be seen."""
    if getattr(release, "certificates", None) is not None and release.language.accepts(word):
        prepare(release, [len(word)])


def _of_program(
    program: str, length: int | None, epsilon: float | None, timeout: float, k: int, edits: str, **options: Any
) -> tuple[StatisticalAudit, list[tuple[str, str]]]:
    """The statistical audit of a program."""
    from dpwords.audit import Program
    from dpwords.recipes.notation import Notation

    refuse("a --command is a mechanism of its own", *_MECHANISM)
    refuse("--distance belongs to a --channel; the edits that are hidden are --edits", "distance")
    named = any(options[name] for name in ("alphabet", "system", "lexicon"))
    if not named:
        refuse("these describe a language, and none is given", *LANGUAGE)
    notation = Notation(given_recipe(LANGUAGE).language()) if named else None
    started = Program(program, timeout)
    if notation is not None:
        started = Program(program, timeout, write=notation.write, read=notation.read)
    promise = {"claimed": epsilon, "k": k, "distance": "levenshtein" if edits == "all" else "hamming"}
    return _sampled(started, notation, length, **(options | promise))


def _of_channel(
    file: str, epsilon: float | None, distance: str | None, k: int, **_options: Any
) -> tuple[ChannelAudit, list[tuple[str, str]]]:
    """The exact audit of a channel in a file."""
    from dpwords import audit as audits
    from dpwords.bridges.probability_files import read_channel, read_distances

    rule = "a --channel has its own words and probabilities"
    refuse(rule, *LANGUAGE, *_MECHANISM, *_SAMPLING, "edits", "length", "statistical", "program", "timeout")
    table = read_channel(file)
    known = distance in (None, "hamming", "levenshtein", "any")
    apart: Any = (
        (distance or "hamming") if known else read_distances(distance or "", [*dict.fromkeys(row[0] for row in table)])
    )
    found = audits.channel(table, apart, claimed=epsilon, k=k, progress=partial(shown, label="comparing", least=64))
    return found, channel_rows(found)


def _missing(option: str) -> InvalidValue:
    return InvalidValue(f"{option} is missing: see dpwords audit --help")


def _check_plot(path: Path) -> None:
    """Refuse a plot that could not be drawn or written, before anything is computed."""
    from dpwords import plots
    from dpwords.cli.targets import check_target

    if path.suffix.lower() not in (".svg", ".png"):
        raise InvalidValue("--plot takes a file name that ends in .svg or .png")
    check_target(path, "plot")
    plots.need_matplotlib()
