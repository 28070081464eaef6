"""dpwords estimate"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.completion import RULES
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
from dpwords.cli.tables import table
from dpwords.cli.targets import check_target, csv_content, json_content
from dpwords.cli.terminal import Terminal, emit, note, note_proofs, prepare, status
from dpwords.core.files import write_whole
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import WHERE
from dpwords.recipes.questions import OF_REPORTS, QUESTIONS

if TYPE_CHECKING:
    from dpwords.estimate import Estimates
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private

_OUTPUTS = (".json", ".csv", ".parquet", ".png", ".svg")
_MOST_NOTES = 3
FIGURES = ("estimate", "low", "high", "counted")
_PAIRS = ("transitions", "dfg")
_LABELS = {"visits": "state", "lengths": "length", "patterns": "pattern"}
_ON_TERMINAL = 20
_POSITIONS_ON_TERMINAL = 5  # symbols, each with a column
EstimateRow = tuple[Any, ...]
_LEAST = 2  # releases: one does not show how much they vary


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
    help="'inverse' takes the noise off the counts, 'em' fits a Markov chain by expectation–maximisation.",
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
        check_target(path, suffixes=_OUTPUTS)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "of each word only")  # advice for who is about to release
        read = released_file(input, format, output)
    asked = _question(question, read, patterns)
    if asked != "patterns":
        refuse("--pattern belongs to --question patterns", "patterns")
    if asked != "frequencies":
        refuse("only --question frequencies has a table for each position", "per_place")
    found = _answered(asked, read, patterns, per_place, confidence, method)
    names = tuple(dict.fromkeys(patterns)) or (read.contents.positions if per_place else ())
    symbol = "symbol" if read.mechanism.language.spelling is None else "state"
    rows = EstimateRows(found, per_place, names, top, symbol)
    if output:
        write_whole({path: rows.content(path, read.mechanism) for path in output})
    else:
        emit(rows.lines(Terminal.of_output()))
    _report(rows, read)


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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if mechanism.answers is None:
            _prepare(read)
        with status("estimating") as say:
            if mechanism.answers is None and question != "lengths":
                options |= {"method": method, "progress": say}
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


def _prepare(read: ReleasedFile) -> None:
    """Make what the estimates need from calibration, where it can be seen."""
    from dpwords.core.symbols import Ragged

    assert isinstance(read.contents.codes, Ragged)
    lengths = sorted(set(read.contents.codes.sizes.tolist()) - {0})
    note_proofs([(read.mechanism, length) for length in lengths])
    for number, length in enumerate(lengths, start=1):
        if read.mechanism.certificates is not None:
            prepare(read.mechanism, [length], about=f" ({number} of {len(lengths)})")


def _pattern(text: str, language: Language, separator: str | None) -> Any:
    """A rule for whole words, or symbols in a row."""
    from dpwords.recipes.notation import Notation, is_rule, rule

    if is_rule(text):
        return rule(text, language)
    try:
        named = language if language.spelling is None else language.system.by_states()  # patterns are of states
        notation = Notation(named, separator)
    except InvalidValue:
        raise InvalidValue("symbols have spaces in their names: write the pattern as a rule, contains:a;b") from None
    return tuple(notation.read(text))


def _report(rows: EstimateRows, read: ReleasedFile) -> None:
    """How the estimates were made, and what to beware of."""
    first = rows.tables[0]
    how = {"inverse": "inversion", "counted": "counting"}.get(first.method, "expectation–maximisation")
    apart = rows.by_position or first.question == "patterns"
    off = "" if apart else f"; all proportions together are off by about {first.total_error:.2g}"
    sure = "no intervals" if math.isnan(first.total_error) else f"intervals of {first.confidence:.4g}{off}"
    note(f"{first.question} from {first.releases:,} releases, by {how}; {sure}")
    notes = rows.notes()
    more = len(notes) - _MOST_NOTES
    others = [f"{more} more notes are in a .json file that --output names"] if more > 0 else []
    for text in (*read.notes, *notes[:_MOST_NOTES], *others):
        note(f"note: {text}")


@dataclass(frozen=True)
class EstimateRows:
    """One table of estimates, or one for each position of the words. `names` are the positions or, for patterns,
    labels."""

    tables: Sequence[Estimates]
    by_position: bool = False
    names: Sequence[str] = ()
    top: int | None = None  # how many of the largest proportions are shown; None: as many as fit
    symbol: str = "symbol"  # what symbols are called

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        first = self.tables[0]
        label = ("from", "to") if first.question in _PAIRS else (_LABELS.get(first.question, self.symbol),)
        return (("place",) if self.by_position else ()) + label + FIGURES

    def rows(self, most: int | None = None) -> list[EstimateRow]:
        """The rows, the largest estimates of each position first; those of the `most` largest labels only."""
        kept = self._largest(self.top or most)
        found: list[EstimateRow] = []
        for number, one in enumerate(self.tables):
            labels = [label for label in kept if label in one]
            if self.by_position:
                labels.sort(key=lambda label, one=one: -one[label].value)  # type: ignore[misc]
            for label in labels:
                position = (self._position(number),) if self.by_position else ()
                figures = (*one[label], one.counted.get(label, math.nan))
                found.append((*position, *self._written(label), *map(_finite, figures)))
        return found

    def lines(self, terminal: Terminal) -> list[str]:
        """The rows as text: a table on a terminal with colours, and fields with tabs between them in a pipe.

        On the terminal, a table by position has a line for each position, and a column for each of the largest symbols.
        """
        if not terminal.colours:
            rows = [self.header, *self.rows()]
            return ["\t".join("" if cell is None else _text(cell) for cell in row) for row in rows]
        if self.by_position:
            kept = self._largest(self.top or _POSITIONS_ON_TERMINAL)
            header: tuple[str, ...] = ("position", *(_text(*self._written(label)) for label in kept))
            cells: list[EstimateRow] = [
                (self._position(number), *(_finite(one[label].value) if label in one else None for label in kept))
                for number, one in enumerate(self.tables)
            ]
            rest = len(self.tables[0]) - len(kept)
        else:
            shown = self.rows(_ON_TERMINAL)
            width = len(self.header) - len(FIGURES)
            header = (" → ".join(self.header[:width]), *FIGURES)
            cells = [(_text(" → ".join(map(str, row[:width]))), *row[width:]) for row in shown]
            rest = len(self.rows()) - len(shown) if self.top is None else 0
        more = [f"({rest} smaller proportions are not shown: --top shows more)"] if rest else []
        return [*table(header, cells, terminal), *more]

    def content(self, path: Path, mechanism: Private) -> bytes:
        """The content of a .csv, .json, .parquet, .png or .svg file; JSON has what else is known."""
        suffix = path.suffix.lower()
        if suffix == ".csv":
            return csv_content(self.header, self.rows())
        if suffix == ".json":
            return json_content(self._document(mechanism))
        if suffix != ".parquet":
            from dpwords import plots

            found = list(self.tables) if self.by_position else self.tables[0]
            return plots.content_for(plots.estimates(found, mechanism.language, names=self.names), path)
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = dict(zip(self.header, zip(*self.rows(), strict=True), strict=True))
        kinds = [pa.float64() if name in FIGURES else None for name in columns]
        arrays = [pa.array(column, kind) for column, kind in zip(columns.values(), kinds, strict=True)]
        out = io.BytesIO()
        pq.write_table(pa.table(arrays, names=list(columns)), out)
        return out.getvalue()

    def _document(self, mechanism: Private) -> dict[str, Any]:
        first, errors = self.tables[0], [_finite(one.total_error) for one in self.tables]
        return {
            "question": first.question,
            "method": first.method,
            "confidence": first.confidence,
            "releases": first.releases,
            "total_error": errors if self.by_position else errors[0],
            "mechanism": type(mechanism).__name__,
            "epsilon": mechanism.epsilon,
            "guarantee": str(mechanism.guarantee),
            "estimates": [dict(zip(self.header, row, strict=True)) for row in self.rows()],
            "notes": self.notes(),
        }

    def notes(self) -> list[str]:
        """What to beware of, each with its position."""
        return [
            f"{self._position(number)}: {text}" if self.by_position else text
            for number, one in enumerate(self.tables)
            for text in one.notes
        ]

    def _largest(self, most: int | None) -> list[Any]:
        """The labels, the largest mean proportion first; lengths that occur in their own order."""
        first = self.tables[0]
        mean = {label: sum(one[label].value for one in self.tables if label in one) for label in first}
        largest = sorted(mean, key=lambda label: -mean[label])[:most]
        if first.question != "lengths":
            return largest
        return sorted(label for label in largest if mean[label] > 0 or first.counted[label] > 0)

    def _position(self, number: int) -> str:
        return self.names[number] if number < len(self.names) else str(number + 1)

    def _written(self, label: Any) -> tuple[Any, ...]:
        from dpwords.languages.systems import written

        question = self.tables[0].question
        if question in _PAIRS:
            return tuple(map(written, label))
        if question == "patterns":
            return (self.names[list(self.tables[0]).index(label)],)
        return (label,) if question == "lengths" else (written(label),)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _text(cell: Any) -> str:
    """A cell on one line, without what a terminal or a table would take for a command."""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return "".join(letter if letter.isprintable() else "�" for letter in text)
