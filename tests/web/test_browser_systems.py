"""Systems from files in the view of runs, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import browser

SHOP = """digraph { __start0 [shape=none, label=""]; __start0 -> idle; idle -> shop [label="open"];
shop -> shop [label="browse"]; shop -> cart [label="add"]; cart -> shop [label="back"]; cart -> paid [label="buy"];
paid [shape=doublecircle]; }"""
ROADS = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="x" for="node" attr.name="x" attr.type="double"/>
<key id="y" for="node" attr.name="y" attr.type="double"/><graph edgedefault="directed">{}{}</graph></graphml>"""


def loaded(page: Any, address: str, folder: Path, name: str, content: str) -> None:
    """The view, with a system from a file."""
    (folder / name).write_text(content, encoding="utf-8")
    page.goto(f"{address}#runs")
    page.locator("#runs-mechanisms[aria-busy=false]").wait_for()
    page.get_by_role("radio", name="From a file").check()
    page.locator("#runs-file").set_input_files(folder / name)


def ready(page: Any) -> None:
    page.locator("#runs-mechanisms[aria-busy=false] .chart").nth(1).wait_for()


def run_of(page: Any) -> str:
    text: str = page.locator("#runs-run").input_value()
    return text


def drawn_states(page: Any) -> int:
    return int(page.locator("#runs-board .ground-state").count())


def spot(page: Any, name: str) -> tuple[float, float]:
    """The middle of a state of the large picture, on the screen."""
    x, y = page.evaluate(
        """(name) => { const found = [...document.querySelectorAll("#runs-board .ground-state")].find((state) =>
            state.textContent === name).getBoundingClientRect();
            return [found.x + found.width / 2, found.y + found.height / 2]; }""",
        name,
    )
    return x, y


def clicked(page: Any, name: str) -> None:
    """Click on a state of the large picture."""
    page.mouse.click(*spot(page, name))


def test_a_system_from_dot_drawn_by_mouse_and_keyboard(page: Any, address: str, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1200, "height": 1500})
    loaded(page, address, tmp_path, "shop.dot", SHOP)
    page.locator("#runs-loaded", has_text="shop.dot: 4 states, 5 moves").wait_for()
    ready(page)  # a random run
    assert drawn_states(page) == 4
    assert page.locator("#runs-board .ground-goal").count() == 1
    assert "shop.dot" not in page.evaluate("location.href")
    assert run_of(page).endswith("buy")
    page.get_by_role("button", name="Clear the run").click()
    for name in ("shop", "cart", "shop"):  # back to the state before: the last step is taken back
        clicked(page, name)
    assert run_of(page) == "open"
    clicked(page, "paid")  # on the shortest way
    assert run_of(page) == "open add buy"
    ready(page)
    page.locator("#runs-board > svg").focus()
    page.keyboard.press("Backspace")
    assert run_of(page) == "open add"
    page.locator("#runs-error", has_text="does not end in a goal").wait_for()
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight"):
        page.keyboard.press(key)
    at = page.locator("#runs-status").inner_text()
    assert at.startswith("paid")  # the state after cart
    page.keyboard.press("Enter")
    assert run_of(page) == "open add buy"
    page.get_by_label("Places, written as states").check()
    assert run_of(page) == "shop cart paid"
    page.get_by_role("textbox", name="Private run").fill("shop shop cart paid")
    ready(page)
    page.get_by_role("button", name="Heat map of 500").click()
    page.locator("#runs-board .ground-heat").first.wait_for()


def test_a_map_becomes_a_grid_to_edit(page: Any, address: str, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    loaded(page, address, tmp_path, "rooms.txt", "S..#\n.#..\n...G\n")
    expect(page.locator("#runs-rows")).to_have_value("3")
    assert page.get_by_label("Grid", exact=True).is_checked()
    assert page.locator("#runs-board .ground-wall").count() == 2
    assert page.locator("#runs-columns").input_value() == "4"
    assert "goal=2%2C3" in page.evaluate("location.href")
    ready(page)
    assert len(run_of(page)) == 5  # the shortest: an odd number of moves leads to the goal, so none has 12
    assert page.locator("#runs-error").inner_text() == ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_road_network_keeps_its_shape(chromium: Any, address: str, tmp_path: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    nodes = "".join(
        f'<node id="n{x}{y}"><data key="x">{x}</data><data key="y">{y}</data></node>'
        for x in range(3)
        for y in range(2)
    )
    pairs = [(f"n{x}{y}", f"n{x + 1}{y}") for x in range(2) for y in range(2)]
    pairs += [(f"n{x}0", f"n{x}1") for x in range(3)]
    edges = "".join(f'<edge source="{a}" target="{b}"/>' for one in pairs for a, b in (one, one[::-1]))
    with browser.checked_page(chromium, address, color_scheme=scheme, viewport={"width": 360, "height": 740}) as page:
        loaded(page, address, tmp_path, "roads.graphml", ROADS.format(nodes, edges))
        page.locator("#runs-loaded", has_text="6 states, 14 moves").wait_for()
        ready(page)
        here, east, north = (spot(page, name) for name in ("n00", "n20", "n01"))
        assert east[0] > here[0]
        assert north[1] < here[1]
        assert page.get_by_label("Moves: the steps taken").is_disabled()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_an_answer_that_arrives_late_is_not_shown_beside_a_file(page: Any, address: str, tmp_path: Path) -> None:
    """The releases on the grid are still being drawn when a file is refused: they could be taken for the file's."""
    page.goto(f"{address}#runs")
    ready(page)
    held = browser.held(page, "**/ask/runs/release")
    with page.expect_request("**/ask/runs/release"):
        page.get_by_role("radio", name="From a file").check()
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    page.locator("#runs-file").set_input_files(tmp_path / "broken.json")
    page.locator("#runs-error", has_text="broken.json is not valid JSON").wait_for()
    with page.expect_response("**/ask/runs/release"):
        held[0].continue_()
    page.evaluate("fetch('/')")  # what is answered after it comes after it
    assert "broken.json" in page.locator("#runs-error").inner_text()
    assert page.locator("#runs-figures").inner_text() == ""


def test_a_file_that_cannot_be_read_is_reported(page: Any, address: str, tmp_path: Path) -> None:
    loaded(page, address, tmp_path, "broken.json", "{")
    page.locator("#runs-error", has_text="broken.json is not valid JSON (line 1, column 2)").wait_for()
    assert page.locator("#runs-board .ground-wall").count() > 0  # the grid is still there
    assert page.locator("#runs-figures").inner_text() == ""  # but no figures that could be taken for the file's
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,a\n")
    page.locator("#runs-file").set_input_files(tmp_path / "edges.csv")
    page.locator("#runs-board .ground-name", has_text="a").wait_for()
    ready(page)
    page.get_by_label("Start state").fill("b")
    page.get_by_label("Start state").press("Enter")
    page.locator("#runs-loaded:has-text('edges.csv')").wait_for()
    ready(page)
    assert run_of(page).startswith("a")  # from b, it is the only way
    page.get_by_label("Start state").fill("nowhere")
    page.get_by_label("Start state").press("Tab")
    page.locator("#runs-error", has_text="nowhere is not a state of the system").wait_for()
