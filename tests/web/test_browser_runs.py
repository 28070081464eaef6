"""The view of runs, in a real browser: drawing by mouse, finger and keyboard, rules, and what is saved."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

import browser

SMALL = "#runs?size=5x5&start=0,0&goal=4,4&words=moves&epsilon=2&run=EEEESSSS"


def opened(page: Any, address: str, fragment: str = SMALL) -> None:
    """The view with answers to the settings of the address."""
    page.goto(f"{address}{fragment}")
    ready(page)


def view(page: Any) -> Any:
    return page.locator("#view-runs")


def ready(page: Any) -> None:
    page.locator("#runs-mechanisms[aria-busy=false] .chart").nth(1).wait_for()


def run_of(page: Any) -> str:
    text: str = page.locator("#runs-run").input_value()
    return text


def spot(page: Any, row: int, column: int) -> tuple[float, float]:
    """The middle of a cell of the large picture, on the screen."""
    box = page.locator("#runs-board > svg").evaluate(
        """(svg, [row, column]) => { const at = new DOMPoint(24 * (column + 0.5), 24 * (row + 0.5))
            .matrixTransform(svg.getScreenCTM()); return [at.x, at.y]; }""",
        [row, column],
    )
    return box[0], box[1]


def saved(page: Any, button: Any, folder: Path) -> list[list[str]]:
    """The rows of a CSV file that a button saves."""
    with page.expect_download() as found:
        button.click()
    path = folder / "saved.csv"
    found.value.save_as(path)
    return list(csv.reader(path.read_text("utf-8").splitlines()))


def setting(page: Any, name: str) -> str | None:
    found: str | None = page.evaluate("(name) => new URLSearchParams(location.hash.split('?')[1]).get(name)", name)
    return found


def test_the_view_opens_with_releases_and_keeps_the_run_out_of_the_address(page: Any, address: str) -> None:
    opened(page, address, "#runs")
    word = run_of(page)
    assert len(word) > 15
    assert set(word) <= set("NESW")
    assert page.locator("#runs-board .run-same, #runs-board .run-changed").count() >= 12
    assert page.locator("#runs-mechanisms .badge").count() == 1
    assert view(page).get_by_label("Places: where the moves lead").is_checked()
    assert "of two runs that differ in 1 state" in page.locator("#runs-promise").inner_text()
    assert "of 23 states change" in page.locator("#runs-mechanisms").inner_text()
    view(page).get_by_label("Moves: the steps taken").check()
    page.locator("#runs-promise", has_text="k = 1 is about no two runs").wait_for()
    assert run_of(page) == word
    view(page).get_by_label("k, positions that one secret may touch").fill("0")
    page.locator("#runs-error", has_text="“k” must be").wait_for()
    view(page).get_by_label("k, positions that one secret may touch").fill("2")
    view(page).get_by_label("ε, the privacy budget").fill("6")
    page.locator("#runs-board figcaption", has_text="ε = 6").wait_for()
    assert setting(page, "epsilon") == "6"
    assert word not in page.evaluate("location.href")
    view(page).get_by_label("put the run into the link, too").check()
    assert setting(page, "run") == word


def test_settings_come_from_the_address(page: Any, address: str) -> None:
    opened(page, address, "#runs?size=4x6&start=1,1&walls=gA&goal=3,5;3,1&words=states&k=2&rules=never:2,2")
    assert page.locator("#runs-rows").input_value() == "4"
    assert page.locator("#runs-columns").input_value() == "6"
    assert page.locator("#runs-board .ground-wall").count() == 1  # the first bit: cell 0,0
    assert page.locator("#runs-board .ground-goal").count() == 2
    assert page.locator("#runs-rules").input_value() == "never:2,2"
    assert view(page).get_by_label("Places, written as states").is_checked()
    assert setting(page, "walls") == "gA"[0]  # as short as it can be


def test_drawing_by_keyboard(page: Any, address: str) -> None:
    opened(page, address, SMALL.partition("&run")[0])
    assert run_of(page).count("E") == run_of(page).count("S") == 4  # the shortest run to the goal
    page.locator("#runs-board > svg").focus()
    page.keyboard.press("Delete")
    for key in ("ArrowDown", "ArrowRight", "w"):  # a wall at 1,1
        page.keyboard.press(key)
    assert page.locator("#runs-board .ground-wall").count() == 1
    for key in ("ArrowRight", "g", "ArrowRight", "s"):  # a goal at 1,2, the start at 1,3
        page.keyboard.press(key)
    assert setting(page, "goal") == "1,2;4,4"
    assert setting(page, "start") == "1,3"
    for key in ("Shift+ArrowDown", "Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowUp", "Shift+ArrowUp"):
        page.keyboard.press(key)
    assert run_of(page) == "SWW"  # a wall is above, so the last two are not possible
    assert "wall" in page.locator("#runs-status").inner_text()
    page.keyboard.press("Backspace")
    assert run_of(page) == "SW"
    page.keyboard.press("Shift+ArrowUp")
    assert run_of(page) == "SWN"
    ready(page)
    assert page.locator("#runs-error").inner_text() == ""
    page.keyboard.press("Delete")
    page.locator("#runs-error", has_text="the run has no steps yet").wait_for()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):  # the shortest way from 1,3 to 4,2
        page.keyboard.press(key)
    assert sorted(run_of(page)) == ["S", "S", "S", "W"]
    page.locator("#runs-error", has_text="the run does not end in a goal").wait_for()


def test_drawing_by_mouse(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1200, "height": 1500})
    opened(page, address)
    view(page).get_by_label("Walls").check()
    page.mouse.move(*spot(page, 2, 0))
    page.mouse.down()
    for column in range(1, 4):
        page.mouse.move(*spot(page, 2, column))
    page.mouse.up()
    assert page.locator("#runs-board .ground-wall").count() == 4
    assert run_of(page) == "EEEESSSS"
    page.mouse.click(*spot(page, 2, 3))
    assert page.locator("#runs-board .ground-wall").count() == 3
    view(page).get_by_label("Run", exact=True).check()
    view(page).get_by_role("button", name="Clear the run").click()
    page.mouse.move(*spot(page, 0, 1))
    page.mouse.down()
    for row, column in ((0, 2), (0, 3), (1, 3), (1, 2), (1, 3), (2, 3)):  # back over its last cell: a step back
        page.mouse.move(*spot(page, row, column))
    page.mouse.up()
    assert run_of(page) == "EEESS"
    page.mouse.click(*spot(page, 4, 4))  # on the shortest way to the goal
    assert len(run_of(page)) == 8
    ready(page)
    view(page).get_by_label("Goals").check()
    page.mouse.click(*spot(page, 4, 4))
    assert setting(page, "goal") is None
    view(page).get_by_label("Start", exact=True).check()
    page.mouse.click(*spot(page, 3, 0))
    assert setting(page, "start") == "3,0"
    assert run_of(page) == ""
    walls = page.locator("#runs-board .ground-wall").evaluate_all("(all) => all.map((each) => each.outerHTML).sort()")
    page.reload()
    ready(page)  # with a run of its own
    again = page.locator("#runs-board .ground-wall").evaluate_all("(all) => all.map((each) => each.outerHTML).sort()")
    assert len(walls) == 3
    assert again == walls


def test_a_wall_on_the_run_does_not_destroy_it(page: Any, address: str) -> None:
    opened(page, address)
    page.locator("#runs-board > svg").focus()
    for key in ("ArrowUp", "ArrowUp", "w"):  # from the start, 0,0, there is nothing above
        page.keyboard.press(key)
    page.locator("#runs-status", has_text="The start cannot be a wall").wait_for()
    for key in ("ArrowRight", "ArrowRight", "w"):
        page.keyboard.press(key)
    page.locator("#runs-status", has_text="A wall is on the run after 0,1: remove it").wait_for()
    page.locator("#runs-error", has_text="step 2 of the run is not possible").wait_for()
    assert run_of(page) == "EEEESSSS"
    page.keyboard.press("w")
    ready(page)
    assert page.locator("#runs-error").inner_text() == ""
    page.keyboard.press("w")
    page.keyboard.press("Backspace")  # gives up what is not possible
    assert run_of(page) == "E"


def test_drawing_by_finger(chromium: Any, address: str) -> None:
    options = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 1500}}
    with browser.checked_page(chromium, address, **options) as page:
        opened(page, address, SMALL.partition("&run")[0])
        view(page).get_by_role("button", name="Clear the run").click()
        page.touchscreen.tap(*spot(page, 0, 3))
        page.touchscreen.tap(*spot(page, 2, 3))
        assert run_of(page) == "EEESS"


def test_rules(page: Any, address: str, tmp_path: Path) -> None:
    opened(page, address)
    view(page).get_by_label("State or move").fill("0,4")
    view(page).get_by_role("button", name="Add").press("Enter")
    assert page.locator("#runs-rules").input_value() == "contains:0,4"
    ready(page)
    view(page).get_by_label("ε, the privacy budget").fill("0.1")
    page.locator("#runs-board figcaption", has_text="ε = 0.1").wait_for()
    ready(page)
    rows = saved(page, page.locator("#runs-board").get_by_role("button", name="CSV"), tmp_path)
    assert rows[0] == ["run", "step", "symbol", "state"]
    names = {row[0] for row in rows[1:]}
    assert names == {"private", *(f"release {number}" for number in range(1, 13))}
    assert {row[0] for row in rows if row[3] == "0,4"} == names  # every release obeys the rule
    assert {row[3] for row in rows if row[1] == "8"} == {"4,4"}  # and ends in the goal
    view(page).get_by_label("Rule", exact=True).select_option("at_most")
    view(page).get_by_label("Times").fill("3")
    view(page).get_by_label("State or move").fill("E")
    view(page).get_by_role("button", name="Add").click()
    page.locator("#runs-error", has_text="breaks the rule at_most:3;E").wait_for()
    view(page).get_by_label("Rules as text").fill("contains:9,9")
    page.locator("#runs-error", has_text="neither a symbol nor a state").wait_for()


def test_heat_map(page: Any, address: str, tmp_path: Path) -> None:
    opened(page, address)
    view(page).get_by_role("button", name="Heat map of 500").click()
    page.locator("#runs-board .ground-heat").first.wait_for()
    rows = saved(page, page.locator("#runs-board").get_by_role("button", name="CSV"), tmp_path)
    counts = {state: int(count) for state, count, _ in rows[1:]}
    assert counts["4,4"] == 500  # every run ends there
    assert counts["0,1"] + counts["1,0"] >= 500  # and enters one of these first
    with page.expect_download() as found:
        page.locator("#runs-board").get_by_role("button", name="PNG").click()
    found.value.save_as(tmp_path / "heat.png")
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")


def test_typing_and_random_runs(page: Any, address: str) -> None:
    from playwright.sync_api import expect

    opened(page, address)
    view(page).get_by_role("textbox", name="Private run").fill("SSSSEEEN")
    page.locator("#runs-error", has_text="does not end in a goal").wait_for()
    view(page).get_by_role("textbox", name="Private run").fill("SSSSEEEEX")
    page.locator("#runs-error", has_text="step 9 of the run is not possible").wait_for()
    view(page).get_by_role("textbox", name="Private run").fill("SSSSEEEE")
    ready(page)
    view(page).get_by_label("Places, written as states").check()
    assert run_of(page) == "1,0 2,0 3,0 4,0 4,1 4,2 4,3 4,4"
    view(page).get_by_label("Length").fill("10")
    view(page).get_by_role("button", name="Random run").click()
    expect(page.locator("#runs-run")).to_have_value(re.compile(r"(\S+ ){9}4,4"))
    view(page).get_by_label("Length").fill("9")  # an even number of moves leads from one corner to the other
    view(page).get_by_role("button", name="Random run").click()
    page.locator("#runs-error", has_text="no word").wait_for()


def test_an_answer_that_arrives_late_does_not_hide_a_refusal(page: Any, address: str) -> None:
    """The releases of a run are still being drawn when a random run of another length is refused."""
    opened(page, address)
    held = browser.held(page, "**/ask/runs/release")
    with page.expect_request("**/ask/runs/release"):
        view(page).get_by_label("ε, the privacy budget").fill("1")
    view(page).get_by_label("Length").fill("9")
    view(page).get_by_role("button", name="Random run").click()
    page.locator("#runs-error", has_text="no word").wait_for()
    with page.expect_response("**/ask/runs/release"):
        held[0].continue_()
    ready(page)
    assert "no word" in page.locator("#runs-error").inner_text()
    page.unroute("**/ask/runs/release")
    view(page).get_by_label("ε, the privacy budget").fill("2")
    ready(page)
    assert page.locator("#runs-error").inner_text() == ""


def test_the_certified_mechanism_appears_and_is_compared(page: Any, address: str) -> None:
    opened(page, address, SMALL.replace("words=moves", "words=moves&mechanism=tight"))
    page.locator("#runs-mechanisms .chart").nth(2).wait_for()
    assert "Certified" in page.locator("#runs-board figcaption").inner_text()
    means = [float(text.split()[0]) for text in page.locator("#runs-mechanisms .figure").all_inner_texts()]
    titles = page.locator("#runs-mechanisms h3").all_inner_texts()
    assert [title.split()[0] for title in titles] == ["Certified", "Online", "Textbook"]
    assert "best" in titles[means.index(min(means))]
    assert sum("best" in title for title in titles) == 1


def test_a_search_for_a_certificate_can_be_cancelled(page: Any, address: str) -> None:
    opened(page, address, "#runs?words=states&epsilon=2.5")
    view(page).get_by_role("button", name="Cancel").click()
    page.locator("#runs-certifying", has_text="cancelled").wait_for()
    assert page.locator("#runs-mechanisms .chart").count() == 2
    assert view(page).get_by_role("button", name="Compute it").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_with_everything_shown(chromium: Any, address: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with browser.checked_page(chromium, address, color_scheme=scheme) as page:
        opened(page, address, f"{SMALL}&show=heat&rules=contains:0,4")
        page.locator("#runs-mechanisms .chart").nth(2).wait_for()
        page.locator("#runs-keys summary").click()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
