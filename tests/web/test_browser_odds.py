"""The view of odds, in a real browser."""

from __future__ import annotations

import math
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import browser

LITERAL = "the paper's formula, literal"


@pytest.fixture
def odds(page: Any, address: str) -> Any:
    """The view with its first answer."""
    page.goto(f"{address}#odds")
    page.locator("#odds-cases svg").first.wait_for()
    return page


def field(page: Any, label: str) -> Any:
    """A field of this view, by its label."""
    return page.locator("#view-odds").get_by_label(label).and_(page.locator("input, select, textarea"))


def shown(page: Any, name: str, text: str) -> None:
    """Wait until a part of the view has a text."""
    expect(page.locator(f"#odds-{name}")).to_contain_text(text)


def test_the_view_opens_with_two_words(odds: Any) -> None:
    """Two places differ, ε = 2: e^4 = 54.6, and 98.201% after Bayes, rounded up as a bound is."""
    shown(odds, "short", "50 are right without the output and at most 99 with it")
    assert odds.locator("#odds-distance").inner_text() == "2"
    assert odds.locator("#odds-loss").inner_text() == "4"
    assert odds.locator("#odds-ratio").inner_text() == "54.6 : 1"
    assert odds.locator("#odds-certainty").inner_text() == "98.3%"
    assert "after, at most: 98.3% for one word" in odds.locator("#odds-belief > svg").get_attribute("aria-label")
    picture = odds.locator("#odds-cases > svg")
    assert (picture.locator("rect").count(), picture.locator("circle").count()) == (49, 51)


def test_the_slider_by_keyboard_moves_the_odds(odds: Any) -> None:
    field(odds, "ε, the privacy budget").focus()
    odds.keyboard.press("Home")
    shown(odds, "short", "at most 55 with it")  # e^0.2/(1 + e^0.2) = 54.98%
    assert odds.locator("#odds-cases > svg rect").count() == 5


def test_other_words_and_refusals(odds: Any) -> None:
    field(odds, "The other word").fill("american control conferenca")
    shown(odds, "distance", "1")
    field(odds, "The other word").fill("short")
    odds.get_by_role("alert").get_by_text("words of different lengths are not compared").wait_for()
    field(odds, "Changes").select_option("all")
    field(odds, "ε as a number").fill("5")
    shown(odds, "text", "edits apart")
    assert odds.locator("#odds-error").inner_text() == ""
    field(odds, "The other word").fill("Short")
    odds.get_by_role("alert").get_by_text("the second is not in the language").wait_for()


def test_the_live_audit_confirms_one_claim_and_breaks_the_other(odds: Any) -> None:
    shown(odds, "audit-about", "216 words is compared: all words of length 3 over the first 6 symbols")
    picture = odds.locator("#odds-audit > svg")
    assert "tight (default): measured 2, claimed 2: the claim holds" in picture.get_attribute("aria-label")
    assert "the claim is broken" in picture.get_attribute("aria-label")
    assert odds.locator("#odds-audit-lines li").count() == 2
    field(odds, "Mechanism").select_option(LITERAL)
    shown(odds, "text", "nothing is promised about them")
    expect(odds.locator("#odds-audit-lines li")).to_have_count(1)
    assert "Not promised" in odds.locator("#odds-short").inner_text()


def test_what_an_adversary_guesses(odds: Any) -> None:
    """27 places over 27 symbols at ε = 2: each is guessed with e²/(e² + 26) = 0.22130, all with 2.1e-18."""
    shown(odds, "guess-short", "such words, at most 1 is guessed as a whole if all words are equally likely.")
    shown(odds, "guess-informed", "Somebody who knows which words are usual guesses more: of 100 such words, at most ")
    shown(
        odds, "guess-informed", "guessed as a whole if words are predictable (one usual next symbol, in 9 of 10 cases)."
    )
    assert odds.locator("#odds-guess-hits").inner_text() == "5.98 of 27"
    assert odds.locator("#odds-guess-hits-without").inner_text() == "1 of 27"
    assert odds.locator("#odds-guess-positions > svg circle").count() == 2 * 27
    expect(odds.locator("#odds-guess-curve > svg circle")).to_have_count(44)  # 11 ε, 4 curves
    field(odds, "ε as a number").fill("7")
    shown(odds, "guess-short", "Of 100 such words, at most 54 are guessed as a whole")  # (e^7/(e^7 + 26))^27 = 0.53113
    field(odds, "Compare").select_option("grid")
    shown(odds, "guess-how", "Computed over every word and every output")


def test_the_curves_of_all_mechanisms(odds: Any) -> None:
    expect(odds.locator("#odds-curve > svg circle")).to_have_count(44)  # 11 ε, 4 curves
    expect(odds.locator("#odds-curve-busy")).to_be_hidden()
    assert odds.locator("#odds-curve .legend li").all_inner_texts() == [
        "tight (default): optimal",
        "linear, textbook",
        "inverse (α=1), textbook",
        "the paper's formula at its true ε",
    ]
    shown(odds, "curve-optimal", "that is proven")
    with odds.expect_download() as caught:
        odds.locator("#odds-curve").get_by_role("button", name="CSV").click()
    rows = [line.split(",") for line in caught.value.path().read_text(encoding="utf-8").splitlines()]
    tight = {float(row[0]): float(row[1]) for row in rows[1:] if row[1]}
    assert tight[5] == pytest.approx(4.0249, abs=1e-4)  # 27 · 26/(e^5 + 26)


@pytest.mark.parametrize(("epsilon", "place", "steps"), [("0.5", 0, 12), ("15", -1, 14)])
def test_the_curves_reach_to_every_epsilon(odds: Any, epsilon: str, place: int, steps: int) -> None:
    """The usual steps are from 0.7 to 8; the dotted line is then at an end of the curve, 27 · 26/(e^ε + 26) high."""
    field(odds, "ε as a number").fill(epsilon)
    expect(odds.locator("#odds-curve > svg circle")).to_have_count(4 * steps)  # curves
    assert odds.locator("#odds-curve > svg path.axis title").text_content() == f"ε = {epsilon}"
    line = odds.locator("#odds-curve > svg path.axis", has=odds.locator("title"))
    dots = odds.locator("#odds-curve > svg circle").all()[:steps]
    assert line.get_attribute("d").startswith(f"M{dots[place].get_attribute('cx')} ")
    expected = 27 * 26 / (math.exp(float(epsilon)) + 26)
    assert dots[place].text_content() == f"{epsilon}: {expected:.3g}"


def test_routes_on_a_grid(odds: Any) -> None:
    field(odds, "Compare").select_option("grid")
    shown(odds, "distance", "1")
    odds.get_by_role("img", name="The two routes.").wait_for()
    field(odds, "The other route").fill("SSEEEE")
    shown(odds, "distance", "3")  # cells, and 4 moves
    field(odds, "Routes are written as").select_option("moves")
    shown(odds, "distance", "1")
    field(odds, "The other route").fill("SSEEEE")
    shown(odds, "distance", "4")
    field(odds, "One route").fill("NNNNNN")
    odds.get_by_role("alert").get_by_text("the first is not in the language").wait_for()
    field(odds, "Routes are written as").select_option("states")
    shown(odds, "distance", "1")
    shown(odds, "audit-about", "60 words is compared: all words of length 4")
    assert "grid" in odds.evaluate("location.hash")
    assert "0%2C2" not in odds.evaluate("location.hash")


def test_the_curves_can_be_cancelled(page: Any, address: str) -> None:
    """Words of cells on a large grid need proofs of seconds, so there is time to press the button."""
    page.goto(f"{address}#odds?kind=grid&rows=30&columns=30&symbols=states")
    expect(page.locator("#odds-curve-cancel")).to_be_visible()  # a hidden button takes no key
    page.locator("#odds-curve-cancel").press("Enter")
    expect(page.locator("#odds-curve-busy")).to_be_hidden()
    assert page.locator("#odds-curve circle").count() < 4 * 11
    assert page.locator("#odds-curve-error").inner_text() == ""


def test_the_link_has_the_settings_and_the_words_only_if_asked(odds: Any) -> None:
    field(odds, "Alphabet").select_option("name:dna")
    field(odds, "Mechanism").select_option("linear, textbook")
    field(odds, "ε as a number").fill("3.5")
    shown(odds, "loss", "3.5")
    assert "GATTACA" not in odds.evaluate("location.href")
    field(odds, "put the two words into the link, too").check()
    field(odds, "One word").fill("AAAAAAA")
    field(odds, "The other word").fill("AAACCCC")
    shown(odds, "distance", "4")
    link = odds.evaluate("location.href")
    odds.goto("about:blank")
    odds.goto(link)
    shown(odds, "distance", "4")
    assert field(odds, "Mechanism").input_value() == "linear, textbook"
    assert field(odds, "One word").input_value() == "AAAAAAA"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_routes_are_accessible_and_no_wider_than_a_phone(chromium: Any, address: str, scheme: str) -> None:
    size = {"width": 360, "height": 740}
    with browser.checked_page(chromium, address, color_scheme=scheme, viewport=size) as page:
        page.goto(f"{address}#odds?kind=grid")
        page.locator("#odds-audit-lines li").first.wait_for()
        page.locator("#odds-curve > svg").wait_for()
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
