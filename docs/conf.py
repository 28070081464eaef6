"""How Sphinx builds this documentation: `make docs`, without any network, and with warnings as errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dpwords import __version__
from dpwords.plots.palette import COLOURS

project = "dpwords"
release = version = __version__
project_copyright = "the dpwords developers, MIT licence"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["_build"]
smartquotes = False  # --length is an option
highlight_language = "none"  # a block without a language is plain text
default_role = "code"  # docstrings mark names with single backquotes

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "dpwords"
html_theme_options = {
    f"{shade}_css_variables": {
        f"color-brand-{part}": getattr(COLOURS["released"], shade) for part in ("primary", "content", "visited")
    }
    for shade in ("light", "dark")
}

_ROOT = Path(__file__).parent.parent
_BESIDE = {"security": "SECURITY.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}


def _with_files_beside(_app: object, page: str, source: list[str]) -> None:
    """Show the files beside docs/ as pages, and let links to them lead there."""
    if page in _BESIDE:
        source[0] = (_ROOT / _BESIDE[page]).read_text("utf-8").replace("](docs/", "](")
    for name, file in _BESIDE.items():
        source[0] = re.sub(rf"\]\((\.\./)?{file}", f"]({name}.md", source[0])


def _examples_as_code(_app: object, _context: object, lines: list[str]) -> None:
    """Show the examples of a command's help text as code; sphinx-click makes lines of verse of them."""
    shown = [["Examples::", ""] if line == "| Examples:" else [re.sub(r"^\| ", " ", line)] for line in lines]
    lines[:] = [line for part in shown for line in part]


def setup(app: Any) -> None:
    app.connect("sphinx-click-process-description", _examples_as_code)
    app.connect("source-read", _with_files_beside)
