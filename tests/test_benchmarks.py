"""No benchmark rots: each runs at a tiny size, and gives the numbers of the notes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_accuracy(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    command = [sys.executable, str(BENCHMARKS / "bench_accuracy.py"), "--quick", "--output", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    tables = json.loads(file.read_text("utf-8"))
    (states,) = (rows for title, rows in tables.items() if title.startswith("3×3 grid from a corner, words of states"))
    expected = {
        2: {"textbook": 1.5532, "permute-and-flip": 1.4856, "online": 0.9435, "optimum": 0.6611},
        4: {"textbook": 0.6637, "permute-and-flip": 0.4954, "online": 0.1643, "optimum": 0.0941},
    }
    for row in states:
        assert {name: row[name] for name in expected[row["ε"]]} == pytest.approx(expected[row["ε"]], abs=6e-5)
        assert row["optimum"] < row["ours"] < row["online"]
