"""Columns of words with their changes marked, distributions of the distance, and curves of accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpwords.plots.measure import MONO, drawable, text_width
from dpwords.plots.series import looks
from dpwords.plots.style import CHANGED, INK, MARK, RELEASED, Note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = 8.0  # points
_LETTER = 0.602 * _SIZE  # width of a letter in the monospaced font
_LINE = 1.6 * _SIZE
_NOTES = (
    Note("blue: letters as in the private word", RELEASED),
    Note("orange: letters that differ from it", CHANGED),
    Note("number: how many differ"),
)
_GAP = 2 * _LETTER  # between notes


def words(secret: str, blocks: Sequence[Mapping[str, Sequence[str]]]) -> Figure:
    """Blocks of named columns with words and their distances; letters that differ from the secret are marked."""
    from matplotlib.figure import Figure

    heads = [max(len(name.splitlines()) for name in block) for block in blocks]
    lines = [head + max(map(len, block.values())) + 1 for head, block in zip(heads, blocks, strict=True)]
    names = [text_width(text, _SIZE, "bold") for block in blocks for name in block for text in name.splitlines()]
    column_width = max([(len(secret) + 4) * _LETTER, *names]) + 6 * _LETTER
    note_widths = [text_width(note.text, _SIZE) + _GAP for note in _NOTES]
    width = max(column_width * max(map(len, blocks)), sum(note_widths) + 6 * _LETTER)
    height = _LINE * (sum(lines) + 1.5)
    figure = Figure(figsize=(width / 72, height / 72))
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
    for place, note in enumerate(_NOTES):
        axes.text(3 * _LETTER + sum(note_widths[:place]), height - _LINE, note.text, color=note.colour, **style)
    return figure


def distances(panels: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Named panels, each with named distributions of the distance."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(panels) + 0.6, 3.2), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    styles = looks(dict.fromkeys(name for panel in panels.values() for name in panel))
    for panel, (title, laws) in zip(axes, panels.items(), strict=True):
        for name, law in laws.items():
            look = styles[name]
            panel.plot(range(len(law)), law, look.marker, color=look.colour, linestyle=look.line, label=name)
            panel.lines[-1].set(markersize=3, linewidth=1)
        panel.set_title(drawable(title), parse_math=False)
        panel.set(xlabel="distance", ylim=(0, None))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("probability")
    _legend_below(figure, axes, columns=len(styles))
    return figure


def panels(
    epsilons: Sequence[float],
    named: Mapping[str, Mapping[str, Sequence[float]]],
    label: str,
    titles: Mapping[str, str] | None,
) -> Figure:
    """Named panels, each with named curves against ε, on one scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(named) + 0.6, 4), layout="constrained")
    axes = figure.subplots(1, len(named), squeeze=False, sharex=True, sharey=True)[0]
    styles = looks(dict.fromkeys(name for curves in named.values() for name in curves), titles)
    order = sorted(range(len(epsilons)), key=lambda at: epsilons[at])
    for panel, (title, curves) in zip(axes, named.items(), strict=True):
        for name, values in curves.items():
            look = styles[name]
            points = [(epsilons[at], values[at]) for at in order]
            panel.plot(*zip(*points, strict=True), look.marker, color=look.colour, linestyle=look.line, label=name)
            panel.lines[-1].set(markersize=5, linewidth=1.2)
        panel.set_title(drawable(title), fontsize=10, parse_math=False)
        panel.set(xlabel="ε", ylim=(0, None))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(drawable(label), parse_math=False)
    _legend_below(figure, axes, columns=len(named))
    return figure


def _legend_below(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """One legend for all panels, with each name once."""
    handles = {str(line.get_label()): line for panel in axes for line in panel.lines}
    shown = [drawable(name).replace("$", r"\$") for name in handles]
    figure.legend(list(handles.values()), shown, loc="outside lower center", ncols=columns, frameon=False)


def curves(epsilons: Sequence[float], series: Mapping[str, Sequence[float]], title: str) -> Figure:
    """Named curves of expected distance against ε."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    styles = looks(series)
    for name, values in series.items():
        look = styles[name]
        order = sorted(range(len(epsilons)), key=lambda at: epsilons[at])
        points = [(epsilons[at], values[at]) for at in order]
        axes.plot(*zip(*points, strict=True), look.marker, color=look.colour, linestyle=look.line)
        axes.lines[-1].set(markersize=5, linewidth=1.2, label=drawable(name).replace("$", r"\$"))
    axes.set_title(drawable(title), fontsize=10, parse_math=False)
    axes.set(xlabel="ε", ylabel="expected distance", ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def _word(axes: Axes, secret: str, word: str, left: float, y: float) -> None:
    """Draw a word with the letters that differ from the secret marked, followed by its distance."""
    from matplotlib.patches import Rectangle

    changed = [own != other for own, other in zip(secret, word, strict=True)]
    for place in (place for place, differs in enumerate(changed) if differs):
        corner = (left + place * _LETTER, y - 0.72 * _SIZE)
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
