"""Numbers that were chosen by trying, all in one place: what each decides, and how it was chosen."""

from __future__ import annotations

# The normaliser Z of the exponential mechanism counts as the same for all words up to this standard deviation of ln Z.
# Leaving it out then changes expected counts by at most 0.03 of their own standard deviations (docs/theory.md, 15 c).
EVEN = 0.03

# Runs that are proposed for each simulated word, if its normaliser is nearly that of others, and if it is not: more of
# them make intervals narrower and take longer.
PROPOSED, PROPOSED_UNEVEN = 8, 64
TOGETHER = 500  # simulated words whose corrections are computed at a time: they bound the memory
DRAWN = 4000  # runs over which normalisers are averaged for one word: its probabilities are then off by 1 to 2 %

# The bound by steepness is taken up to so many times the chance of the most likely word; beyond, the simulated one,
# which is wider by chance.
CLOSE = 1.5
