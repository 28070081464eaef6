"""Draws the pictures of the README. Run it with `make pictures`.

The draws are seeded so that the pictures can be made again; a release that is meant to be private is never seeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

import dpwords as dw
from dpwords.plots.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAN = "EEEEEESSSESSSESSEEES"
EPSILONS = (2, 1, 0.5)
DRAWS = 6
HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"

START = (0, 0)


def route() -> Figure:
    """A private route through a quarter with buildings, and released versions of it at three ε."""
    world = dw.from_map(HERE / "streets.txt")
    private = world.run(PLAN)
    figure = Figure(figsize=(10, 3.1))
    panels = [figure.add_axes((0.01 + 0.2475 * place, 0.11, 0.2375, 0.73)) for place in range(4)]
    for axes in panels:
        _ground(axes, world)
    panels[0].set_title(f"the private route,\n{len(private)} cells", fontsize=11)
    _path(panels[0], [START, *private], [False] * len(private), 0.0, "private")
    for axes, epsilon in zip(panels[1:], EPSILONS, strict=True):
        mechanism = dw.best(world.by_states(), epsilon, length=len(private))
        expected = mechanism.given(private).expected_distance()
        axes.set_title(f"ε = {epsilon:g}\n{expected:.1f} cells change on average", fontsize=11)
        for draw, released in enumerate(mechanism.seeded("route").simulate(private, DRAWS)):
            changed = [own != other for own, other in zip(private, released, strict=True)]
            _path(axes, [START, *released], changed, 0.11 * (draw - (DRAWS - 1) / 2), "released")
    texts = {
        "private": "private route",
        "released": f"{DRAWS} private versions at each ε, where they agree with it",
        "changed": "where they differ",
        "wall": "building",
    }
    handles = [Line2D([], [], color=COLOURS[name].light, linewidth=6 if name == "wall" else 2) for name in texts]
    figure.legend(handles, texts.values(), loc="lower center", ncols=4, frameon=False, fontsize=10, borderaxespad=0.1)
    return figure


def _ground(axes: Axes, world: dw.GridWorld) -> None:
    axes.set(xlim=(-0.6, world.columns - 0.4), ylim=(world.rows - 0.4, -0.6), aspect="equal")
    axes.set_axis_off()
    for row in range(world.rows):
        for column in range(world.columns):
            corner, is_wall = (column - 0.5, row - 0.5), (row, column) not in world.transitions
            fill = COLOURS["wall"].light if is_wall else "white"
            axes.add_patch(
                Rectangle(corner, 1, 1, facecolor=fill, edgecolor=COLOURS["pale"].light, linewidth=0.4, zorder=0)
            )


def _path(axes: Axes, cells: Sequence[tuple[int, int]], changed: Sequence[bool], aside: float, colour: str) -> None:
    """Draw a route step by step, moved aside a little, so that several can be seen in the same street."""
    for place, differs in enumerate(changed):
        (row, column), (down, right) = cells[place], cells[place + 1]
        axes.plot(
            [column + aside, right + aside],
            [row + aside, down + aside],
            color=COLOURS["changed" if differs else colour].light,
            linewidth=2.2 if colour == "private" else 1.1,
            solid_capstyle="round",
            zorder=3 if differs else 2,
        )
    for (row, column), marker in ((cells[0], "o"), (cells[-1], "s")):
        axes.plot(column, row, marker, color=COLOURS["private"].light, markersize=7, zorder=4)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    route().savefig(IMAGES / "route.png", dpi=200, metadata={"Software": None})
