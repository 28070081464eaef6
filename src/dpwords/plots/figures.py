"""What all figures need: matplotlib with its own defaults, the width of texts, characters of its fonts, and notes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple

from dpwords.errors import InvalidValue, MissingExtra
from dpwords.plots.palette import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Line = str | tuple[float, tuple[float, ...]]  # a line style of matplotlib
SANS, MONO = "DejaVu Sans", "DejaVu Sans Mono"  # both come with matplotlib


class Note(NamedTuple):
    """A line of a legend, with a sample of the stroke if it is about arrows."""

    text: str
    colour: str = INK
    line: Line | None = None
    width: float = 1.4  # of the stroke, in points
    opacity: float = 1.0


def need_matplotlib() -> None:
    """Raise a one-line error if matplotlib is not installed or cannot be imported."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("pictures need matplotlib: pip install 'dpwords[plot]'")
    try:
        import matplotlib as _matplotlib  # noqa: F401
    except ValueError:
        raise InvalidValue("matplotlib rejects its settings: check MPLBACKEND and the file matplotlibrc") from None


@contextmanager
def matplotlib_as_it_comes() -> Iterator[None]:
    """Use matplotlib with its own defaults instead of the user's settings, so that figures look the same everywhere."""
    need_matplotlib()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "dpwords"
        yield


def one_line(text: str) -> str:
    """The text with line breaks and repeated blanks made single blanks."""
    return " ".join(text.split())


def drawable(text: str, family: str = SANS, instead: str = "[U+{:X}]") -> str:
    """The text with every character that the font lacks replaced by `instead`, by default its code point."""
    return "".join(letter if _has(letter, family) else instead.format(ord(letter)) for letter in text)


def new_figure(size: tuple[float, float], layout: Literal["constrained"] | None = None) -> Figure:
    """An empty figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout=layout)


def legend_text(name: str) -> str:
    """A name in a legend, where matplotlib would read what is between dollar signs as a formula."""
    return drawable(name).replace("$", r"\$")


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """The width of a line of text, in points, in the font that figures use."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    font = FontProperties(family=SANS, size=size, weight=weight)
    return float(TextPath((0, 0), legend_text(text), prop=font).get_extents().width)


@lru_cache(maxsize=4096)
def _has(letter: str, family: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return bool(get_font(findfont(FontProperties(family=family))).get_char_index(ord(letter)))
