"""The one table of what describes a release.

Options of the command line, arguments of Python, JSON, its schema, commands, code and receipts all follow from it.
Nothing heavy is imported here: the help of the command line reads this table, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import partial
from shlex import quote
from typing import Any

from dpwords.core.checks import LARGEST_EPSILON
from dpwords.core.files import FileContent
from dpwords.mechanisms import choice
from dpwords.recipes.kinds import (
    CELLS,
    FILE,
    FLAG,
    SYSTEM,
    TEXT,
    TEXTS,
    WHOLE,
    FieldKind,
    NamedFile,
    list_of,
    number,
    one_of,
)
from dpwords.recipes.table_formats import FORMATS

WHERE = ("column", "columns", "case", "symbol", "order", "separator")  # the fields that say where words are in a table


class Section(StrEnum):
    """What fields are about, as headings of help texts."""

    LANGUAGE = "What may be released (public)"
    PROMISE = "Privacy and accuracy"
    TABLE = "Tables of words"


@dataclass(frozen=True)
class Parameter:
    """What is known about one field beside its type and default."""

    kind: FieldKind
    section: Section
    help: str
    in_receipt: bool = True  # whether it stands in receipts


def _field(section: Section, kind: FieldKind, help: str, default: Any = None, **more: Any) -> Any:
    return field(default=default, metadata={"parameter": Parameter(kind, section, help, **more)})


_language = partial(_field, Section.LANGUAGE)
_promise = partial(_field, Section.PROMISE)
_table = partial(_field, Section.TABLE)


@dataclass(frozen=True)
class RecipeFields:
    """The fields of a `Recipe`, in the order of help texts."""

    alphabet: str | os.PathLike[str] | Sequence[str] | NamedFile | None = _language(  # noqa: RUF009
        list_of("symbol"),
        "The symbols: a literal with ranges ('a-z0-9 '), a name (name:dna, name:protein, name:lower, name:digits, …), "
        "or @file with a symbol on each line; a backslash makes the next character literal. Public; never read it off "
        "the data.",
    )
    system: str | os.PathLike[str] | Mapping[str, Any] | FileContent | NamedFile | None = _language(  # noqa: RUF009
        SYSTEM,
        "A system whose runs are the words: grid:15x15, grid:15x15@1,2 (start), grid:15x15@any, or a file: .json, .csv "
        "(edge list), .dot, .graphml, or .txt (a map with # for walls, S for the start, G for goals). Public.",
    )
    words: str | None = _language(
        one_of("moves", "states"),
        "What the symbols of a run are.  [default: moves; for CSV, and GraphML without an action, states]",
    )
    protect: str | None = _language(
        one_of("moves", "states"),
        "What the promise about words of moves is about: the moves, or the states that they enter, which is usually "
        "meant for plans and routes. A detour by one cell changes two moves and one state, and a route that is shifted "
        "as a whole few moves and many states. Words are written as moves either way.  [default: moves]",
    )
    lexicon: str | os.PathLike[str] | Sequence[str] | NamedFile | None = _language(  # noqa: RUF009
        list_of("word"), "The words: a file with a word on each line. Public."
    )
    start: str | None = _language(
        TEXT,
        "The state in which runs start, for .csv, .graphml and .dot files.  [default: as marked in the DOT file; "
        "otherwise anywhere]",
    )
    action: str | None = _language(TEXT, "The edge attribute with the moves, for .graphml files.  [default: none]")
    dot_symbols: str | None = _language(
        one_of("inputs", "outputs", "labels"),
        "What the moves of a .dot file are, where edges are labelled 'input / output'.  [default: inputs if all labels "
        "have this form, otherwise labels]",
    )
    walls: str | None = _language(CELLS, "Cells of a grid that no run enters: '2,3;4,5'.")
    goal: str | None = _language(CELLS, "Where runs on a grid end: a cell '5,5', or several with ; between them.")
    rules: Sequence[str] = _language(
        TEXTS,
        "Only words that satisfy a rule: contains:a, contains:a;b (one directly after the other), before:a;b, never:a, "
        "at_most:2;a, at_least:2;a, starts_in:a, ends_in:a, or re:PATTERN. It can be given several times. On words of "
        "moves, symbols can also be the states that a run enters. Public.",
        (),
    )
    separator: str | None = _language(
        TEXT, "What separates symbols.  [default: nothing, or a space if symbols are longer]"
    )
    epsilon: float | None = _promise(
        number(1, largest=LARGEST_EPSILON),
        "The privacy budget that each word spends. Where a budget is shared equally, it has no effect, and may be left "
        "out.",
    )
    report: str | None = _promise(
        one_of(*choice.QUESTIONS),
        "Instead of words, release answers about one random position of each whole word: which state the run enters "
        "there (visits), which state or symbol comes after which (transitions), or which symbol is there. ε is then "
        "promised for any two words, whatever their lengths.",
    )
    edits: str = _promise(
        one_of(*choice.EDITS),
        "What is hidden: substituted symbols only, or insertions and deletions as well (Levenshtein distance).",
        "substitutions",
    )
    mechanism_name: str | None = _promise(
        one_of(*choice.MECHANISMS),
        "'online' releases symbol by symbol, 'channel' makes random edits, and 'best' takes for words of each length "
        "the one with the least public expected distance, as 'dpwords accuracy' shows it.  [default: for a system, "
        "best; where all edits are hidden, channel, except for a lexicon; otherwise exponential]",
    )
    k: int = _promise(WHOLE, "Words at most k positions or edits apart are neighbours.", 1)
    utility: str = _promise(
        one_of(*choice.UTILITIES),
        "The utility of an output by its distance; 'best' is the best one proven for the language.",
        "best",
    )
    alpha: float = _promise(number(1), "The constant of the inverse utility.", 1.0)
    calibration: str = _promise(
        one_of(*choice.CALIBRATIONS),
        "'tight' uses the best rate that is proven for each length, 'textbook' uses ε/(2Δu).",
        "tight",
    )
    certificate_time: float | None = _promise(
        number(600, zero_allowed=True),
        "Try only proofs that are expected to take at most so many seconds each: a longer time can allow more accurate "
        "releases on systems at small ε.  [default: 200]",
    )
    any_word: bool = _promise(
        FLAG,
        "Where all edits are hidden on a system: take any word over its symbols, and not only words of the system.",
        False,
    )
    input: str | os.PathLike[str] | None = _table(  # noqa: RUF009
        FILE,
        "A file with a table of words: .csv, .tsv, .jsonl, .txt (a word on each line), .parquet, .arrow or .feather; "
        "text also as .gz, .bz2, .xz or .zst. '-' is standard input.",
        in_receipt=False,
    )
    output: str | os.PathLike[str] | None = _table(  # noqa: RUF009
        FILE, "The file to write. '-' is standard output.  [default: -]", in_receipt=False
    )
    format: str | None = _table(one_of(*FORMATS), "The input's format.  [default: by its suffix]", in_receipt=False)
    header: bool = _table(
        FLAG,
        "The first line of a CSV or TSV file has the names of the columns, even if they could be words or symbols.",
        False,
        in_receipt=False,
    )
    no_header: bool = _table(
        FLAG,
        "The first line of a CSV or TSV file is a row like the others. Columns are called 1, 2, 3, …, and CSV and TSV "
        "are written without a header, too.",
        False,
    )
    output_format: str | None = _table(
        one_of(*FORMATS),
        "The output's format.  [default: by its suffix; on standard output that of the input]",
        in_receipt=False,
    )
    column: str | None = _table(TEXT, "The column of words: lists of symbols, or text.")
    columns: str | None = _table(TEXT, "One column for each step: a range 'm1:m12' or a pattern 'm*'.")
    case: str | None = _table(
        TEXT, "In a log with one row for each event, the column that says which word it belongs to."
    )
    symbol: str | None = _table(TEXT, "In a log, the column of symbols.")
    order: str | None = _table(TEXT, "In a log, the column that orders the events of a word, such as a time.")
    id: str | None = _table(
        TEXT,
        "A column that differs in every row and names its word; draws depend on it. A key that is reused needs one.  "
        "[default: the row's number]",
    )
    by: str | None = _table(TEXT, "The column that says whose word it is: what the words of a person spend adds up.")
    budget: float | None = _table(
        number(10, largest=LARGEST_EPSILON),
        "The most ε that the words of one person may spend; with a ledger, in all releases together.",
    )
    split: str | None = _table(
        one_of("equal", "first"),
        "How a budget is divided: equally over a person's words, or the same ε for as many of the first ones as it "
        "pays for.  [default: equal; with a ledger, not at all]",
    )
    invalid: str = _table(
        one_of("fail", "skip"),
        "Rows whose word is not in the language: refuse the file, or leave the rows out.",
        "fail",
    )
    drop_others: bool = _table(
        FLAG, "Write no columns but those of the words, and those that say which and whose they are.", False
    )


_BY_KEY = {each.name.removesuffix("_name"): each for each in fields(RecipeFields)}  # in Python, `mechanism` is a method
FIELDS: dict[str, Parameter] = {key: each.metadata["parameter"] for key, each in _BY_KEY.items()}
DEFAULTS: dict[str, Any] = {key: each.default for key, each in _BY_KEY.items()}
LANGUAGE = tuple(key for key, each in FIELDS.items() if each.section is Section.LANGUAGE)
ATTRIBUTES = {key: each.name for key, each in _BY_KEY.items()}
_SPELLED = {"rules": "rule", "symbols": "dot_symbols"}  # options; `from_dot` says symbols


def as_option(name: str, value: str | None = None) -> str:
    """A parameter as an option of the command line, with its value if it has one that is not a flag."""
    spelled = _SPELLED.get(name, name)
    option = f"{'-' if len(spelled) == 1 else '--'}{spelled.replace('_', '-')}"
    return option if value in (None, "True") else f"{option} {quote(value)}"
