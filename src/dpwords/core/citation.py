"""How this package is cited, once: `CITATION.cff` says the same."""

from __future__ import annotations

AUTHORS = "dpwords contributors"
TITLE = "dpwords: differentially private versions of symbolic sequences"
PAPER_AUTHORS = ("Austin Jones", "Kevin Leahy", "Matthew Hale")
PAPER_TITLE = "Towards Differential Privacy for Symbolic Systems"


def citation(version: str) -> str:
    """The package in a version, and the paper, as a list of references has them.

    >>> citation("1.2.3").split(";")[0]
    'dpwords contributors: dpwords: differentially private versions of symbolic sequences, version 1.2.3'
    """
    *others, last = PAPER_AUTHORS
    return f"{AUTHORS}: {TITLE}, version {version}; {', '.join(others)} and {last}: {PAPER_TITLE}"
