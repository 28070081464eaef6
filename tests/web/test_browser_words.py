"""The view of words, in a real browser."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

import browser

WORD = "american control conference"  # the example


@pytest.fixture
def words(page: Any, address: str) -> Any:
    """The view with its first releases."""
    page.goto(address)
    page.locator("#words-releases li").nth(11).wait_for()
    return page


def field(page: Any, label: str, **options: Any) -> Any:
    """A field of this view, by its label."""
    return page.locator("#view-words").get_by_label(label, **options).and_(page.locator("input, select, textarea"))


def short(page: Any, text: str | re.Pattern[str]) -> None:
    """Wait until the line above the releases has a text."""
    expect(page.locator("#words-short")).to_contain_text(text)


def number(page: Any, name: str) -> float:
    return float(page.locator(f"#words-{name}").inner_text())


def test_the_view_opens_with_releases_and_figures(words: Any) -> None:
    """27 symbols of 27: e^5 = 148.41 gives 26/(148.41 + 26) = 0.14907 for each place, and 4.025 changes."""
    short(words, "At ε = 5, 4.02 changes are made on average in a word of 27 symbols.")
    for line in words.locator("#words-releases li").all():
        released, count = line.locator("> span").all()
        marked = released.locator(".changed").count()
        assert count.inner_text() == (f"{marked} changed" if marked else "unchanged")
        assert len(released.inner_text()) == len(WORD)
    assert words.locator("#words-unchanged").inner_text() == "1.3%"
    assert words.locator("#words-releases-title").inner_text() == "Twelve releases"
    words.get_by_text("Beside it: the paper's formula").click()
    words.get_by_text("Towards Differential Privacy for Symbolic Systems").first.wait_for()
    assert number(words, "true") > number(words, "claimed") == 5
    assert words.locator("#words-perturbed li").count() == 3


def test_the_slider_by_keyboard(words: Any) -> None:
    field(words, "ε, the privacy budget").focus()
    words.keyboard.press("ArrowRight")
    short(words, "At ε = 5.1,")
    words.keyboard.press("End")
    short(words, "At ε = 15,")
    assert field(words, "ε as a number").input_value() == "15"
    assert "so large" in words.locator("#words-warnings").inner_text()


def test_the_slider_by_mouse(words: Any) -> None:
    box = field(words, "ε, the privacy budget").bounding_box()
    words.mouse.click(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    expect(field(words, "ε as a number")).to_have_value(re.compile(r"1[34]\.?\d*"))
    short(words, re.compile(r"At ε = 1[34]"))


def test_accuracy_first(words: Any) -> None:
    """27 · 26/(e^ε + 26) = 2 at ε = ln 325 = 5.784."""
    field(words, "for at most").check()
    short(words, "At ε = 5.79, 1.99 changes")
    assert field(words, "ε as a number").input_value() == "5.79"
    assert float(field(words, "ε, the privacy budget").input_value()) == pytest.approx(5.8)
    field(words, "Changes on average").fill("27")
    words.get_by_role("alert").get_by_text("any ε reaches that: even at ε = 0.0078, 26 changes").wait_for()
    field(words, "Probability in percent").fill("99")
    expect(words.locator("#words-within")).to_have_text("99.0%")
    assert field(words, "so that with probability").is_checked()
    field(words, "ε as a number").fill("3")
    short(words, "At ε = 3,")
    assert field(words, "with the slider").is_checked()


def test_drawing_again_changes_the_releases_only(words: Any) -> None:
    before = words.locator("#words-releases").inner_text()
    words.get_by_role("button", name="Draw again").focus()
    words.keyboard.press("Enter")
    expect(words.locator("#words-releases")).not_to_have_text(before, use_inner_text=True)
    short(words, "At ε = 5, 4.02 changes")


def test_at_most_j_changes(words: Any) -> None:
    """(1 − p)^27 = 1.3% at p = 26/(e^5 + 26)."""
    field(words, "At most", exact=True).fill("0")
    assert words.locator("#words-within").inner_text() == "1.3%"
    field(words, "At most", exact=True).fill("27")
    assert words.locator("#words-within").inner_text() == ">99.9%"


def test_insertions_and_deletions(words: Any) -> None:
    field(words, "Changes", exact=True).select_option("all")
    short(words, "edits are made")
    assert words.locator("#words-literal").is_hidden()
    words.locator("#words-releases .inserted").first.wait_for()
    assert words.locator("#words-unchanged-name").inner_text() == "No edit"


@pytest.mark.parametrize(
    ("function", "text", "names"),
    [
        *(
            ("spaced", text, ["order", "pay", "ship"])
            for text in ("order, pay, ship", "order,pay,ship", "order pay,\nship")
        ),
        ("spaced", "0,1 0,2", ["0,1", "0,2"]),
        *(
            ("listed", text, ["go on", "stop"])
            for text in ("go on\nstop", "go on, stop", "go on\r\nstop\r\n", "go on,stop,")
        ),
        ("listed", "pay ship", ["pay", "ship"]),
        ("characters", "@AB", r"\@AB"),
    ],
)
def test_how_lists_are_read(page: Any, address: str, function: str, text: str, names: Any) -> None:
    page.goto(address)
    call = "async ([name, text]) => (await import('/static/alphabets.js'))[name](text)"
    assert page.evaluate(call, [function, text]) == names


def test_alphabets_and_words_outside_of_them(words: Any) -> None:
    field(words, "Alphabet").select_option("name:dna")
    short(words, "in a word of 14 symbols")
    assert field(words, "Private word").input_value() == "GATTACAGATTACA"
    field(words, "Private word").fill("GATTACAX")
    words.get_by_role("alert").get_by_text("symbol 8 of 8 is not in the alphabet").wait_for()
    field(words, "Private word").fill("")
    words.get_by_role("alert").get_by_text("the word is empty: type at least one symbol").wait_for()
    field(words, "Alphabet").select_option("names")
    short(words, "in a word of 3 symbols")
    field(words, "Symbols").fill("pay, ship\nsend")
    field(words, "Private word").fill("pay, ship, pay ship")
    expect(words.locator("#words-alphabet-hint")).to_have_text("Read as 3 names: pay · ship · send")
    short(words, "in a word of 4 symbols")
    field(words, "Private word").fill("pay ship " * 20)
    short(words, "in a word of 40 symbols")
    expect(words.locator("#words-releases li")).to_have_count(4)
    assert words.locator("#words-releases-title").inner_text() == "Four releases"
    assert words.locator("#words-error").inner_text() == ""


def test_the_link_has_the_settings_and_the_word_only_if_asked(words: Any, address: str) -> None:
    field(words, "Neighbours differ in up to k positions").fill("2")
    field(words, "ε as a number").fill("7.5")
    short(words, "At ε = 7.5,")
    link = words.evaluate("location.href")
    assert "american" not in link
    words.context.grant_permissions(["clipboard-read", "clipboard-write"])
    words.get_by_role("button", name="Copy link").click()
    words.get_by_text("Copied, without the word.").wait_for()
    assert words.evaluate("navigator.clipboard.readText()") == link
    field(words, "put the word into the link, too").check()
    field(words, "Private word").fill("my own words")
    short(words, "in a word of 12 symbols")
    link = words.evaluate("location.href")
    words.goto("about:blank")
    words.goto(link)
    short(words, "At ε = 7.5,")
    assert field(words, "Private word").input_value() == "my own words"
    assert field(words, "Neighbours differ in up to k positions").input_value() == "2"


def test_the_chart_can_be_saved(words: Any) -> None:
    with words.expect_download() as caught:
        words.locator("#words-distribution").get_by_role("button", name="CSV").click()
    lines = caught.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "changes,this mechanism,the paper's formula (not private)"
    assert len(lines) == 1 + 28
    assert sum(float(line.split(",")[1]) for line in lines[1:]) == pytest.approx(1)


def test_a_saved_picture_says_what_it_shows(words: Any) -> None:
    buttons = words.locator("#words-distribution").get_by_role("group", name="Save changes")
    with words.expect_download() as caught:
        buttons.get_by_role("button", name="SVG").click()
    picture = ElementTree.parse(caught.value.path()).getroot()
    said = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert said[:3] == ["How many symbols change", "this mechanism", "the paper's formula (not private)"]
    assert {"changes", "probability"} <= set(said)
    with words.expect_download() as caught:
        buttons.get_by_role("button", name="PNG").click()
    header = caught.value.path().read_bytes()[:24]  # a PNG file has its width and height there
    sides = [int.from_bytes(header[place : place + 4]) for place in (16, 20)]
    assert sides == [2 * int(picture.attrib[side]) for side in ("width", "height")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_no_wider_than_a_phone(chromium: Any, address: str, scheme: str) -> None:
    size = {"width": 360, "height": 740}
    with browser.checked_page(chromium, address, color_scheme=scheme, viewport=size) as page:
        page.goto(address)
        page.locator("#words-releases li").nth(11).wait_for()
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
