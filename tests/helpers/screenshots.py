"""Makes the pictures of the page that the documentation shows. Run it with `make screenshots`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import browser

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
WIDE = {"width": 1200, "height": 1150}


def words(page: Any) -> None:
    page.locator("#words-releases li").nth(11).wait_for()


def runs(page: Any) -> None:
    page.locator("#view-runs svg").first.wait_for()


def odds(page: Any) -> None:
    page.locator("#view-odds svg").first.wait_for()


def data(page: Any) -> None:
    page.locator("#data-file").set_input_files(ROOT / "examples" / "orders.csv")
    page.locator("#data-column").select_option("trace")
    page.locator("#data-kind").select_option("symbols")
    page.locator("#data-symbols").fill((ROOT / "examples" / "activities.txt").read_text(encoding="utf-8"))
    page.locator("#data-release").click()
    page.locator("#data-released").wait_for()
    page.evaluate("scrollTo(0, 0)")


def estimate(page: Any) -> None:
    page.locator("#estimate-question").select_option("dfg")
    page.locator("#estimate-proportions tr").nth(35).wait_for()


def main() -> None:
    """One picture for each view, in the state that its function brings about."""
    with browser.server() as address, browser.browser() as chromium:
        for show in (words, runs, odds, data, estimate):
            with browser.checked_page(chromium, address, viewport=WIDE) as page:
                page.goto(f"{address}#{show.__name__}")
                page.wait_for_load_state("networkidle")
                show(page)
                page.wait_for_load_state("networkidle")
                page.screenshot(path=IMAGES / f"page_{show.__name__}.png")


if __name__ == "__main__":
    main()
