"""Numbers of this package that were chosen by trial. None of them affects a promise: the proofs hold for any values.

Those of the first two groups are public parameters of draws, which decide how far releases are from their words; the
others affect time only.
"""

from __future__ import annotations

# Reweighting (`reweighting.py`): κ/a², chosen by trial on grids, for the rates that are proven there. The rates on the
# roads of Stockholm (docs/theory.md, section 9) had no part in the choice.
SECOND_ORDER = 0.5
AT_THE_ENDS = 0.3

# The first symbol of an online release where runs may start in many states (`online.py`): how many states are preferred
# is the number with the least expected distance by a rough estimate, in which these are assumed. They are guesses; no
# record says on what they were tried.
MANY_STARTS = 16  # states from which on the first one is chosen among several
LEVELS = 6  # steps within which a run can be met soon
SAMPLED_STARTS = 32  # states whose surroundings represent those of all
LOST = 0.9  # the fraction of positions that differ where the true run is not met soon
WRONG = 2.0  # the number of positions that differ for each step until it can be met
OPEN_LENGTH = 20  # the length of a stream that has none

# Time: measured where each way begins to be the quicker one
RARE = 240  # of 256: if all bytes up to this one keep a symbol, replacements are so rare that they are searched for
MANY_SYMBOLS = 2**24  # of free words, from which on it pays to load the compiler
STEPS_OF_A_LAYER = 1000  # what a layer of a pass over a graph costs in any case, as a number of edges
ROWS_MATTER = 64  # symbols: for longer words, the number of possible rows is no useful bound
FEW_EDGES = 2**14  # of free words of bounded length, up to which nearest ones are counted edge by edge
CACHED_PREFERENCES = 256  # weights of online choices that are cached
