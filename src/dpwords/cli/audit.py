"""dpwords audit"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.completion import FILES
from dpwords.cli.options import (
    LANGUAGE,
    MECHANISM,
    SectionedCommand,
    above_zero,
    certificate_options,
    field_options,
    given_recipe,
    language_options,
    mechanism_options,
    probability,
    refuse,
)
from dpwords.cli.tables import facts, verdict
from dpwords.cli.targets import check_plot
from dpwords.cli.terminal import Terminal, emit, prepare, shown
from dpwords.core.checks import positive_number
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge

if TYPE_CHECKING:
    from dpwords.audit import ChannelAudit, ExactAudit, Proportion, StatisticalAudit
    from dpwords.mechanisms.mechanism import Mechanism
    from dpwords.recipes.notation import Notation

_MECHANISM = ("report", "mechanism", "utility", "alpha", "calibration", "literal", "certificate_time")
FactRows = list[tuple[str, str]]  # names and what they stand for: measured beside claimed
_SAMPLING = ("word", "neighbour", "draws", "sureness")


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
    callback=probability(0.999, "between 0 and 1, and never 1"),
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
    shell_complete=FILES,
    help="Measure a channel in a CSV file instead: a matrix with the outputs in its first line and an input before "
    "each row, or the columns input, output and probability.",
)
@click.option(
    "--distance",
    shell_complete=FILES,
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
    check_plot(plot)
    if epsilon is not None:
        positive_number(epsilon, "--epsilon", "--epsilon 1", zero_allowed=True)
    found: Any
    if channel is None:
        refuse("--distance belongs to a --channel; the edits that are hidden are --edits", "distance")
    if channel is not None:
        found, rows = _of_channel(channel, epsilon, **options)
    elif program is not None:
        found, rows = _of_program(program, length, epsilon, **options)
    else:
        found, rows = _of_mechanism(length, epsilon, literal, statistical, **options)
    terminal, said = Terminal.of_output(), [_says(found)]
    if found.holds is False or (found.holds and not hasattr(found, "reach")):  # what is only not accused is not green
        said = verdict(said[0], bool(found.holds), terminal)
    contents = {}
    if plot is not None:
        from dpwords import plots

        contents[plot] = plots.content_for(plots.audit(found, "loss of two words, beside what was claimed"), plot)
    emit([*facts(rows, terminal), *said], contents)
    return 1 if found.holds is False else 0


def _of_mechanism(
    length: int | None, epsilon: float | None, literal: bool, statistical: bool, **options: Any
) -> tuple[ExactAudit | StatisticalAudit, FactRows]:
    from dpwords import audit as audits
    from dpwords.mechanisms.paper_literal import PaperLiteral
    from dpwords.recipes.notation import Notation

    refuse("--timeout belongs to a --command", "timeout")
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
    if mechanism.distance == "levenshtein":  # noisy words are without end: no sum over them is known
        mechanism = mechanism.without_projection()
    try:
        found = audits.exact(mechanism, length, progress=partial(shown, label="comparing all words", least=64))
    except TooLarge as error:
        raise TooLarge(f"{error.message}, or add --statistical to audit two words by sampling") from None
    if found.words == 1:
        raise InvalidValue("there is only one word of this length, so nothing can be compared: use another length")
    return found, _exact_rows(found, mechanism, notation, length)


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
) -> tuple[StatisticalAudit, FactRows]:
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
    if getattr(release, "certificates", None) is not None and release.language.accepts(pair[0]):
        prepare(release, [len(pair[0])])  # the certificate that the draws need, where it can be seen
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
    return found, _statistical_rows(found, write(pair[0]), write(pair[1]), any_two=distance == "any")


def _read(notation: Notation, text: str, option: str) -> Any:
    """A word of the language."""
    word = notation.read(text)
    fault = notation.language.fault(tuple(word))
    if fault is not None:
        raise NotInLanguage(f"{option} is not in the language ({fault}); words are read {notation.manner}")
    return word


def _of_program(
    program: str, length: int | None, epsilon: float | None, timeout: float, k: int, edits: str, **options: Any
) -> tuple[StatisticalAudit, FactRows]:
    """The statistical audit of a program."""
    from dpwords.audit import Program
    from dpwords.audit.statistical import of_symbols
    from dpwords.recipes.notation import Notation

    refuse("a --command is a mechanism of its own", *_MECHANISM)
    named = any(options[name] for name in ("alphabet", "system", "lexicon"))
    if not named:
        refuse("these describe a language, and none is given", *LANGUAGE)
    notation = Notation(given_recipe(LANGUAGE).language()) if named else None
    started = Program(program, timeout)
    if notation is not None:
        started = Program(program, timeout, write=notation.write, read=notation.read)
    distance: Any = "levenshtein" if edits == "all" else "hamming"
    if notation is not None:
        distance = of_symbols(distance, notation.language)
    promise = {"claimed": epsilon, "k": k, "distance": distance}
    return _sampled(started, notation, length, **(options | promise))


def _of_channel(
    file: str, epsilon: float | None, distance: str | None, k: int, **_options: Any
) -> tuple[ChannelAudit, FactRows]:
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
    return found, _channel_rows(found)


def _missing(option: str) -> InvalidValue:
    return InvalidValue(f"{option} is missing: see dpwords audit --help")


def _exact_rows(found: ExactAudit, mechanism: Mechanism, notation: Notation, length: int) -> FactRows:
    """The result of an exact audit."""
    shorter = "" if mechanism.distance == "hamming" else " or less"
    rows = [("words", f"{found.words} of length {length}{shorter}"), *_epsilons(found.claimed, f"{found.epsilon:.9g}")]
    worst = found.worst
    if worst is not None:
        word, neighbour = (notation.write(word) for word in worst[:2])
        if mechanism.answers is not None:
            apart, about, output = "", "any two words", mechanism.answers.written(worst.output)
        else:
            about, output = _about(worst.distance, found.k), notation.write(worst.output)
            apart = f" (distance {worst.distance})"
        rows += [
            ("worst pair", f"'{word}' and '{neighbour}'{apart}"),
            ("its loss", f"{worst.loss:.9g}, at output '{output}'"),
            ("its claim", f"{found.allowed:.9g} for {about}"),
        ]
    if found.draws:
        rows.append(("draws", f"{found.draws} in all; they do not contradict the probabilities"))
    in_force = getattr(mechanism, "in_force", None)  # of mechanisms with a promise
    if in_force is not None:
        rows.append(("in force", in_force(length).text))
    return rows


def _channel_rows(found: ChannelAudit) -> FactRows:
    """The result of the audit of a channel."""
    rows = [("channel", f"{found.inputs} inputs, {found.outputs} outputs")]
    if found.compared < found.pairs:
        rows.append(("compared", f"{found.compared} of {found.pairs} pairs; the others are at infinite distance"))
    rows += _epsilons(found.claimed, f"{found.epsilon:.9g}")
    worst = found.worst
    if worst is not None:
        rows.append(("worst pair", f"'{worst.input}' and '{worst.neighbour}' (distance {worst.distance:g})"))
        rows.append(("its loss", f"{worst.loss:.9g}, at output '{worst.output}'"))
        if found.allowed is not None:
            rows.append(("its claim", f"{found.allowed:.9g} for {_about(worst.distance, found.k)}"))
    return rows


def _statistical_rows(found: StatisticalAudit, word: str, neighbour: str, any_two: bool) -> FactRows:
    """The result of a statistical audit; with `any_two`, the promise is for any two words, whatever their distance."""
    from dpwords.audit.samplers import WHY

    rows = [
        ("words", f"'{word}' and '{neighbour}'" + ("" if any_two else f" (distance {found.distance:g})")),
        ("draws", f"{found.draws} of each word; confidence {found.confidence:g}"),
    ]
    if found.loss == math.inf:
        rows += [*_epsilons(found.claimed, "inf"), ("its loss", f"inf: {found.repeats}, and {WHY}")]
    else:
        rows += [*_epsilons(found.claimed, f"{found.epsilon:.4g} or more"), ("its loss", f"{found.loss:.4g} or more")]
    if found.allowed is not None:
        about = "any two words" if any_two else _about(found.distance, found.k)
        rows.append(("its claim", f"{found.allowed:.9g} for {about}"))
    more = "" if found.allowed is None or found.reach > found.allowed else ", and cannot break this claim: use more"
    return [
        *rows,
        ("event", found.event),
        ("", _proportion(found.of_word, "word")),
        ("", _proportion(found.of_neighbour, "neighbour")),
        ("reach", f"so many draws can show a loss of at most {found.reach:.4g}{more}"),
    ]


def _says(found: Any) -> str:
    """The verdict, in words that cannot be taken for more than was found."""
    if found.claimed is None:
        return "nothing was claimed: give --epsilon to check a claim"
    if found.holds is None:
        return f"the claim is {found.verdict}"
    if not found.holds:
        return "THE CLAIM IS BROKEN"
    return "the claim is not accused, which does not prove it" if hasattr(found, "reach") else "the claim holds"


def _epsilons(claimed: float | None, measured: str) -> FactRows:
    return [("claimed ε", "none" if claimed is None else f"{claimed:.9g}"), ("measured ε", measured)]


def _about(distance: float, k: int) -> str:
    """The distance that a claim is for, and how many times ε it is, where that is not the same."""
    steps = -(-distance // k)
    times = f" ({steps:g} × ε, as k = {k})" if k > 1 else ""
    return f"distance {distance:g}{times}"


def _proportion(proportion: Proportion, name: str) -> str:
    side = "at least" if proportion.is_lower else "at most"
    return f"{proportion.hits} of {proportion.draws} for the {name}: {side} {100 * proportion.bound:.3g}%"
