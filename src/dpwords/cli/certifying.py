"""Certificates on the command line: made or loaded before anything is drawn, with a progress bar."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpwords.cli.terminal import progress_bar

if TYPE_CHECKING:
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.private import Private


def certified(mechanism: Private) -> Exponential | None:
    """The mechanism, or the candidate, that has certificates; None if there is none."""
    from dpwords.mechanisms.by_length import ByLength
    from dpwords.mechanisms.exponential import Exponential

    candidates = mechanism.candidates.values() if isinstance(mechanism, ByLength) else [mechanism]
    return next((each for each in candidates if isinstance(each, Exponential)), None)


def certify(mechanism: Exponential, path: Path | None, lengths: set[int], quiet: bool = False, about: str = "") -> None:
    """Load the certificates that a file keeps, and make those that are missing. The progress bar says what for."""
    if mechanism.certificates is None or (path is None and mechanism.language.listed):
        return

    def label() -> str:
        seconds = max((mechanism.certificate.seconds(length) for length in lengths), default=0.0)
        return f"certifying{about}, up to about {seconds:.0f} s" if seconds >= 1 else f"certifying{about}"

    with progress_bar(label, quiet) as progress:
        if path is not None and path.exists():
            mechanism.certificate.load(path, progress)
        if path is not None and mechanism.distance == "levenshtein":
            mechanism.certificate(progress=progress)
            return
        for length in sorted(lengths):
            mechanism.certificate(length, progress)
