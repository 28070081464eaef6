"""Columns of words with their changes marked, distributions of the distance, and curves of accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpwords.core.symbols import Word, symbols_of
from dpwords.errors import InvalidValue
from dpwords.plots.figures import (
    MONO,
    Note,
    drawable,
    legend_text,
    matplotlib_as_it_comes,
    new_figure,
    one_line,
    text_width,
)
from dpwords.plots.palette import CHANGED, INK, MARK, RELEASED, Look, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curves = Mapping[str, tuple[Sequence[float], Sequence[float]]]  # x and y of each, by name
_SIZE = 8.0  # points
_LETTER = 0.602 * _SIZE  # width of a letter in the monospaced font
_LINE = 1.6 * _SIZE
_NOTES = (
    Note("blue: letters as in the private word", RELEASED),
    Note("orange: letters that differ from it", CHANGED),
    Note("number: how many differ"),
)
_GAP = 2 * _LETTER  # between notes


@matplotlib_as_it_comes()
def words(secret: str, blocks: Sequence[Mapping[str, Sequence[str]]]) -> Figure:
    """Words in blocks of named columns, with their distances from the secret; changed letters are marked.

    >>> figure = words("gattaca", [{"by hand": ["gattaca", "gactaca"]}])
    """
    check_rows(([secret, *column] for block in blocks for column in block.values()), least=2)
    if not all(blocks):
        raise InvalidValue("a block needs at least one column: leave out empty blocks")
    heads = [max(len(name.splitlines()) for name in block) for block in blocks]
    lines = [head + max(map(len, block.values())) + 1 for head, block in zip(heads, blocks, strict=True)]
    names = [text_width(text, _SIZE, "bold") for block in blocks for name in block for text in name.splitlines()]
    column_width = max([(len(secret) + 4) * _LETTER, *names]) + 6 * _LETTER
    note_widths = [text_width(note.text, _SIZE) + _GAP for note in _NOTES]
    width = max(column_width * max(map(len, blocks)), sum(note_widths) + 6 * _LETTER)
    height = _LINE * (sum(lines) + 1.5)
    figure = new_figure((width / 72, height / 72))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    style: dict[str, Any] = {"fontsize": _SIZE, "va": "center_baseline", "parse_math": False}
    for number, (block, head) in enumerate(zip(blocks, heads, strict=True)):
        for column, (name, samples) in enumerate(block.items()):
            left, top = column * column_width + 3 * _LETTER, _LINE * (sum(lines[:number]) + 1)
            for row, text in enumerate(name.splitlines()):
                axes.text(left, top + row * _LINE, drawable(text), weight="bold", color=INK, **style)
            for row, word in enumerate(samples, start=head):
                _word(axes, secret, word, left, top + row * _LINE)
    for position, note in enumerate(_NOTES):
        axes.text(3 * _LETTER + sum(note_widths[:position]), height - _LINE, note.text, color=note.colour, **style)
    return figure


@matplotlib_as_it_comes()
def distances(laws: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Named panels with named distributions of the distance, as returned by `distance_distribution()`.

    >>> figure = distances({"ε = 1": {"fair": [0.5, 0.5], "certain": [1.0, 0.0]}})
    """
    if not laws or not all(laws.values()):
        raise InvalidValue("a figure of distances needs at least one panel, and each panel at least one distribution")
    figure = new_figure((2.6 * len(laws) + 0.6, 3.2), layout="constrained")
    axes = figure.subplots(1, len(laws), squeeze=False)[0]
    styles = looks(dict.fromkeys(name for panel in laws.values() for name in panel))
    for panel, (title, drawn) in zip(axes, laws.items(), strict=True):
        shown = {name: (range(len(proportions)), proportions) for name, proportions in drawn.items()}
        _chart(panel, shown, styles, title, "distance", fontsize=12, markersize=3, linewidth=1)
    axes[0].set_ylabel("probability")
    _legend_below(figure, axes, columns=len(styles))
    return figure


@matplotlib_as_it_comes()
def panels(
    epsilons: Sequence[float],
    named: Mapping[str, Mapping[str, Sequence[float]]],
    label: str,
    titles: Mapping[str, str] | None = None,
) -> Figure:
    """Named panels side by side, each with named curves against ε; NaN leaves a gap. `label` says what is compared.

    A curve that is named after a mechanism has its colour; `titles` has the mechanisms of curves with longer names.

    >>> figure = panels([1, 2], {"expected": {"tight": [0.5, 0.2]}, "observed": {"tight": [0.4, 0.3]}}, "distance")
    """
    if not named or not all(named.values()):
        raise InvalidValue("there is nothing to draw: give at least one panel, and each at least one curve")
    figure = new_figure((3.6 * len(named) + 0.6, 4), layout="constrained")
    axes = figure.subplots(1, len(named), squeeze=False, sharex=True, sharey=True)[0]
    styles = looks(dict.fromkeys(name for curves in named.values() for name in curves), titles)
    for panel, (title, curves) in zip(axes, named.items(), strict=True):
        _chart(panel, _ordered(epsilons, curves), styles, title, "ε")
    axes[0].set_ylabel(drawable(one_line(label)), parse_math=False)
    _legend_below(figure, axes, columns=len(named))
    return figure


@matplotlib_as_it_comes()
def curves(epsilons: Sequence[float], series: Mapping[str, Sequence[float]], title: str = "") -> Figure:
    """Named curves of expected distance against ε.

    >>> figure = curves([1, 2, 4], {"tight": [3.0, 1.0, 0.2]})
    """
    figure = new_figure((6, 4), layout="constrained")
    axes = figure.subplots()
    _chart(axes, _ordered(epsilons, series), looks(series), one_line(title), "ε")
    axes.set_ylabel("expected distance")
    axes.legend(axes.lines, [*map(legend_text, series)], frameon=False)
    return figure


def check_rows(rows: Iterable[Sequence[Word]], least: int = 1, alike: bool = True) -> None:
    """Refuse to draw rows or columns without words, and words of different lengths if they have to be alike."""
    seen = list(rows)
    if not seen or min(map(len, seen)) < least:
        raise InvalidValue("there is nothing to draw: give at least one word in each row or column")
    lengths = [{len(symbols_of(word)) for word in words} for words in seen]
    if alike and max(map(len, lengths)) > 1:
        raise InvalidValue("words that are compared must have the same length: leave out those of another length")


def _ordered(epsilons: Sequence[float], curves: Mapping[str, Sequence[float]]) -> Curves:
    """The points of curves against ε, from left to right."""
    if not epsilons or not curves or any(len(values) != len(epsilons) for values in curves.values()):
        raise InvalidValue("a curve must have one value for each ε: pass at least one ε and one curve")
    order = sorted(range(len(epsilons)), key=lambda at: epsilons[at])
    return {name: ([epsilons[at] for at in order], [values[at] for at in order]) for name, values in curves.items()}


def _chart(
    axes: Axes,
    curves: Curves,
    styles: Mapping[str, Look],
    title: str,
    across: str,
    fontsize: float = 10,
    **sizes: float,
) -> None:
    for name, (x, y) in curves.items():
        look = styles[name]
        axes.plot(x, y, look.marker, color=look.colour, linestyle=look.line, label=name)
        axes.lines[-1].set(**({"markersize": 5, "linewidth": 1.2} | sizes))
    axes.set_title(drawable(title), fontsize=fontsize, parse_math=False)
    axes.set(xlabel=across, ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)


def _legend_below(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """One legend for all panels, with each name once."""
    handles = {str(line.get_label()): line for panel in axes for line in panel.lines}
    figure.legend(
        list(handles.values()), [*map(legend_text, handles)], loc="outside lower center", ncols=columns, frameon=False
    )


def _word(axes: Axes, secret: str, word: str, left: float, y: float) -> None:
    """Draw a word with the letters that differ from the secret marked, followed by its distance."""
    from matplotlib.patches import Rectangle

    changed = [own != other for own, other in zip(secret, word, strict=True)]
    for position in (position for position, differs in enumerate(changed) if differs):
        corner = (left + position * _LETTER, y - 0.72 * _SIZE)
        axes.add_patch(Rectangle(corner, _LETTER, 1.44 * _SIZE, facecolor=MARK, edgecolor="none"))
    letters = drawable(word, MONO, instead="�")
    kept, other = (
        "".join(a if differs == shown else " " for a, differs in zip(letters, changed, strict=True))
        for shown in (False, True)
    )
    style: dict[str, Any] = {"fontsize": _SIZE, "family": MONO, "va": "center_baseline", "parse_math": False}
    axes.text(left, y, kept, color=RELEASED, **style)
    axes.text(left, y, other, color=CHANGED, **style)
    axes.text(left + (len(secret) + 1) * _LETTER, y, str(sum(changed)), color=INK, **style)
