"""Numbers that were chosen, and not derived: what each decides, and what happens if it is smaller or larger.

They affect time, and when a computation is refused for lack of memory; no released word depends on them.
"""

from __future__ import annotations

# Up to so many steps of a file of loops are interpreted in a process (`compiled.py`). A step takes about 3 µs, so that
# they take as long as loading the compiler with loops that were compiled before, a tenth of what compiling them takes.
FEW_STEPS = 100_000
WORTH_A_THREAD = 2**17  # steps that take about as long as starting a thread; less work is not worth one
FEW_BYTES = 512  # random ones, up to which asking the operating system is faster than setting up a cipher

# Memory (`limits.py`), in bytes. No trial is on record. With less in reserve, a container may end the process where it
# should have had an error; with more, computations are refused that would have fitted.
LITTLE = 2**26  # tables of up to this size are made without asking what the machine has left
RESERVED = 2**28  # of what is left, for the compiler and all else
LIBRARIES = 2**30  # of address space, most of it no memory, that imports and compiled code take
