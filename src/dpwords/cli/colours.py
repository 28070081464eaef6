"""Colours on a terminal, by what they mean: the same ones as in pictures and on the page. A pipe gets none."""

from __future__ import annotations

import io
import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

    from dpwords.plots.palette import Colour

_DARK_BACKGROUNDS = {"0", "1", "2", "3", "4", "5", "6", "8"}  # of the sixteen colours that COLORFGBG numbers


@dataclass(frozen=True)
class Terminal:
    """How wide the output may be, and whether it shows colours."""

    width: int | None  # None: as wide as needed
    colours: bool

    @classmethod
    def of_output(cls) -> Terminal:
        """The width and colours of standard output."""
        if sys.stdout is None or not sys.stdout.isatty():
            return cls(None, False)
        return cls(shutil.get_terminal_size().columns, shows_colours(sys.stdout))

    def lines(self, content: RenderableType) -> list[str]:
        """What rich shows of a content on this terminal, line by line."""
        from rich.console import Console

        page = io.StringIO()
        Console(file=page, force_terminal=True, width=self.width, highlight=False).print(content)
        return page.getvalue().splitlines()


def shows_colours(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colours, whose user has not refused them with NO_COLOR."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream is not None and stream.isatty() and not refused


def meaning(name: str) -> str:
    """The style of a meaning, such as "changed", in bold type."""
    from dpwords.plots.palette import COLOURS

    return in_bold(COLOURS[name])


def in_bold(colour: Colour) -> str:
    """The style of a colour. A terminal that does not tell its background gets the shade that is legible on both."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return f"bold {colour.dark if background in _DARK_BACKGROUNDS else colour.light}"
