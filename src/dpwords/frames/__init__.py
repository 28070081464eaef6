"""Tables of words: pyarrow, pandas and Polars tables in, tables of the same kind out."""

from __future__ import annotations

from importlib.util import find_spec

from dpwords.errors import MissingExtra


def need_pyarrow() -> None:
    """Raise a one-line error if pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise MissingExtra("tables need pyarrow: pip install 'dpwords[frames]'")
