"""Numbers that were chosen by trying, and not derived: what each decides, and what speaks for its value.

How often intervals cover with them is measured by `benchmarks/bench_estimates.py`. For `TOO_FAR`, which was raised from
2 after a look at such draws, that is no independent check. Sections are those of docs/theory.md.
"""

from __future__ import annotations

# What is said about errors, by the sum of the absolute errors that all proportions together are expected to have, of at
# most 2: rough from a quarter of that on, refused from all of it on, and from an eighth on where constants had to be
# corrected for, because intervals leave out the error of the correction (15 c).
ROUGH, UNRELIABLE, HOPELESS = 0.5, 0.25, 2.0
OUT_OF_REACH = 1e6  # times as many releases: nobody would collect them, so a larger ε is advised alone
VERY_FEW = 15  # releases, whose own variation is no guide to that of others: intervals are at least those of a sample

# When a chain on free words gives way to the unbiased inversion: where they differ by more than so many standard
# deviations of what the errors explain (Hausman's test; how often that happens by chance is in 15 b).
TOO_FAR = 4.0

# Which parameters count as known when standard errors are computed (15 e): those with fewer expected uses, those about
# which releases show less than this proportion of what true words would, and directions with less than this proportion
# of the largest information.
FEWEST_USES, UNSEEN, SMALL = 1.0, 1e-6, 1e-3
# Proportions below these lie on the boundary, and are written as 0: no fitted parameter becomes 0.
AT_ZERO, NO_PROPORTION = 1e-6, 1e-9

# Errors of lengths (15 d): a length occurs from so many expected words on, and such a proportion is spread over all
# between.
FEWEST_WORDS, SPREAD_PROPORTION = 0.5, 0.1
