"""Messages of the library, as the page puts them."""

from __future__ import annotations

from dpwords.errors import DPWordsError, as_argument, rendered

_LABELS = {  # of the fields of the page, by the names of parameters
    "alpha": "α of the inverse utility",
    "alphabet": "Alphabet",
    "by": "Whose word it is",
    "budget": "Budget of each person, ε",
    "calibration": "Calibration",
    "case": "Column of the case",
    "column": "Column of the words",
    "columns": "First step",
    "drop_others": "Leave out all other columns",
    "edits": "What is hidden",
    "epsilon": "ε of each word",
    "format": "Format",
    "goal": "Goal",
    "header": "Format: with a header",
    "input": "File",
    "invalid": "Leave out rows that have no word of the language",
    "k": "k",
    "mechanism": "Mechanism",
    "no_header": "Format: without a header",
    "order": "Ordered by",
    "rules": "Rules",
    "separator": "Between symbols",
    "split": "Privacy is spent",
    "start": "Start",
    "symbol": "Column of the symbol",
    "system": "File of the system",
    "utility": "Utility",
    "walls": "Walls",
    "words": "Symbols are",
}


def on_page(error: DPWordsError) -> str:
    """The message of an error, with the labels of the page, and parameters that it does not have as those of Python.

    >>> from dpwords.errors import InvalidValue, named
    >>> on_page(InvalidValue(f"row 2 has no word: correct it, or skip such rows ({named('invalid', 'skip')})"))
    'row 2 has no word: correct it, or skip such rows (“Leave out rows that have no word of the language”)'
    """
    return rendered(error.message, _label)


def _label(name: str, value: str | None) -> str:
    if name not in _LABELS:
        return f"{as_argument(name, value)} in Python"
    return f"“{_LABELS[name]}”" + ("" if value in (None, "True") or name == "invalid" else f" {value}")
