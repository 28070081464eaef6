"""Where things are in the source tree."""

from __future__ import annotations

from pathlib import Path

HELPERS = Path(__file__).parent  # and the programs that tests start
ROOT = HELPERS.parents[1]
