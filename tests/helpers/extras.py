"""What needs an optional extra, once for the tests and once for `tools/check_wheel.py`, which has none installed.

Only the standard library and dpwords itself are imported here.
"""

from __future__ import annotations

from typing import NamedTuple


class Need(NamedTuple):
    """Something that a user does, and the extra without which it cannot be done."""

    extra: str
    module: str  # a package that comes with the extra
    command: tuple[str, ...] = ()  # arguments of dpwords, run in a directory with the files below
    code: str = ""  # or Python code


FILES = {
    "words.csv": "word\nabab\n",
    "roads.graphml": '<graphml><graph edgedefault="directed"><edge source="a" target="a"/></graph></graphml>',
    "log.csv": "case:concept:name,concept:name\n1,pay\n1,ship\n",
}
NEEDS = (
    Need("plot", "matplotlib", ("draw", "ab", "--alphabet", "ab", "--output", "automaton.svg")),
    Need("plot", "matplotlib", ("accuracy", "--alphabet", "ab", "--length", "2", "-e", "1", "--plot", "plot.svg")),
    Need("plot", "matplotlib", ("audit", "--alphabet", "ab", "--length", "2", "-e", "1", "--plot", "plot.svg")),
    Need("plot", "matplotlib", ("study", "strings", "--output", "figures")),
    Need("frames", "pyarrow", ("release", "--input", "words.csv", "--column", "word", "--alphabet", "ab", "-e", "1")),
    Need("frames", "pyarrow", code="dw.from_log('log.csv')"),
    Need("networkx", "networkx", ("draw", "--system", "roads.graphml")),
    Need("networkx", "networkx", code="dw.to_networkx(dw.GridWorld(2, 2))"),
    Need("automata", "automata", code="dw.to_dfa(dw.GridWorld(2, 2))"),
    Need("spark", "pyspark", code="dw.spark.release(None, dw.Exponential(dw.Words('ab'), 1.0), 'word')"),
    Need("web", "starlette", ("serve", "--no-browser", "--port", "0")),
)
WITHOUT_NEEDS = {"gymnasium"}  # users bring an environment, so the package is there
