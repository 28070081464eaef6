"""What the package says about itself in references is what CITATION.cff says."""

from __future__ import annotations

import re
from pathlib import Path

import dpwords
from dpwords.core import citation


def test_the_citation_file_says_the_same() -> None:
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r'title: "(.*)"', text) == [citation.TITLE, citation.PAPER_TITLE]
    assert re.findall(r'- name: "(.*)"', text) == [citation.AUTHORS]
    names = re.findall(r"given-names: (.*)\n *family-names: (.*)", text)
    assert tuple(map(" ".join, names)) == citation.PAPER_AUTHORS
    assert re.findall(r"^version: (.*)", text, re.M) == [dpwords.__version__]
