"""The width of texts, and the characters that the fonts have."""

from __future__ import annotations

from functools import lru_cache

SANS, MONO = "DejaVu Sans", "DejaVu Sans Mono"  # both come with matplotlib


def drawable(text: str, family: str = SANS, instead: str = "[U+{:X}]") -> str:
    """The text with every character that the font lacks replaced by `instead`, by default its code point."""
    return "".join(letter if _has(letter, family) else instead.format(ord(letter)) for letter in text)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """The width of a line of text, in points, in the font that figures use."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    font = FontProperties(family=SANS, size=size, weight=weight)
    return float(TextPath((0, 0), drawable(text).replace("$", r"\$"), prop=font).get_extents().width)


@lru_cache(maxsize=4096)
def _has(letter: str, family: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return bool(get_font(findfont(FontProperties(family=family))).get_char_index(ord(letter)))
