"""A release from bytes to bytes: the same passes as from file to file, without a disk."""

from __future__ import annotations

import io
from typing import Any

from dpwords.core.keyed import Key
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


class MemoryRelease(Passes):
    """A release of the words of a table in memory, in two steps like those of `FileRelease`. The key is fresh.

    The output has the format of the input. `recipe` is what the receipt tells. Memory: the input,
    the output, and that of `Passes`.
    """

    def __init__(self, mechanism: Private, source: TableSource, request: Request, recipe: Recipe | None = None) -> None:
        super().__init__(mechanism, request, source, source.form, Key.fresh().secret)
        self._mechanism, self._recipe = mechanism, recipe or Recipe()
        self.receipt_is_inside = not source.form.is_text  # whether what `write` returns has the receipt in it

    def write(self, plan: Plan, progress: RowsDone = lambda rows: None) -> bytes:
        """Draw, and return the released file. A Parquet or Arrow file has the receipt in its metadata."""
        file = io.BytesIO()
        self.draw(plan, file, self.receipt(plan), progress)
        return file.getvalue()

    def receipt(self, plan: Plan) -> dict[str, Any]:
        """The receipt of what `write` returns."""
        return receipts.receipt(self._mechanism, self._recipe, plan.words)
