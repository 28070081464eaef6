"""The frame of the page, in a real browser: views, addresses, keyboard, width, colours and safety."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

import browser

VIEWS = ("words", "runs", "odds", "data", "estimate")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_view_is_accessible_and_fits_a_phone(chromium: Any, address: str, view: str, scheme: str) -> None:
    phone = {"width": 360, "height": 740}
    with browser.checked_page(chromium, address, color_scheme=scheme, viewport=phone) as page:
        page.goto(f"{address}#{view}")
        page.locator(f"#view-{view} h1").wait_for()
        page.wait_for_load_state("networkidle")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]


def test_views_are_reached_by_links_keyboard_and_address(page: Any, address: str) -> None:
    page.goto(address)
    page.locator("#view-words").wait_for()
    page.get_by_role("link", name="Odds").click()
    page.locator("#view-odds").wait_for()
    assert page.locator("#view-words").is_hidden()
    page.get_by_role("link", name="Runs").focus()
    page.keyboard.press("Enter")
    page.locator("#view-runs").wait_for()
    assert page.locator("nav a[aria-current]").inner_text() == "Runs"
    page.go_back()
    page.locator("#view-odds").wait_for()
    page.goto(f"{address}#data")
    page.locator("#view-data").wait_for()


def test_a_late_answer_does_not_change_the_address_of_another_view(page: Any, address: str) -> None:
    """The view of words writes the ε that it was told into the address: here when the view of odds is open."""
    page.goto(f"{address}#words?by=distance")
    page.locator("#words-releases li").nth(11).wait_for()
    held = browser.held(page, "**/ask/words/release")
    with page.expect_request("**/ask/words/release"):
        page.locator("#words-distance").fill("1")
    page.get_by_role("link", name="Odds").click()
    page.locator("#odds-cases > svg").wait_for()
    with page.expect_response("**/ask/words/release"):
        held[0].continue_()
    page.locator("#words-short", has_text=", 0.9").wait_for(state="attached")
    assert page.evaluate("location.hash").startswith("#odds?")


def test_the_page_says_when_an_answer_takes_long(page: Any, address: str) -> None:
    held = browser.held(page, "**/ask/words/release")
    page.goto(address)
    page.locator("#slow").wait_for()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    held[0].continue_()
    page.locator("#slow").wait_for(state="hidden")
    page.locator("#words-releases li").nth(11).wait_for()


def test_the_skip_link_leads_to_the_content(page: Any, address: str) -> None:
    page.goto(address)
    page.locator("#view-words").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.locator("#view-words").is_visible()


def test_another_site_in_the_same_browser_cannot_use_the_server(chromium: Any, address: str) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.route("http://evil.example/**", lambda route: route.fulfill(body="<h1>evil</h1>", content_type="text/html"))
    page.goto("http://evil.example/")
    tried = page.evaluate(
        """async (address) => {
            const tries = [() => fetch(address), () => fetch(address, { mode: "no-cors" }),
                () => fetch(`${address}ask/words/release`, { method: "POST", body: "{}", mode: "no-cors" })];
            return Promise.all(tries.map((each) => each().then((answer) => answer.text(), () => "failed")));
        }""",
        address,
    )
    assert not any("token" in text or "releases" in text for text in tried)
    context.close()


def test_the_page_runs_no_script_that_is_put_into_it(chromium: Any, address: str) -> None:
    page = chromium.new_page()
    page.goto(address)
    ran = page.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.ran = true";
            document.body.append(script); return window.ran === true; }"""
    )
    assert not ran
    page.close()
