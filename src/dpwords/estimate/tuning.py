"""Numbers that were chosen by trying, and not derived: what each decides, and what speaks for its value.

How often intervals cover with them is measured by `benchmarks/bench_coverage.py`, on populations and seeds that had no
part in the choice. Sections are those of docs/theory.md.
"""

from __future__ import annotations

# What is said about errors, by the sum of the absolute errors that all proportions together are expected to have, of at
# most 2: rough from a quarter of that on, and refused from all of it on. A model of runs is refused from a quarter on
# (starts on a road network through Online at ε = 1.5 were off by 1.2, where 0.7 was expected), and from an eighth on
# where constants had to be corrected for, because intervals leave out the error of the correction (15 c); from half of
# that on if the model, under which it is computed, does not fit (trips there and back at ε = 1.5: intervals covered 64
# to 78 %). The last three were chosen by these figures. A changed symbol moves at most two steps, so counting is off by
# at most four times the proportion of changed symbols, beside the error of the sample: where that is next to nothing,
# releases are nearly the true words, and a model of few runs is called rough, not refused.
ROUGH, UNRELIABLE, HOPELESS, NEARLY_TRUE = 0.5, 0.25, 2.0, 0.1
OUT_OF_REACH = 1e6  # times as many releases: nobody would collect them, so a larger ε is advised alone
VERY_FEW = 15  # releases, whose own variation is no guide to that of others: intervals are at least those of a sample

# When a model takes the place of the unbiased inversion on free words (15 b): if its errors are at most this proportion
# of those of the inversion, which four times as many releases would reach without any model.
CLEARLY = 0.5

# Which parameters count as known when standard errors are computed (15 e): those with fewer expected uses (with 1 in
# place of 0.1, intervals of few fixed routes through Online at ε = 2 covered 0.88 instead of 0.92), those about
# which releases show less than this proportion of what true words would, and directions with less than this proportion
# of the largest information.
FEWEST_USES, UNSEEN, SMALL = 0.1, 1e-6, 1e-3
# Proportions below these lie on the boundary, and are written as 0: no fitted parameter becomes 0.
AT_ZERO, NO_PROPORTION = 1e-6, 1e-9

# Errors of lengths (15 d): a length occurs from so many expected words on, and such a proportion is spread over all
# between.
FEWEST_WORDS, SPREAD_PROPORTION = 0.5, 0.1

# Time of standard errors (15 e): products of scores that are summed, a few seconds; beyond them, a sample of the
# releases stands for all. Of more lengths than these, some stand for those near them.
INFORMATION_STEPS, MOST_LENGTHS = 10**11, 12

# Variants are inverted up to this length (15 h), in milliseconds; errors of longer ones would be too large anyway.
LONGEST_INVERTED = 24

# Forecasts: people that are simulated at most, and where so few tell nothing; repetitions for few people, whose errors
# vary, at most; words that stand for the whole population; and the parts into which words are divided to see how much
# they vary.
SIMULATED_PEOPLE, MOST_SIMULATED, MOST_PLANNED, POPULATION, BATCHES = 4000, 40_000, 10, 40_000, 40
