"""All words of a file at once, in memory, for studies by their owner."""

from __future__ import annotations

from dpwords.frames.formats import FileForm
from dpwords.frames.passes import TableSource
from dpwords.frames.requests import Request
from dpwords.frames.streams import Input
from dpwords.frames.word_table import FoundWords
from dpwords.mechanisms.private import Private


def words_in(path: str, named: str | None, request: Request, mechanism: Private, header: bool = True) -> FoundWords:
    """The words of a file that the mechanism could release. They are as private as the file.

    `named` is the format, if the suffix does not say it. A row that is no word raises the error that a release would,
    or is left out with invalid="skip". Cost: that of reading the file; all words are in memory.
    """
    form = FileForm.of(path, named, header)
    with Input(path) as opened:
        return TableSource(opened, form, form.reader(opened)).words(request, mechanism).words()
