"""Numbers that were chosen by trying, and not derived: what each decides, and what speaks for its value.

Those of a search trade time for accuracy; none of them enters a promise. Whether intervals cover with them is measured
by `benchmarks/bench_estimates.py`. Sections are those of docs/theory.md.
"""

from __future__ import annotations

# When the constant Z(x) counts as the same for all words: up to this standard deviation of ln Z. Leaving it out then
# changes an expected count by at most 0.03 of the count's own standard deviation (15 c).
EVEN = 0.03

# When expectation–maximisation ends: when at most so much log-likelihood seems to be missing, so many times in a row.
# What is missing along one direction is half of its squared distance from the end, in standard errors: 0.05 is 0.3 of
# them. On plateaus a single such sign is often wrong (15 d).
MISSING, PATIENCE, MOST_STEPS = 0.05, 2, 1000
LENGTHS_MISSING, LENGTHS_ROUNDS = 0.1, 10_000  # of true lengths: to go on would fit the noise
FIRST_RELEASES = 4000  # a fit to many more releases starts from a fit to so many, to save time
WHOLE_LENGTHS_STEPS = 5 * 10**8  # of a pass, half a second, up to which lengths have a distribution of their own

# From how many states on, and from which proportion of all steps between them, passes are products of matrices, which
# take a tenth of the time of loops with 300 states.
FEWEST_DENSE, DENSE = 64, 0.25

# How constants that do differ are approximated (15 c): rounds, steps of a search in each, runs that are drawn for
# each of so many releases, uniform runs to begin with, and the ridge of the regression; all of them bound the time. The
# fit counts as converged if the last round moves at most so large a proportion of all steps.
ROUNDS, ROUND_STEPS, RUNS, SAMPLED_RELEASES, UNIFORM_RUNS, RIDGE, STILL = 8, 12, 4, 2500, 20_000, 1.0, 0.02

# Simulated attacks (17 e): runs that are proposed for each word, if constants are nearly the same and if they are
# not, and words at a time. Intervals hold for any numbers; more proposals make them narrower, and take longer.
PROPOSED, PROPOSED_UNEVEN, TOGETHER = 8, 64, 500
DRAWN = 4000  # runs over which constants are averaged for one word; the error that is left is stated with the result
CLOSE = 1.5  # times the likeliest word's chance, up to which the bound by steepness is taken, else the simulated one

# Which model is taken (15 f): the proportion of releases that is held out; the least number of releases for which
# models are compared, and the largest that takes part; pseudo-counts of the homogeneous chain for each row of the
# others; and the rounds of correction for the model that is taken, which starts from what is known of the constants.
# A model that looks better by chance with at least this probability is a rival, whose answers count for errors.
HELD_OUT, FEWEST_COMPARED, COMPARED_RELEASES, PSEUDO, LAST_ROUNDS = 0.3, 100, 6000, (10.0, 1.0), 4
LEAST_DOUBT = 0.01
MOST_APART = 12  # lengths, up to which a model with a chain for each length is tried
# Part of the chances from which a search for a refined model starts that is even over the steps of a state, the rest
# being those of the homogeneous chain. Without it, a word that the chain rules out was never found (15 f); any positive
# part will do.
EVENLY = 0.1
COMPARED_MISSING = 0.5  # log-likelihood, up to which fits that are compared need not be told apart

# The check of a fit (15 g): how often it rejects a model that is right, at most; how many words and symbols it
# simulates and compares; and from how many expected occurrences on a count is nearly normal.
SIZE_OF_CHECK, MOST_DRAWN, CHECKED_SYMBOLS, FEWEST_SEEN = 0.01, 20_000, 64, 50

# Rehearsed guesses (17 g): words that are drawn from a fitted prior and guessed, at least, and how many times as many
# words as there are releases, at most. They decide how precise the figures are, and how long they take.
REHEARSED_WORDS, MOST_REHEARSALS = 1000, 10

# Words that are common (17 g): how many are looked for, at most; how many releases are expected of each, at least; and
# how often they may move to words that are likelier. More of the first and the last find more, and take longer.
MOST_COMMON, FEWEST_TIMES, MOVES = 60, 2.0, 20
