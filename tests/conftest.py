"""Properties are checked on the same examples in every run, so that a verdict does not depend on luck.

No test reads or writes the user's cache of certificates.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

import browser

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
os.environ["DPWORDS_CACHE"] = ""


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of the page, served by `dpwords serve`."""
    browser.need_browser()
    with browser.server() as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A browser."""
    browser.need_browser()
    with browser.browser() as found:
        yield found


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A page in a browser; a test fails if it shows an error in the console or sends a request elsewhere."""
    with browser.checked_page(chromium, address) as found:
        yield found
