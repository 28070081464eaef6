"""The numbers of this package that were chosen, and not derived: what each decides, and how it was chosen.

None of them changes a released word. They decide how much memory a pass takes, how files are cut into parts, and what
is guessed for the owner of a table. Limits that protect from inputs that are too large are in `core/limits.py`.
"""

from __future__ import annotations

# Batches: rows are read, drawn and held in memory in parts of this size.
ROWS = 2**16  # of a batch, at most: enough that what a batch itself costs does not count
BYTES = 2**24  # of a batch once it is decoded, unless a row takes more: 2**16 rows of 256 bytes, longer than most words
TEXT_BYTES = 2**23  # of a batch of lines; Python's texts and lists take several times as much
CELLS = 2**20  # of a batch of JSON lines, rows · keys; an object of Python for each of them takes about 100 bytes
CELL = 8  # bytes that an empty value of CSV counts: that of a reference to it
PEEKED_ROWS = 16  # of a row group of Parquet, to see how long its texts are; any few rows have the whole dictionary
CHUNK = 2**20  # bytes that are read, unpacked or hashed at a time: little memory, and few calls

# Files that are written are cut by rows and bytes alone, so that nothing of the input can be seen in them.
GROUP_ROWS, GROUP_BYTES = 2**20, 2**26  # of a row group of Parquet; readers advise 64 MiB to 1 GiB

# Texts
LONGEST_LINE = 2**24  # bytes; a word of 16 million letters, while a file without line ends must not fill the memory

# Runs
WORTH_KEEPING = 1.0  # seconds; a batch that took longer to draw is saved until the end. Most take milliseconds

# What is guessed for the owner of a table, who sees the guess and corrects it
SAMPLE = 200  # rows that are looked at
FEWEST_STEPS = 3  # columns with numbered names that are taken for steps of a word; two are often two dates
FEWEST_ALIKE = 4  # columns with the same values, without such names; three are often answers of a questionnaire
MOST_SYMBOLS = 10_000  # that are listed; more are a sign of a wrong separator
LISTED = 12  # names of columns in a message
