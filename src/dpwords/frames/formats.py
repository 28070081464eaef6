"""The formats of files, by suffix or by name: one reader and one writer for each.

A reader has a schema, and gives batches as often as asked, from the beginning each time. A writer takes batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dpwords.errors import InvalidValue, named
from dpwords.frames import need_pyarrow
from dpwords.frames.streams import Input
from dpwords.recipes.table_formats import DELIMITED, TEXT, Packing, form_of

if TYPE_CHECKING:
    import pyarrow as pa

    from dpwords.frames.rows import GroupWriter, TableReader


@dataclass(frozen=True)
class FileForm:
    """A format, and how text is compressed."""

    kind: str
    packing: Packing | None = None
    header: bool = True  # whether the first line of CSV or TSV has the names of the columns

    @classmethod
    def of(cls, path: str, kind: str | None = None, header: bool = True) -> FileForm:
        """The form that a file's suffixes say, such as .csv.gz; a name of a format comes before the suffix."""
        kind, packing = form_of(path, kind)
        if not header and kind not in DELIMITED:
            raise InvalidValue(
                f"{named('no_header')} is for CSV and TSV, and {Path(path).name} is another format: leave it out"
            )
        return cls(kind, packing, header)

    def like(self, source: FileForm) -> FileForm:
        """This form of an output, without a header if the input had none and the output could have one."""
        return replace(self, header=source.header or self.kind not in DELIMITED)

    @property
    def is_text(self) -> bool:
        """Whether the metadata of a table have no place in the file."""
        return self.kind in TEXT

    def reader(self, source: Input) -> TableReader:
        """What reads a file of this form."""
        need_pyarrow()
        from dpwords.frames.text_files import DelimitedReader, JsonReader, TextReader

        if self.kind in DELIMITED:
            return DelimitedReader(source, self.packing, self.kind, self.header)
        if self.kind == "text":
            return TextReader(source, self.packing)
        if self.kind == "jsonl":
            return JsonReader(source, self.packing)
        from dpwords.frames.arrow_files import ArrowReader, ParquetReader

        return ParquetReader(source) if self.kind == "parquet" else ArrowReader(source)

    def writer(self, file: IO[bytes], schema: pa.Schema, changed: Sequence[str]) -> GroupWriter:
        """What writes a file of this form; `changed` are the columns that are not as they were read."""
        from dpwords.frames.text_files import DelimitedWriter, JsonWriter, TextWriter

        if self.kind == "jsonl":
            return JsonWriter(file, self.packing, schema, changed)
        if self.kind in DELIMITED:
            return DelimitedWriter(file, self.packing, self.kind, schema, self.header)
        if self.kind == "text":
            return TextWriter(file, self.packing, schema)
        from dpwords.frames.arrow_files import ArrowWriter, ParquetWriter

        if self.kind == "parquet":
            return ParquetWriter(file, schema, changed)
        return ArrowWriter(file, self.kind, schema)
