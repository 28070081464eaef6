"""Numbers that were chosen, and not derived: what each decides, and what happens if it is smaller or larger.

None of them affects how often something honest is accused or refused: the proofs in section 16 of docs/theory.md hold
for any values. They decide what an audit finds, and how long it takes. The values were chosen such that everything in
`tests/helpers/gallery.py` and `tests/helpers/liars.py` is found; for single ones, no other trial is on record.
"""

from __future__ import annotations

# Candidates among which a statistical audit chooses its event (`events.py`). More of them find rarer faults, take more
# time, and leave more to luck where draws are few.
THRESHOLDS = 64  # of one number, and labels of one kind
ENDS = (1, 2, 3)  # symbols of the prefixes and suffixes that are looked at; longer ones are rarely drawn twice
POSITIONS = 32  # where the words differ, and then from the first one on
COUNTED = 16  # symbols of the words whose number is looked at

# Draws (`samplers.py`, `fit.py`, `exact.py`)
BATCHES_OF_A_WORD = 16  # fewer do not show that batches repeat each other; with more, a program starts more often
ONE_BY_ONE = 256  # draws by `release` of what also draws many words at a time; with fewer, a fault there is missed
ADDED = 64  # outputs that were drawn but not listed, and are compared as well; each costs a probability at every word

# What draws might follow instead of the stated distribution (`fit.py`). A finer grid would find smaller faults, but
# each further alternative takes its part of the evidence from the others.
POWERS = (0.0, 0.5, 0.8, 1.25, 2.0, 4.0)  # distributions that are flatter and sharper than the stated one
PUBLISHED = (0.002, 0.005, 0.01, 0.02, 0.05, 0.2, 0.5)  # distributions by which the word itself comes out so often
URNS = (1.0, 10.0, 100.0, 1000.0)  # how many draws a stated probability weighs against those that were seen

# What is audited if nobody says it (`instances.py`)
FREE_LENGTH = 3  # of free words, before larger alphabets are preferred to longer words
UNIFORM = 64  # words of which the first is taken, and the others may be its neighbour
NEAR, RATES = 32, (2.0, 4.0, 8.0, 16.0)  # draws around it at each rate: with fewer, its neighbour may be far away
