"""Certificates and choices on the command line: made or loaded before anything is drawn, with a progress bar."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dpwords.cli.terminal import steps_bar

if TYPE_CHECKING:
    from dpwords.mechanisms.private import Private


def prepare(
    mechanism: Private, lengths: Iterable[int], path: Path | None = None, quiet: bool = False, about: str = ""
) -> None:
    """Load the certificates that a file keeps, and make everything that draws of words of these lengths need."""
    certificates = mechanism.certificates
    with steps_bar(quiet, about) as progress:
        if path is not None and path.exists() and certificates is not None:
            certificates.load(path, None if progress is None else lambda fraction: progress("proving again", fraction))
        for length in sorted(lengths):
            if mechanism.distance != "hamming" or mechanism.k <= length:
                mechanism.prepare(length, progress, in_full=path is not None)
