"""Estimated proportions as bars with their intervals, and names in full beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpwords.plots.captions import EstimatedProportions, shortened, with_interval, wrapped
from dpwords.plots.figures import drawable, new_figure, text_width
from dpwords.plots.palette import INK, PALE, RELEASED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TEXT, _LINE, _TITLE = 8.0, 10.5, 10.0  # points: letters of names, their lines, letters of the title
_NAME = 46  # characters on a line of a name
_ROW, _APART = 17.3, 6.0  # height of a row with one line, and the space between rows of several
_BARS = 300.0  # width of the bars
_HEAD, _FOOT, _SIDE, _KEY = 30.0, 62.0, 14.0, 26.0


class Bars(NamedTuple):
    """Bars that are ready to be drawn: the labels from the top down, the lines of their names, and where they are."""

    found: EstimatedProportions
    labels: Sequence[Any]
    names: list[list[str]]
    rows: np.ndarray  # the middle of each, from the top, in points
    high: float  # of all rows

    @classmethod
    def of(cls, found: EstimatedProportions, labels: Sequence[Any], names: Sequence[str]) -> Bars:
        """The bars of some labels with these names, which are broken into lines, and not cut."""
        lines = [wrapped(drawable(name), _NAME) for name in shortened(names)]
        heights = np.array([max(_ROW, _LINE * len(each) + _APART) for each in lines])
        ends = np.cumsum(heights)
        return cls(found, labels, lines, ends - heights / 2, float(ends[-1]))

    @property
    def size(self) -> tuple[float, float]:
        """The width and height that the bars, their names and the legend need, in points, without a title."""
        legend = sum(text_width(text, _TEXT) + _KEY + 18 for text in self._legend)
        return max(self._left + _BARS + self._right, legend) + 2 * _SIDE, self.high + _FOOT

    @property
    def _left(self) -> float:
        """The width of the names."""
        return max(text_width(line, _TEXT) for each in self.names for line in each) + 8

    @property
    def _right(self) -> float:
        """The width of the numbers."""
        return max(text_width(text, _TEXT - 1) for text in self._numbers) + 8

    @property
    def _numbers(self) -> list[str]:
        return [" ".join(with_interval(*self.found[label])) for label in self.labels]

    @property
    def _legend(self) -> tuple[str, str]:
        return f"estimated, with {100 * self.found.confidence:.4g}% intervals", "counted as released"

    def draw(self, figure: Figure, left: float, top: float) -> None:
        """Draw the bars; `left` and `top` are points from the figure's left and upper edge."""
        wide, high = (72 * side for side in figure.get_size_inches())
        width, _ = self.size
        begin, bottom = left + _SIDE + self._left, top + self.high
        box = begin / wide, 1 - bottom / high, (left + width - _SIDE - self._right - begin) / wide, self.high / high
        axes = figure.add_axes(box, ylim=(self.high, 0), gid="bars")
        self._fill(axes)
        figure.legend(
            loc="upper center",
            bbox_to_anchor=((left + width / 2) / wide, 1 - (bottom + 34) / high),
            ncols=2,
            frameon=False,
            fontsize=_TEXT,
            borderaxespad=0,
            handles=axes.get_legend_handles_labels()[0][::-1],  # bars with intervals first
        )

    def _fill(self, axes: Axes) -> None:
        from matplotlib.ticker import PercentFormatter

        value, low, high = np.array([self.found[label] for label in self.labels]).T
        axes.barh(self.rows, value, height=0.6 * _ROW, color=RELEASED, alpha=0.35, gid="proportion")
        reach = np.maximum(np.nan_to_num(np.stack([value - low, high - value])), 0.0)
        axes.errorbar(value, self.rows, xerr=reach, fmt=".", color=RELEASED, markersize=5, linewidth=1.2, capsize=2)
        axes.containers[-1].set_label(self._legend[0])
        counted = [self.found.counted[label] for label in self.labels]
        axes.plot(counted, self.rows, "D", color=INK, markersize=3.5, markerfacecolor="none")
        axes.lines[-1].set(label=self._legend[1], gid="counted")
        axes.set_yticks(self.rows, ["\n".join(lines) for lines in self.names], fontsize=_TEXT, parse_math=False)
        for row, text in zip(self.rows, self._numbers, strict=True):
            axes.text(1.02, row, text, transform=axes.get_yaxis_transform(), fontsize=_TEXT - 1, va="center", color=INK)
        axes.set_xlim(0, max(1.03 * float(np.nanmax([*value, *high, *counted])), 1e-9))
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.tick_params(axis="x", labelsize=_TEXT)
        axes.set_xlabel("rate" if self.found.question == "rates" else "proportion", fontsize=_TEXT + 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="x", color=PALE, linewidth=0.4)
        axes.set_axisbelow(True)


def bars(ready: Bars, title: str) -> Figure:
    """Bars in a figure of their own, with what the releases give as a mark beside each. Cost: the bars."""
    width, height = ready.size
    wide, high = max(width, text_width(title, _TITLE) + 2 * _SIDE), height + _HEAD
    figure = new_figure((wide / 72, high / 72))
    figure.text(0.5, 1 - _HEAD / 2 / high, title, fontsize=_TITLE, ha="center", va="center", parse_math=False)
    ready.draw(figure, (wide - width) / 2, _HEAD)
    return figure


def beside(figure: Figure, ready: Bars) -> None:
    """Draw bars on the right of what a figure has already; the figure grows."""
    wide, high = (72 * side for side in figure.get_size_inches())
    width, height = ready.size
    taller = max(high, height + _HEAD)
    (axes,) = figure.axes
    figure.set_size_inches((wide + width) / 72, taller / 72)
    axes.set_position((0, 1 - high / taller, wide / (wide + width), high / taller))
    ready.draw(figure, wide, _HEAD)
