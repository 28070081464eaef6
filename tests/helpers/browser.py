"""A real browser for the tests of the page: Debian's Chromium, driven by Playwright.

Where there is none, the tests are skipped; with CI set they fail instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PATIENCE = 120_000  # milliseconds, for machines that are slow and busy, where the first questions compile loops
FLAGS = [
    "--no-sandbox",  # tests may run as root
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium_path() -> str | None:
    """Where Chromium is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def need_browser() -> None:
    """Skip the tests where there is no browser, or fail where one is expected."""
    missing = [] if chromium_path() else ["Chromium (Debian's package chromium)"]
    try:
        import playwright  # noqa: F401
    except ImportError:
        missing.append("playwright (pip install playwright)")
    if missing and os.environ.get("CI"):
        pytest.fail(f"the tests of the page need {' and '.join(missing)}")
    if missing:
        pytest.skip(f"the tests of the page need {' and '.join(missing)}")


@contextmanager
def server() -> Iterator[str]:
    """The address of a page that `dpwords serve` serves."""
    command = [sys.executable, "-m", "dpwords", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "http://127.0.0.1:" in line, line
        try:
            yield line.partition(" at ")[2].split()[0]
        finally:
            process.terminate()
            out, err = process.communicate(timeout=PATIENCE / 1000)
        assert out == ""
        said = [line for line in err.splitlines() if not line.startswith("compiling loops for this processor: ")]
        assert said in ([], ["dpwords: interrupted"]), said  # nothing is logged about requests


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium with an empty profile."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS, timeout=PATIENCE)
        yield chromium
        chromium.close()


@contextmanager
def checked_page(chromium: Any, address: str, **options: Any) -> Iterator[Any]:
    """A page in a fresh context; afterwards there was no console error and no request that left the machine."""
    context = chromium.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))

    def note_request(request: Any) -> None:
        if not request.url.startswith((address, "blob:", "data:")):
            faults.append(f"a request to {request.url}")

    page.on("request", note_request)
    yield page
    context.close()
    expected = "status of 400"  # the browser's own line about an answer that refuses a question
    assert [fault for fault in faults if expected not in fault] == []


def held(page: Any, addresses: str) -> list[Any]:
    """Requests of a page to such addresses, from now on: each waits until the test continues it."""
    found: list[Any] = []

    def hold(route: Any) -> None:
        found.append(route)

    page.route(addresses, hold)
    return found
