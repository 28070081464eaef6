"""Some of many words of mixed lengths."""

from __future__ import annotations

import numpy as np

from dpwords.core.encoding import Ragged
from dpwords.core.scaled import Integers


def chosen(words: Ragged, rows: Integers) -> Ragged:
    """The words of some rows, in the order of these rows. Cost: their symbols."""
    lengths = words.sizes[rows]
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(words.ends[rows] - ends, lengths)
    return Ragged(words.values[places], ends)
