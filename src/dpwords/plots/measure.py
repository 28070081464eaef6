"""How wide texts are."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """The width of a line of text, in points, in the font that figures use."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text.replace("$", r"\$"), prop=FontProperties(size=size, weight=weight))
    return float(path.get_extents().width)
