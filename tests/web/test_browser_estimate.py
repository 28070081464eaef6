"""The view of estimates, in a real browser."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from axe_playwright_python.sync_playwright import Axe

import browser
import dpwords as dw
from dpwords.web import data
from dpwords.web.messages import Message

COURSES = ["AABB", "ABA", "BBBA", "ABBA"] * 30


@pytest.fixture
def view(page: Any, address: str) -> Any:
    """The view, with its example."""
    page.goto(f"{address}#estimate")
    page.locator("#estimate-proportions tr").nth(5).wait_for()
    return page


def released(name: str, content: bytes, language: dict[str, Any], epsilon: float) -> tuple[str, bytes, str]:
    """The name and the bytes of a released file, and its receipt, as the view of data gives them."""
    recipe = {"input": name, "column": "course", "epsilon": epsilon, **language}
    answer = data.release(Message({"recipe": recipe}, content), lambda share: None)
    return answer.values["name"], answer.content, answer.values["receipt"]


def csv_release(epsilon: float = 5) -> tuple[str, bytes, str]:
    content = "\n".join(["course", *COURSES]).encode()
    return released("courses.csv", content, {"alphabet": "AB"}, epsilon)


def choose(page: Any, *files: tuple[str, bytes], control: str = "#estimate-file") -> None:
    """Choose files by the button."""
    chosen = [{"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files]
    page.locator(control).set_input_files(chosen)


def drop(page: Any, *files: tuple[str, str]) -> None:
    """Drop files onto the page."""
    make = """(files) => { const moved = new DataTransfer();
        for (const [name, content] of files) moved.items.add(new File([content], name)); return moved; }"""
    page.dispatch_event("#estimate-drop", "drop", {"dataTransfer": page.evaluate_handle(make, list(map(list, files)))})


def control(page: Any, label: str, exact: bool = False) -> Any:
    """The control with this label; other views have controls, too."""
    return page.locator("#view-estimate").get_by_label(label, exact=exact)


def saved(page: Any, kind: str) -> str:
    with page.expect_download() as download:
        page.locator("#estimate-chart").get_by_role("button", name=kind).click()
    assert download.value.suggested_filename == f"estimates.{kind.lower()}"
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_the_example_shows_estimates_beside_the_plain_count(view: Any) -> None:
    """At ε = 2 a symbol of six stays with probability 0.596, so counts are drawn towards 1/6."""
    labels = view.locator("#estimate-proportions th").all_inner_texts()
    assert labels == ["A", "B", "C", "D", "E", "F"]  # by their estimates
    estimate, _, counted = view.locator("#estimate-proportions tr").first.locator("td").all_inner_texts()
    assert (estimate, counted) == ("34.9%", "26.1%")  # 0.2606 = 0.0807 + 0.5157 x
    assert view.locator("#estimate-chart > svg .proportion").count() == 6
    assert view.locator("#estimate-chart > svg .counted").count() == 6
    assert "800" in view.locator("#estimate-figures").inner_text()
    assert view.evaluate("location.hash") == "#estimate"  # the example's settings are of no use elsewhere


def test_another_question_and_confidence_by_mouse_and_the_numbers_saved(view: Any) -> None:
    control(view, "Question").select_option("dfg")
    view.locator("#estimate-answer-title", has_text="Which symbol directly follows which").wait_for()
    assert view.locator("#estimate-proportions tr").count() == 36
    assert "the 20 largest of 36" in view.locator("#estimate-chart figcaption").inner_text()
    control(view, "Confidence of the intervals").select_option("0.8")
    view.locator("#estimate-interval", has_text="80% interval").wait_for()
    rows = list(csv.reader(io.StringIO(saved(view, "CSV"))))
    assert rows[0] == ["pair from", "pair to", "estimate", "low", "high", "counted"]
    assert len(rows) == 37
    assert sum(float(row[2]) for row in rows[1:]) == pytest.approx(1)
    assert sum(float(row[5]) for row in rows[1:]) == pytest.approx(1)
    assert "plain count of the releases" in saved(view, "SVG")
    assert view.evaluate("location.hash") == "#estimate?question=dfg&confidence=0.8"


def test_names_of_pairs_are_in_full_and_inside_of_the_chart(view: Any) -> None:
    long = ["T02 Check the confirmation of the receipt by the department in charge", "T04 Stop", "x" * 120]
    name, content, receipt = released(
        "log.csv",
        "\n".join(["course", *[";".join(long)] * 200]).encode(),
        {"alphabet": long, "separator": ";"},
        9,
    )
    drop(view, (name, content.decode()), (f"{name}.receipt.json", receipt))
    view.locator("#estimate-figures", has_text="200").wait_for()
    control(view, "Question").select_option("dfg")
    view.locator("#estimate-proportions tr").nth(8).wait_for()
    for width in (1200, 380):
        view.set_viewport_size({"width": width, "height": 900})
        control(view, "Confidence of the intervals").select_option("0.9" if width == 380 else "0.8")
        view.locator("#estimate-interval", has_text="90%" if width == 380 else "80%").wait_for()
        texts = view.locator("#estimate-chart > svg > text[text-anchor=end]")
        lines = texts.all_text_contents()
        assert f"{long[0]} → {long[1]}".replace(" ", "") in "".join(lines).replace(" ", "")
        assert f"{long[1]} → {long[2]}".replace(" ", "") in "".join(lines).replace(" ", "")
        assert "…" not in "".join(lines)
        picture = view.locator("#estimate-chart > svg").bounding_box()
        boxes = [each.bounding_box() for each in texts.all()]
        assert all(box["x"] >= picture["x"] - 0.5 for box in boxes)
        bars = [each.bounding_box() for each in view.locator("#estimate-chart > svg .proportion").all()]
        assert all(box["x"] + box["width"] <= bars[0]["x"] for box in boxes)
        tops = [box["y"] for box in boxes]
        assert tops == sorted(tops)  # lines do not run into those of the next bar
    assert "".join(long[2].split()) in saved(view, "CSV")


def test_rates_come_with_those_first_that_are_large_for_sure(view: Any) -> None:
    control(view, "Question").select_option("rates")
    view.locator("#estimate-answer-title", has_text="How likely each next step is").wait_for()
    assert "20 of 36, those whose intervals begin highest" in view.locator("#estimate-chart figcaption").inner_text()
    lows = [
        float(text.split("%")[0]) for text in view.locator("#estimate-proportions td:nth-child(3)").all_inner_texts()
    ]
    assert lows == sorted(lows, reverse=True)
    assert "points" not in view.locator("#estimate-figures").inner_text()
    assert saved(view, "CSV").startswith("step from,step to,estimate,low,high,counted\n")


def test_a_model_that_is_chosen_is_named_and_a_misfit_comes_first(view: Any) -> None:
    words = [*["AABBAABB"] * 300, *["BBAABBAA"] * 300]
    choose(view, ("words.csv", "\n".join(["course", *words]).encode()))
    control(view, "Alphabet").fill("AB")
    control(view, "ε as a number").fill("6")
    control(view, "Question").select_option("dfg")
    view.locator("#estimate-figures", has_text="inversion").wait_for()
    control(view, "Model of the population").select_option("chain")
    view.locator("#estimate-figures", has_text="fitted chain, which does not fit").wait_for()
    first = view.locator("#estimate-notes li").first
    assert first.inner_text().startswith("The model (chain) does not fit: ")
    assert first.get_attribute("class") == "bad"
    assert "model=chain" in view.evaluate("location.hash")
    control(view, "Question").select_option("lengths")
    assert control(view, "Model of the population").is_hidden()
    view.locator("#estimate-figures", has_text="counted").wait_for()


def test_rows_of_an_earlier_file_are_not_shown_beside_a_refusal(view: Any) -> None:
    view.locator("#estimate-table td").first.wait_for()
    drop(view, ("courses.doc", "course\nAB\n"))
    view.locator("#estimate-error", has_text="the suffix of courses.doc").wait_for()
    assert view.locator("#estimate-table td").count() == 0
    control(view, "Alphabet").fill("AB")
    assert view.locator("#estimate-table td").count() == 0


def test_everything_works_by_keyboard(view: Any) -> None:
    view.get_by_role("link", name="Estimate").focus()
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.id") == "estimate-file"
    control(view, "Question").focus()
    view.keyboard.press("End")  # lengths
    view.locator("#estimate-answer-title", has_text="How long words are").wait_for()
    assert view.locator("#estimate-proportions th").all_inner_texts() == [str(length) for length in range(8)]
    view.keyboard.press("Home")
    control(view, "ε of each word").focus()
    view.keyboard.press("ArrowRight")
    view.locator("#estimate-command", has_text="--epsilon 2.1").wait_for()
    name, content, _ = csv_release()
    choose(view, (name, content))
    view.locator("#estimate-hint", has_text="type the alphabet").wait_for()
    control(view, "Alphabet").focus()
    view.keyboard.type("AB")
    view.locator("#estimate-figures", has_text="120").wait_for()
    view.get_by_role("button", name="Forget the file").focus()
    view.keyboard.press("Enter")
    view.locator("#estimate-figures", has_text="800").wait_for()


def test_a_receipt_that_is_dropped_with_the_file_fills_in_the_form(view: Any) -> None:
    name, content, receipt = csv_release(epsilon=4.5)
    drop(view, (f"{name}.receipt.json", receipt), (name, content.decode()))
    view.locator("#estimate-receipt", has_text="Its receipt says: ε = 4.5, k = 1: two words").wait_for()
    view.locator("#estimate-figures", has_text="120").wait_for()
    assert control(view, "ε as a number").input_value() == "4.5"
    assert control(view, "Alphabet").input_value() == "AB"
    command = view.locator("#estimate-command").inner_text()
    assert command == "dpwords estimate --input courses.private.csv --question frequencies"
    control(view, "ε as a number").fill("3")
    refusal = "the receipt says that ε was 4.5, and its recipe or what is given beside it says 3.0"
    view.locator("#estimate-error", has_text=refusal).wait_for()
    assert view.locator("#estimate-answer").is_hidden()
    assert "AB" in view.evaluate("location.hash")
    assert "AABB" not in view.evaluate("location.href")


def test_a_receipt_inside_has_the_list_of_symbols(view: Any) -> None:
    file = io.BytesIO()
    pq.write_table(pa.table({"course": [["pay", "ship"], ["ship", "pay", "pay"]] * 40}), file)
    name, content, _ = released("traces.parquet", file.getvalue(), {"alphabet": ["pay", "ship"]}, 6)
    choose(view, (name, content))
    view.locator("#estimate-proportions th", has_text="ship").wait_for()
    assert view.locator("#estimate-symbols-hint").inner_text() == "Read as 2 names: pay · ship"
    choose(view, ("symbols.txt", b"ship\npay\n"), control="#estimate-symbols-file")
    view.locator("#estimate-error", has_text="with another alphabet, system or rules").wait_for()
    choose(view, ("symbols.txt", b"pay\nship\n"), control="#estimate-symbols-file")
    view.locator("#estimate-proportions th", has_text="ship").wait_for()


def test_a_receipt_of_an_earlier_version_names_the_list_that_is_missing(view: Any) -> None:
    receipt = json.dumps({"receipt": 1, "epsilon": 6.0, "options": {"alphabet": "@symbols.txt", "column": "course"}})
    drop(view, ("traces.csv.receipt.json", receipt), ("traces.csv", "course\npay ship\n"))
    told = "list the symbols, one on each line. The release took symbols.txt."
    view.locator("#estimate-hint", has_text=told).wait_for()


def test_what_cannot_be_used_is_refused_in_one_line(view: Any) -> None:
    drop(view, ("a.receipt.json", "{}"))
    view.locator("#estimate-error", has_text="a.receipt.json is no table of releases").wait_for()
    drop(view, ("courses.csv", "course\nAB\n"), ("courses.csv.receipt.json", "{}"))
    view.locator("#estimate-error", has_text="the receipt of courses.csv is damaged").wait_for()
    drop(view, ("courses.doc", "course\nAB\n"))
    view.locator("#estimate-error", has_text="the suffix of courses.doc").wait_for()
    control(view, "Format").select_option("csv")
    view.locator("#estimate-table th", has_text="course").wait_for()
    control(view, "Alphabet").fill("XY")
    view.locator("#estimate-error", has_text="where its words are, and which words could come out").wait_for()


def test_a_fit_can_be_cancelled_and_asked_for_again(view: Any) -> None:
    view.route("**/estimate/answer", lambda _: None)  # there is no answer
    with view.expect_request("**/estimate/answer"):
        control(view, "Question").select_option("dfg")
    view.get_by_text("is the answer to the earlier settings").wait_for()
    with view.expect_event("requestfailed"):
        view.get_by_role("button", name="Cancel").locator("visible=true").click()
    view.locator("#estimate-hint", has_text="cancelled").wait_for()
    assert view.locator("#estimate-answer").is_hidden()
    assert view.evaluate("document.activeElement.id") == "estimate-ask"
    view.unroute("**/estimate/answer")
    view.keyboard.press("Enter")
    view.locator("#estimate-proportions tr").nth(35).wait_for()
    assert view.locator("#estimate-hint").is_hidden()


def test_a_fit_ends_when_the_view_is_left_and_starts_again(view: Any) -> None:
    view.route("**/estimate/answer", lambda _: None)
    with view.expect_request("**/estimate/answer"):
        control(view, "Question").select_option("starts")
    with view.expect_event("requestfailed"):
        view.get_by_role("link", name="Words").click()
    view.unroute("**/estimate/answer")
    view.get_by_role("link", name="Estimate").click()
    view.locator("#estimate-answer-title", has_text="With which symbol words start").wait_for()
    view.locator("#estimate-running").wait_for(state="hidden")


def test_the_address_brings_the_public_settings_back(page: Any, address: str) -> None:
    page.goto(f"{address}#estimate?alphabet=AB&epsilon=5&question=ends&confidence=0.9&column=course")
    page.locator("#estimate-error", has_text="row 1").wait_for()  # the example has six letters
    choose(page, csv_release()[:2])
    page.locator("#estimate-answer-title", has_text="With which symbol words end").wait_for()
    command = page.locator("#estimate-command").inner_text().replace("\\\n    ", "")
    assert "--question ends --confidence 0.9 --column course --alphabet AB --epsilon 5" in command


def test_the_code_can_be_copied_and_runs(view: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view.context.grant_permissions(["clipboard-read", "clipboard-write"])
    name, content, receipt = csv_release()
    drop(view, (name, content.decode()), (f"{name}.receipt.json", receipt))
    view.locator("#estimate-figures", has_text="120").wait_for()
    view.locator("#estimate-recipes").get_by_role("button", name="Copy the code").click()
    view.locator("#estimate-recipes").get_by_role("button", name="Copied").wait_for()
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    scope: dict[str, Any] = {}
    exec(compile(view.evaluate("navigator.clipboard.readText()"), "copied", "exec"), scope)
    words = content.decode().split()[1:]
    assert scope["found"].counted["A"] == pytest.approx("".join(words).count("A") / len("".join(words)))
    assert isinstance(scope["mechanism"], dw.Exponential)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_estimates_are_accessible_and_fit_a_phone(chromium: Any, address: str, scheme: str) -> None:
    phone = {"width": 360, "height": 740}
    with browser.checked_page(chromium, address, color_scheme=scheme, viewport=phone) as page:
        page.goto(f"{address}#estimate?question=dfg")
        page.locator("#estimate-proportions tr").nth(35).wait_for()
        page.locator("#view-estimate summary").click()
        for utility in ("inverse", "best"):
            control(page, "Utility", exact=True).select_option(utility)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
