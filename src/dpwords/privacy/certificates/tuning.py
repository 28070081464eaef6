"""Numbers that were chosen by trial: how certificates are searched for, and when a search ends.

None of them can make a certificate wrong: whatever rate, detail or invariant a search proposes, a proof with outward
rounding decides. They affect how long a search takes, and how large the rate is that it finds. They were chosen by
trial on grids and on the roads of Stockholm, whose rates docs/theory.md shows (section 9); the random systems of the
tests, on which certificates are compared with the truth, had no part in the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

# The search for a rate (`largest_rate`)
TRIES = 12  # rates between ε and ε/2 where an evaluation is quick and the first steps miss
PRECISION = 2e-4  # of ε: a search ends when the rate is known so well; much less than rates differ between methods
FAR = 0.02  # of ε: a bound that is so far above ε, and farther than that of a larger rate, leads away
NOT_LESS = 0.1  # of the gap between a rate that holds and one that fails: the next try is at least so far from both
NEARLY = 1 - 2e-5  # of ε: with balanced weights only rounding is lost, and such a rate passes at the first try

# Envelopes (`constant_range.py`), tried on streets (24 and 30 moves) and on grids of 15 × 15 and 40 × 40 with a goal
VECTORS = 32  # for each own state, at most; with 16 or 128, bounds are a few percent larger or smaller
FEWEST_VECTORS = 8  # there are fewer than `VECTORS`, but at least so many, where more would take
QUICKER_RANGE = 40  # times less than the limit; beyond that, entries are given up: with 128 of them bounds are larger
ENTRIES = 512  # of a vector, at most
STORED = 2**20  # numbers that are stored as surroundings of all states
SURROUNDING_ROUNDS = 16  # steps that paths take around an own one; with 6, bounds on 40 × 40 are twice as large
RATE_BITS = 10  # rates by range are multiples of about ε/1,000, so that searches for several lengths meet
SECONDS_A_NUMBER = 2.5e-9  # of a search with six evaluations, measured on 15 × 15 grids without a goal
RANGE_TRIES = 6  # rates between ε and ε/2
LENGTHS_TOGETHER = 8  # lengths up to the next multiple of this are bounded in one pass

# Balanced weights (`small_languages.py`)
BALANCING_ROUNDS = 100  # of each search for weights
BALANCED = 1e-16  # a mean square of what is missing, at which the equations count as solved

# How much of a run a certificate looks at (`reweighted_search.py`)


@dataclass(frozen=True)
class Stage:
    """What is known of a run at one stage of a search, and the fraction of ε that makes further stages unnecessary."""

    back: int  # nodes before a position
    ahead: int  # nodes from the position on where completions begin
    box: int  # nodes in a box on average, at most
    enough: float
    precision: float  # of ε, in the rate


STAGES = (  # in order of cost; later ones prove more at small ε
    Stage(2, 1, 170, 0.96, PRECISION),
    Stage(2, 1, 400, 0.955, 5e-4),
    Stage(2, 1, 1000, 0.95, 5e-4),  # for short words that start anywhere, whose starts are far apart
    Stage(3, 2, 250, 0.93, 5e-4),
    Stage(3, 2, 400, 0.9, 5e-4),
    Stage(4, 2, 1000, 0.0, 1e-3),
)
FOR_ALL_LENGTHS = (STAGES[0], STAGES[1], STAGES[3])
HOPELESS = 0.5  # of ε: an excess beyond which more detail is not tried, once boxes are large
ENOUGH = 0.93  # of ε: a length that a certificate for all lengths covers at this rate has none of its own,
GUESS = 0.93  # and the search for one length begins here if there is no certificate for all
QUICK = 10.0  # seconds: a length does not wait for a certificate for all lengths that is expected to take longer,
QUICKER = 0.5  # if its own takes less than this fraction of that time; tried on systems of 10,000 states
LARGEST_LEAST = 12  # symbols: a certificate for all lengths covers words of so many, and may leave out shorter ones

# The first guess for all lengths: the excess falls about like e^(−1.5·c), from what it is at 0.97 ε
NEARBY = 0.97
FALLS = 1.5
GUESSING_ROUNDS = 20

# What a search is expected to cost, measured on 15 × 15 grids; only compared with the limits
EVALUATIONS = 4  # of a search
SECONDS_A_POSITION = 2e-8  # for each way of a prefix and two more steps, and each node in a box
SECONDS_ALL_POSITIONS = 3e-7  # the same, for all lengths together
SAMPLED_BOXES = 1000  # states whose boxes are counted

# Bounds for all lengths at once (`reweighted_blocks.py`, `reweighted_blocks_boxes.py`)
LAYERS = 4  # prefixes of H to H + 3 symbols are bounded one by one, longer ones together
COMPLETIONS = 8  # completions of up to 7 symbols likewise
COPIES = 4  # of the last position, in the bound for longer blocks; 2 would do for the proof
INVARIANT_ROUNDS = 300  # after which the search for an invariant is given up
WIDER = 3e-5  # by how much it goes beyond what was found: more loses some of ε, less takes more rounds
NEARLY_NONE = 1e-7  # lower bounds below this are replaced by 0, since they would fall for hundreds of rounds

# Pairs of words (`pairs.py`)
FIRST_BOXES = 1  # for each two states in the first sweep, which discards nothing; 2 or 4 prove the same, not sooner
FEW_SWEEPS = 16  # times the first sweep at the least: what a proof takes
MANY_BOXES = 40_000  # boxes that a sweep has kept, beyond which the next one has no more for each two states
MOST_BOXES = 1024  # for each two states
SWEEPS = 24  # of one proof
PROOFS = 64  # of one search for a rate, at most; the work of all of them is limited. Most have 3 to 12
SECONDS_A_STEP = 2e-9  # measured on plans of 24 and 30 moves
FIRST_GAIN = 0.02  # of ε: a search ends at once if a rate that is so much larger is not proven,
FIRST_SHARE = 0.5  # with this share of the work of a proof; where a search gained much, a tenth was enough
RATE_PRECISION = 2e-3  # of ε, where pairs of words show that more is too much
ROUGH_PRECISION = 0.02  # of ε, where only the limit of time ends proofs
USUAL_SWEEPS = 40  # of a search; only the bar that shows its progress needs it
HALF = 0.501  # of ε: words of states are looked at only if blocks, levelled, prove no more than the textbook rate
SOME_WORDS = 16  # whose normalising constants show where no range can help, in systems with not too many
SPREAD_EDGES = 4_000_000  # edges · symbols
WORST_PAIRS = 100  # of each proof that failed, which show what other rates are too large

# Weights that are fitted to pairs of words (`pair_weights.py`), tried on streets (24 moves)
FITTING_TIME = 0.02  # of the limit of time, for all proofs and fits of a search; with 0.8, rates are 1 % larger
FIRST_RISE = 0.04  # of ε: the first step from rate to rate
LEAST_RISE = 0.01  # of ε: less is not tried
MOST_FITS = 20  # for one rate
DESCENT_ROUNDS = 15  # of one fit, after which a rate is given up
DESCENT = 0.005  # by which a weight changes in a round, about
NEAR_LIMIT = 0.25  # of the limit: pairs so near to the worst one count, too
AIM = 0.9  # of the limit: a fit goes on until all pairs are so far below it
MOST_PAIRS = 500  # that fits remember
