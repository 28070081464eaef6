"""Messages of the library, as the page puts them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from dpwords.errors import DPWordsError


@contextmanager
def for_the_page() -> Iterator[None]:
    """Errors that name options of the command line or of Python, as the page puts it."""
    try:
        yield
    except DPWordsError as error:
        raise type(error)(on_page(str(error))) from None


def on_page(message: str) -> str:
    """A message without the options that only the command line and Python have.

    >>> on_page("row 2 has no word, its value is null: correct it, or skip such rows (invalid='skip', --invalid skip)")
    'row 2 has no word, its value is null: correct it, or skip such rows'
    """
    message = message.replace("or use --no-header", "or choose a format without a header")
    message = message.replace(" or use --header", "")
    message = message.replace("name one of its columns (", "choose CSV or TSV with a header as its format (")
    message = message.replace(", or take any word over the symbols (--any-word)", "")  # there is no such choice
    message = re.sub(r" \([^()]*--[^()]*\)", "", message)
    message = message.replace("use --drop-others", "leave out the other columns")
    message = re.sub(r",? with (\w+=|--[a-z-]+)( or --[a-z-]+)?", "", message)
    return re.sub(r"\b([a-z]+)=(?!\S)|--([a-z-]+)", r"\1\2", message)
