"""Short texts that stand for much are read in little memory, or refused before they are unfolded."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from hostile_texts import CASES
from paths import HELPERS

SAID = {
    "edges between sets": "^TooLarge: a graph may have at most 1048576 edges, and as many nodes",
    "defaults of nodes": "^read$",
    "defaults of edges": "^read$",
    "more and more defaults": "^read$",
    "nested sets": "^read$",
    "a long path": "^read$",
    "columns of edges": "^InvalidValue: s.csv has a header, but no edges",
    "columns of a channel": "^InvalidValue: line 2 of m.csv has 0 numbers for 60000 columns",
    "entities": "^InvalidValue: .*DOCTYPE.* is refused",
    "a grid": "^TooLarge: a grid can have at most 1000000 cells",
    "ranges": "^TooLarge: the ranges of the alphabet have more than 2097152 characters: use fewer",
    "repetitions": "^TooLarge: a pattern may have at most 4096 symbols",
    "states of a pattern": "^TooLarge: the automaton of the pattern has more than 100000 states",
    "nested groups": "^InvalidValue: .* at most 100 groups",
    "nested JSON": "^InvalidValue: s.json",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is set on Linux")
def test_short_texts_that_stand_for_much() -> None:
    """Under 512 MiB; the first of them has 170 kB and stands for 17 million edges, of 1.6 GB and more."""
    script = HELPERS / "hostile_texts.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found.keys() == SAID.keys() == CASES.keys()
    assert {name: text for name, text in found.items() if not re.search(SAID[name], text)} == {}
