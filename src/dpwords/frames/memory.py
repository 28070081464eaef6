"""A release from bytes to bytes: the same passes as from file to file, without a disk."""

from __future__ import annotations

import io
from typing import Any

from dpwords.core.keyed import Key
from dpwords.core.symbols import Symbol
from dpwords.errors import within_memory
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm
from dpwords.frames.passes import Passes, RowsDone, TableSource
from dpwords.frames.requests import Request
from dpwords.frames.streams import MemoryInput
from dpwords.frames.survey import Plan
from dpwords.mechanisms.private import Private
from dpwords.recipes.recipe import Recipe


@within_memory()
def memory_source(name: str, content: bytes, named: str | None = None, header: bool = True) -> TableSource:
    """The bytes of a table in a file of this name; `named` is its format if the suffix does not say it."""
    form = FileForm.of(name, named, header)
    source = MemoryInput(name, content)
    return TableSource(source, form, form.reader(source))


class MemoryRun:
    """A release of the words of a table in memory, in two steps like those of `FileRun`. The key is fresh.

    The output has the format of the input. `recipe` is what the receipt tells. Memory: the input,
    the output, and that of `Passes`.
    """

    @within_memory()
    def __init__(self, mechanism: Private, source: TableSource, request: Request, recipe: Recipe | None = None) -> None:
        self._mechanism, self._form, self._recipe = mechanism, source.form, recipe or Recipe()
        self._passes = Passes(mechanism, request, source, source.form, Key.fresh().secret)

    @within_memory()
    def survey(self, progress: RowsDone = lambda rows: None) -> Plan:
        """Read and check the whole input."""
        return self._passes.survey(progress)

    @property
    def lengths(self) -> dict[int, int]:
        """How many words have each length, once they are surveyed. This is for their owner."""
        return dict(sorted(self._passes.lengths.items()))

    @property
    def commonest_length(self) -> int:
        """The length that most words have, once they are surveyed."""
        return self._passes.commonest_length

    @within_memory()
    def write(self, plan: Plan, progress: RowsDone = lambda rows: None) -> bytes:
        """Draw, and return the released file. A Parquet or Arrow file has the receipt in its metadata."""
        file = io.BytesIO()
        self._passes.draw(plan, file, self.receipt(plan), progress)
        return file.getvalue()

    def receipt(self, plan: Plan) -> dict[str, Any]:
        """The receipt of what `write` returns."""
        return receipts.receipt(self._mechanism, self._recipe, plan.words)

    @property
    def receipt_is_inside(self) -> bool:
        """Whether what `write` returns has the receipt in it."""
        return not self._form.is_text

    @within_memory()
    def examples(self, plan: Plan, most: int) -> list[tuple[list[Symbol], list[Symbol]]]:
        """The first words, each with its release as `write` returns it; they are for the owner of the words."""
        return self._passes.examples(plan, most)
