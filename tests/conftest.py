"""Verdicts do not depend on luck, on the machine or on the terminal.

Properties are checked on the same examples in every run, the operating system's random bits are the same in every run
of a test, and the variables with which users choose colours and widths are not set. Processes that tests start have
true random bits. No test reads or writes the user's cache of certificates.
"""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import browser

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # a slow machine is no failure
settings.load_profile("repeatable")
os.environ["DPWORDS_CACHE"] = ""
logging.getLogger("dpwords").setLevel(logging.ERROR)  # whether loops have to be compiled depends on earlier runs
for name in ("COLORFGBG", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TTY_COMPATIBLE"):
    os.environ.pop(name, None)
LUCK = random.Random()
STARTED_ONCE = ("web", "spark")  # packages whose tests share a browser, a server or a cluster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what is slow to start come first, so that one worker has them all.

    `make test` gives each worker a part of the tests, and one that is done takes from the end of another's part.
    """
    items.sort(key=lambda item: item.path.parent.name not in STARTED_ONCE)


@pytest.fixture(autouse=True)
def luck(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random bits that depend on the name of the test only, wherever Python asks the operating system for them."""
    LUCK.seed(request.node.name)
    random.seed(request.node.name)
    monkeypatch.setattr("os.urandom", LUCK.randbytes)
    monkeypatch.setattr("secrets.token_bytes", lambda nbytes=None: LUCK.randbytes(nbytes or 32))


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
