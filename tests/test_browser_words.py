"""The view of words, in a real browser."""

from __future__ import annotations

from typing import Any


def test_the_slider_changes_what_is_released(page: Any, address: str) -> None:
    page.goto(address)
    page.locator("#words-releases li").nth(11).wait_for()
    page.get_by_label("ε, the privacy budget").fill("12")
    page.wait_for_function("location.hash.includes('epsilon=12')")
    assert "american" not in page.evaluate("location.href")
