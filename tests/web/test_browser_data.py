"""The view of data, in a real browser."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

import browser

COURSES = "patient,ward,course\n1,north,AABB\n1,south,ABA\n2,north,BBBA\n"
LOG = "case,activity,time\n1,pay now,1\n1,ship,2\n2,ship,1\n"


@pytest.fixture
def data(page: Any, address: str) -> Any:
    """The view, with its example."""
    page.goto(f"{address}#data")
    page.locator("#data-summary li").nth(3).wait_for()
    return page


def drop(page: Any, name: str, content: str) -> None:
    """Drop a file onto the page."""
    make = """([name, content]) => { const moved = new DataTransfer();
        moved.items.add(new File([content], name)); return moved; }"""
    page.dispatch_event("#data-drop", "drop", {"dataTransfer": page.evaluate_handle(make, [name, content])})


def choose(page: Any, name: str, content: str, control: str = "#data-file") -> None:
    """Choose a file by the button."""
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content.encode()}
    page.locator(control).set_input_files(file)


def control(page: Any, label: str) -> Any:
    """The control with this label; other views have controls, too."""
    return page.locator("#view-data").get_by_label(label)


def figure(page: Any, name: str) -> Any:
    """The number with this name, once it is there."""
    return page.locator("#data-figures > div", has_text=name).locator("dd")


def downloaded(page: Any, name: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Download {name}", exact=True).click()
    assert download.value.suggested_filename == name
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_the_example_is_released_and_counted_by_mouse(data: Any) -> None:
    assert figure(data, "a person spends").inner_text() == "ε = 6, at most 9"  # ann has three trips at ε = 3
    data.get_by_role("button", name="Release the file").click()
    data.locator("#data-count", has_text="once: a person has spent at most ε = 9").wait_for()
    rows = list(csv.reader(io.StringIO(downloaded(data, "trips.private.csv"))))
    assert rows[0] == ["rider", "trip", "route"]
    assert [len(row[2]) for row in rows[1:]] == [5, 5, 4, 5, 6, 3, 4, 5, 4, 5]
    shown = data.locator("#data-examples td:nth-child(2)").all_inner_texts()
    assert shown == [row[2] for row in rows[1:9]]
    receipt = json.loads(downloaded(data, "trips.private.csv.receipt.json"))
    assert (receipt["epsilon"], receipt["words"], receipt["recipe"]["by"]) == (3.0, 10, "rider")
    data.get_by_role("button", name="Release the file").click()
    data.locator(
        "#data-count", has_text="2 times: if you publish all of them, a person has spent at most ε = 18"
    ).wait_for()


def test_a_file_of_ones_own_needs_a_public_alphabet(data: Any) -> None:
    drop(data, "courses.csv", COURSES)
    data.locator("#data-hint", has_text="type the alphabet").wait_for()
    assert data.locator("#data-checked").is_hidden()
    assert control(data, "Column of the words").input_value() == "course"
    assert data.locator("#data-table .chosen").first.inner_text().startswith("course")
    control(data, "Alphabet").fill("AB")
    figure(data, "people").get_by_text("2", exact=True).wait_for()
    assert "Not protected: patient, ward" in data.locator("#data-notes").inner_text()
    assert "courses.csv" in data.locator("#data-command").inner_text()
    address = data.evaluate("location.href")
    assert "alphabet=AB" in address
    assert "AABB" not in address


def test_the_file_and_its_settings_stay_while_another_view_is_open(data: Any) -> None:
    drop(data, "courses.csv", COURSES)
    data.locator("#data-hint").wait_for()
    control(data, "Alphabet").fill("AB")
    figure(data, "people").get_by_text("2", exact=True).wait_for()
    data.get_by_role("link", name="Words").click()
    data.locator("#view-data").wait_for(state="hidden")
    data.get_by_role("link", name="Data").click()
    figure(data, "people").get_by_text("2", exact=True).wait_for()
    assert control(data, "Alphabet").input_value() == "AB"
    assert "courses.csv" in data.locator("#data-name").inner_text()


def test_symbols_come_from_the_file_only_after_a_confirmation(data: Any) -> None:
    drop(data, "log.csv", LOG)
    data.locator("#data-hint").wait_for()
    assert control(data, "Each word is").input_value() == "log"
    assert control(data, "Words of").input_value() == "symbols"  # since they are names
    assert data.locator("#data-table th").first.inner_text().startswith("case")
    assert control(data, "Leave out all other columns").is_hidden()
    data.get_by_text("Take the symbols from the data file").click()
    take = data.get_by_role("button", name="Take the symbols")
    assert take.is_disabled()
    control(data, "I confirm that this list is public knowledge").check()
    take.click()
    figure(data, "words to release").get_by_text("2", exact=True).wait_for()
    assert control(data, "Symbols, one on each line").input_value() == "pay now\nship"
    assert "pay now" in data.locator("#data-command").inner_text()


def test_everything_works_by_keyboard(data: Any) -> None:
    data.get_by_role("link", name="Estimate").focus()  # the last one
    data.keyboard.press("Tab")
    assert data.evaluate("document.activeElement.id") == "data-file"
    choose(data, "courses.csv", COURSES)
    data.locator("#data-hint").wait_for()
    control(data, "Alphabet").focus()
    data.keyboard.type("AB")
    figure(data, "people").get_by_text("2", exact=True).wait_for()
    control(data, "ε of each word").focus()
    data.keyboard.press("ArrowRight")
    figure(data, "a person spends").get_by_text("at most 6.2").wait_for()
    control(data, "Privacy is spent").focus()
    data.keyboard.press("ArrowDown")
    figure(data, "a person spends").get_by_text("ε = 10, at most 10").wait_for()
    data.get_by_role("button", name="Release the file").focus()
    data.keyboard.press("Enter")
    data.locator("#data-count", has_text="once").wait_for()
    data.get_by_role("button", name="Forget the file").focus()
    data.keyboard.press("Enter")
    data.locator("#data-name", has_text="An example is loaded").wait_for()
    assert data.locator("#data-released").is_hidden()


def test_rows_without_a_word_have_to_be_left_out_by_hand(data: Any) -> None:
    control(data, "Alphabet").fill("A-E")
    data.locator("#data-notes .bad", has_text="4 of 10 rows have no word of the language. The first: row 4").wait_for()
    data.locator("#data-notes .bad", has_text="Nothing is released before that is mended").wait_for()
    assert data.get_by_role("button", name="Release the file").is_disabled()
    control(data, "Leave out rows that have no word").check()
    figure(data, "words to release").get_by_text("6", exact=True).wait_for()
    data.get_by_role("button", name="Release the file").click()
    data.locator("#data-examples tr").nth(5).wait_for()


def test_the_column_of_people_is_never_protected(data: Any) -> None:
    data.locator("#data-notes", has_text="Not protected: rider, trip. They are copied as they are.").wait_for()
    control(data, "Leave out all other columns").check()
    data.locator("#data-notes", has_text="Not protected: rider. It is copied as it is.").wait_for()
    data.get_by_role("button", name="Release the file").click()
    data.locator("#data-examples tr").nth(7).wait_for()
    assert downloaded(data, "trips.private.csv").splitlines()[0] == "rider,route"


def test_epsilon_as_a_number_and_the_changes_of_each_word(data: Any) -> None:
    control(data, "ε as a number").fill("40")
    figure(data, "a person spends").get_by_text("at most 120").wait_for()  # three words
    assert control(data, "ε of each word").input_value() == "12"  # as far as it goes
    data.get_by_role("button", name="Release the file").click()
    last = data.locator("#data-examples tr").nth(7).locator("td").last
    assert last.inner_text() == "0 of 5"  # FEDCB; e^40 to 1
    control(data, "ε as a number").fill("0")
    data.locator("#data-error", has_text="“ε of each word” must be a finite number").wait_for()


def test_ids_with_spaces_between_are_names_and_a_grid_needs_a_start(data: Any) -> None:
    choose(data, "routes.csv", "route\nn12 n13 n14\nn13 n12\n")
    data.locator("#data-hint", has_text="list the symbols").wait_for()
    assert control(data, "Words of").input_value() == "symbols"
    control(data, "Words of").select_option("grid")
    control(data, "Start").locator("visible=true").fill("")
    data.locator("#data-hint", has_text="Say where runs start").wait_for()


def test_a_list_on_one_line_and_how_it_was_read(data: Any) -> None:
    drop(data, "log.csv", LOG)
    control(data, "Words of").select_option("symbols")
    control(data, "Symbols, one on each line").fill("pay now, ship")
    figure(data, "words to release").get_by_text("2", exact=True).wait_for()
    assert data.locator("#data-symbols-hint").inner_text() == "Read as 2 names: pay now · ship"
    control(data, "Symbols, one on each line").fill("pay\nsend")
    data.locator("#data-notes .bad", has_text="Nothing can be released: check where the words are").wait_for()


def test_an_incomplete_form_shows_no_earlier_answer(data: Any) -> None:
    """The check of an alphabet is still under way when a system is chosen, of which there is no file yet."""
    data.route("**/data/check", lambda _: None)  # there is no answer
    with data.expect_request("**/data/check"):
        control(data, "Alphabet").fill("A-G")
    control(data, "Alphabet").fill("A-H")  # waits for the answer
    with data.expect_event("requestfailed"):  # it is given up
        control(data, "Words of").select_option("system")
    data.unroute("**/data/check")
    data.locator("#data-hint", has_text="choose the file of the system").wait_for()
    assert data.locator("#data-checked").is_hidden()
    control(data, "ε of each word").fill("2")
    control(data, "Words of").select_option("alphabet")
    figure(data, "a person spends").get_by_text("at most 6").wait_for()
    assert data.locator("#data-error").inner_text() == ""


def test_what_cannot_be_read_is_refused_in_one_line(data: Any) -> None:
    error = data.get_by_role("alert").locator("visible=true")
    drop(data, "courses.doc", COURSES)
    data.locator("#data-error", has_text="the suffix of courses.doc").wait_for()
    control(data, "Format").select_option("csv")
    data.locator("#data-table th", has_text="course").wait_for()
    assert error.count() == 0
    big = """() => { const moved = new DataTransfer();
        moved.items.add(new File([new Uint8Array(2 ** 26 + 1)], "big.csv")); return moved; }"""
    data.dispatch_event("#data-drop", "drop", {"dataTransfer": data.evaluate_handle(big)})
    data.locator("#data-error", has_text="at most 64 MB: use the command line").wait_for()


def test_a_system_from_a_file_and_a_release_that_is_cancelled(data: Any) -> None:
    rows = "".join("." * 15 + "\n" for _ in range(15))
    choose(data, "runs.csv", "run\n" + " ".join(f"0,{column}" for column in range(15)).join('""') + "\n")
    control(data, "Words of").select_option("system")
    data.locator("#data-hint", has_text="choose the file of the system").wait_for()
    choose(data, "map.txt", rows, "#data-system-file")
    control(data, "Symbols are").locator("visible=true").select_option("states")
    figure(data, "words to release").get_by_text("1", exact=True).wait_for()
    data.locator("#data-summary", has_text="are being computed").wait_for()  # its proofs take a minute
    data.get_by_role("button", name="Release the file").click()
    data.get_by_role("button", name="Cancel").click()
    data.get_by_role("button", name="Cancel").wait_for(state="hidden")
    assert data.locator("#data-released").is_hidden()
    assert data.locator("#data-count").inner_text().startswith("Each release")
    data.get_by_role("button", name="Forget the file").click()
    data.locator("#data-summary", has_text="positions are changed, on average").wait_for()


def test_the_address_brings_the_public_settings_back(page: Any, address: str) -> None:
    page.goto(f"{address}#data?column=ward&alphabet=a-z&epsilon=2&by=patient&k=2")
    figure(page, "words to release").wait_for()
    choose(page, "courses.csv", COURSES)
    figure(page, "a person spends").get_by_text("at most 4").wait_for()
    assert control(page, "Column of the words").input_value() == "ward"
    command = page.locator("#data-command").inner_text().replace("\\\n    ", "")
    assert "--column ward --alphabet a-z --epsilon 2 -k 2 --by patient" in command


def test_the_command_can_be_copied(data: Any) -> None:
    data.context.grant_permissions(["clipboard-read", "clipboard-write"])
    data.get_by_role("button", name="Copy the command").click()
    data.get_by_role("button", name="Copied").wait_for()
    copied = data.evaluate("navigator.clipboard.readText()")
    assert copied == data.locator("#data-command").text_content()
    assert copied.startswith("dpwords release --input trips.csv --column route")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_released_file_is_accessible_and_fits_a_phone(chromium: Any, address: str, scheme: str) -> None:
    phone = {"width": 360, "height": 740}
    with browser.checked_page(chromium, address, color_scheme=scheme, viewport=phone) as page:
        page.goto(f"{address}#data")
        page.get_by_text("How long the words are", exact=True).click()
        page.get_by_role("button", name="Release the file").click()
        page.locator("#data-examples tr").nth(7).wait_for()
        for kind in ("symbols", "grid", "system", "alphabet"):
            control(page, "Words of").select_option(kind)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
