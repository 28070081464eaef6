"""The questions that can be asked about the population behind released words.

They are listed here, since `dpwords.estimate`, which answers them, takes long to import.
"""

from __future__ import annotations

from typing import Literal

KINDS: dict[str, Literal["each", "pair", "first", "last"]] = {  # what is counted in a word
    "frequencies": "each",
    "visits": "each",
    "transitions": "pair",
    "dfg": "pair",
    "starts": "first",
    "ends": "last",
}
QUESTIONS = (*KINDS, "rates", "variants", "lengths", "patterns")
PAIRS = ("transitions", "dfg", "rates")  # whose labels are two states or symbols
OF_REPORTS = {"symbols": "frequencies", "visits": "visits", "transitions": "transitions"}  # what a report answers
