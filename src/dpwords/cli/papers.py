"""What goes into a paper: text and tables for LaTeX and Markdown, with all that means something there escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

_TEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "`": r"\textasciigrave{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",  # shorthands of some languages begin with it
    "[": "{[}",  # after the end of a row, it would begin an argument
    "]": "{]}",
    "*": "{*}",
    "�": "?",
    "␣": r"\textvisiblespace{}",
    "ε": r"$\varepsilon$",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "→": r"$\to$",
    "−": "$-$",
    "·": r"$\cdot$",
    "–": "--",
    "…": r"\dots{}",
}
_POWER = re.compile(r"e\^(?:\(((?:[^()]|\([^()]*\))*)\)|([0-9.]+[0-9]|[0-9ε]))")  # e^(3·ceil(d/2)) and e^24
_MARKED = re.compile(r"([\\`*_{}\[\]<>|~#&$])")
_FEWEST, _MOST = 1, 6  # digits after the point
_LONG, _WIDTH = 50, 0.6  # characters of a cell that has several lines; the part of the page that such columns share
_USUAL = 3  # of a value whose interval is not known


def tex(text: str) -> str:
    """A text for LaTeX, in UTF-8; powers of e and ε are set as formulas.

    >>> print(tex("50% of a_b: e^(3·ceil(d/2))"))
    50\\% of a\\_b: $e^{3\\cdot \\lceil d/2 \\rceil}$
    """
    found, end = [], 0
    for power in _POWER.finditer(text):
        inside = (power[1] or power[2]).replace("·", r"\cdot ").replace("ε", r"\varepsilon ")
        inside = re.sub(r"ceil\(([^()]*)\)", r"\\lceil \1 \\rceil", inside).strip()
        found += [_escaped(text[end : power.start()]), f"$e^{{{inside}}}$"]
        end = power.end()
    return "".join([*found, _escaped(text[end:])])


def _escaped(text: str) -> str:
    plain = "".join(_TEX.get(letter, letter) for letter in re.sub("-(?=-)", "-\0", _printable(text)))
    return plain.replace("\0", "{}")  # two hyphens are no dash


def markdown(text: str) -> str:
    """A text for Markdown, in which nothing is a mark, nor the end of a cell.

    >>> print(markdown("a|b_c"))
    a\\|b\\_c
    """
    return _MARKED.sub(r"\\\1", _printable(text))


def _printable(text: str) -> str:
    """A text on one line; one of spaces alone is made visible, because it would look like nothing."""
    if text and not text.strip(" "):
        return "␣" * len(text)
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def rounded(value: float, low: float, high: float) -> tuple[str, str, str]:
    """An estimate and its interval, with as many digits as the interval justifies: two of its half-width.

    Where there is no interval, the value has three digits after the point, and the ends are empty.

    >>> rounded(0.50527, 0.48844, 0.52209)
    ('0.505', '0.488', '0.522')
    >>> rounded(-0.25, math.nan, math.nan)
    ('-0.250', '', '')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return _fixed(value, _USUAL), "", ""
    half = (high - low) / 2
    digits = 1 - math.floor(math.log10(half)) if half > 0 else _USUAL
    digits = min(max(digits, _FEWEST), _MOST)
    return _fixed(value, digits), _fixed(low, digits), _fixed(high, digits)


def _fixed(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not float(text) else text


def tex_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> str:
    """A tabular with the rules of the package booktabs; the last `numbers` columns are aligned to the right.

    Columns of long texts are paragraphs. The caption stands above it as a comment, ready to be used where the tabular
    is read by \\input.
    """
    texts = range(len(header) - numbers)
    long = [any(len(row[column]) > _LONG for row in rows) for column in texts]
    columns = "".join(f"p{{{_WIDTH / max(sum(long), 1):.2g}\\linewidth}}" if each else "l" for each in long)
    columns += "r" * numbers
    lines = [
        "% needs \\usepackage{booktabs}",
        f"% \\caption{{{tex(caption)}}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        _tex_row(header),
        "\\midrule",
        *map(_tex_row, rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _tex_row(cells: Sequence[str]) -> str:
    """A row, in which a minus before a number is one."""
    texts = [re.sub(r"(?<![0-9A-Za-z])-(?=[0-9])", "$-$", tex(cell)) for cell in cells]
    return " & ".join(texts) + r" \\"


def markdown_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], numbers: int) -> str:
    """A pipe table below its caption; the last `numbers` columns are aligned to the right."""
    marks = ["---"] * (len(header) - numbers) + ["---:"] * numbers
    lines = [markdown(caption), "", _row([markdown(cell) for cell in header]), _row(marks)]
    return "\n".join([*lines, *(_row([markdown(cell) for cell in row]) for row in rows)]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
