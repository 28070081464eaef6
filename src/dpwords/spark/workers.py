"""What runs on the workers of a cluster. It needs pyarrow, and not Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords import __version__
from dpwords.errors import DPWordsError, InvalidValue
from dpwords.frames.batches import BatchRelease
from dpwords.frames.shapes import Fault

SURVEY = "lengths array<bigint>, kind string, message string"  # the columns of a partition's facts, for Spark


@dataclass(frozen=True, eq=False)
class Shipment:
    """What is broadcast to the workers: how a batch is released, and by which version of this package."""

    release: BatchRelease
    version: str

    def surveyed(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The facts about one partition, in one row: the lengths of its words, and the first thing that is wrong."""
        lengths: set[int] = set()
        kind = message = None
        try:
            for batch in batches:
                with self._checked(batch):
                    found = self.release.read(batch)
                lengths |= set(np.unique(found.words.sizes[found.faults == Fault.NONE]).tolist())
        except DPWordsError as error:  # as data, so that Spark does not retry, and wraps no traceback around it
            kind, message = type(error).__name__, error.message
        facts = [
            pa.array([sorted(lengths)], pa.list_(pa.int64())),
            *(pa.array([x], pa.string()) for x in (kind, message)),
        ]
        yield pa.RecordBatch.from_arrays(facts, names=["lengths", "kind", "message"])

    def released(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Each batch with its words released."""
        for batch in batches:
            with self._checked(batch):
                words = self.release(batch)
            yield words

    @contextmanager
    def _checked(self, batch: Any) -> Iterator[None]:
        """Refuse what must not be drawn from, and messages of others that could show a part of a word."""
        if __version__ != self.version:
            raise InvalidValue(
                f"a worker has dpwords {__version__}, and the driver {self.version}: install the same version "
                "everywhere"
            )
        name = self.release.id
        if name is not None and batch.column(name).null_count:
            raise InvalidValue(f"a row has no value in column {name}, which tells rows apart: give every row one")
        try:
            yield
        except (UnicodeError, pa.ArrowException):
            raise InvalidValue("a worker could not read the words of a batch: check that text is valid UTF-8") from None
