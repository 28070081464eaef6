"""The documentation is complete. `make docs` builds it; these checks need no build."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from contextlib import redirect_stdout
from itertools import pairwise, product
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import click
import pytest

import dpwords as dw
from dpwords.cli import cli

DOCS = Path(__file__).parent.parent / "docs"
PAGES = {
    str(PurePosixPath(page.relative_to(DOCS)).with_suffix("")): page.read_text("utf-8")
    for page in DOCS.rglob("*.md")
    if "_build" not in page.parts
}
REFERENCE = "\n".join(text for name, text in PAGES.items() if name.startswith("reference/"))
DIRECTIVES = dict(re.findall(r"^\.\. auto\w+:: dpwords\.([\w.]+)(?:\(\))?((?:\n +.*|\n)*)", REFERENCE, re.MULTILINE))
RUN = {"python", "sh", "bash"}
SHOWN = {"", "text", "{toctree}", "{eval-rst}"}
HELPERS = {"need_pyarrow", "need_pyspark", "need_matplotlib"}


def blocks(text: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page: the language of each, and what is in it."""
    return re.findall(r"^```(\S*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_every_page_is_once_in_the_table_of_contents() -> None:
    entries = [
        (PurePosixPath(name).parent, line)
        for name, text in PAGES.items()
        for kind, code in blocks(text)
        if kind == "{toctree}"
        for line in code.splitlines()
        if line and not line.startswith(":")
    ]
    listed = Counter(str(folder / re.sub(r".*<(.*)>", r"\1", line)) for folder, line in entries)
    assert listed == Counter(PAGES.keys() - {"index"})


@pytest.mark.parametrize("name", sorted(PAGES))
def test_every_block_is_run_or_plain(name: str) -> None:
    """Blocks of python, sh and bash are run by test_readme, test_pages and test_spark; others show something."""
    text, found = PAGES[name], blocks(PAGES[name])
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(found)
    assert {kind for kind, _ in found} <= RUN | SHOWN
    for kind, code in found:
        if kind == "sh":
            assert all(line.startswith("dpwords ") for line in code.splitlines())


def test_what_a_page_quotes_is_printed_by_the_program_before_it() -> None:
    """On pages with bash blocks, test_pages checks this."""
    quoting = [found for found in map(blocks, PAGES.values()) if "bash" not in dict(found) and "text" in dict(found)]
    assert quoting
    for (kind, code), (after, lines) in (pair for found in quoting for pair in pairwise(found)):
        if after == "text":
            assert kind == "python"
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile(code, "page", "exec"), {})
            assert printed.getvalue() == lines


def public_names(module: ModuleType) -> set[str]:
    """The functions and classes that users of a module call."""
    here = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    offered = getattr(module, "__all__", [name for name in here if not name.startswith("_")])
    return {name for name in offered if callable(getattr(module, name))} - HELPERS


@pytest.mark.parametrize("name", sorted(dw.__all__))
def test_the_reference_has_every_public_name(name: str) -> None:
    value: Any = getattr(dw, name)
    if not isinstance(value, ModuleType):
        assert name in DIRECTIVES
        assert f"`{name}`" in PAGES["reference"]
        return
    for member in public_names(value):
        listed = re.search(r":members:(.*)", DIRECTIVES.get(name, ""))
        assert (
            f"{name}.{member}" in DIRECTIVES
            or member in DIRECTIVES  # as `best`, which is also a name of the package
            or (listed is not None and (not listed[1] or member in re.findall(r"\w+", listed[1])))
        ), member
    assert f"`{name}." in PAGES["reference"]


def test_the_reference_has_every_command() -> None:
    assert ".. click:: dpwords.cli:cli\n   :prog: dpwords\n   :nested: full" in PAGES["reference/commands"]
    row = next(line for line in PAGES["reference"].splitlines() if line.startswith("| [the command line]"))
    assert isinstance(cli, click.Group)
    assert re.findall(r"`(?:dpwords )?(\w+)`", row) == list(cli.commands)


def test_the_tutorial_says_how_many_letters_change() -> None:
    """One of four letters is another one with probability 3/(e^ε + 3)."""
    assert f"of the ten letters {10 * 3 / (math.exp(2) + 3):.3f} are changed" in PAGES["tutorial"]
    answer = re.search(r"The answer is ([\d.]+)\.", PAGES["tutorial"])
    assert answer
    assert float(answer[1]) == pytest.approx(math.log(27), rel=1e-3)  # where 30/(e^ε + 3) = 1


def test_how_often_the_most_frequent_letter_is_the_true_one() -> None:
    """The numbers of the FAQ, over all outcomes: four letters at ε = 2, with ties broken at random."""
    kept = math.exp(2) / (math.exp(2) + 3)
    proportion = {"kept": kept, "three": _most_frequent(kept, 3), "ten": _most_frequent(kept, 10)}
    assert f"probability {proportion['kept']:.2f}." in PAGES["faq"]
    assert f"with probability {proportion['three']:.2f}, of ten\nwith {proportion['ten']:.3f}." in PAGES["faq"]


def test_what_careers_come_to() -> None:
    """The guide and the page on careers: each of four states is kept with probability e^ε/(e^ε + 3)."""
    page, other = PAGES["cookbook_panels"], 1 / (math.exp(2) + 3)
    kept = 1 - 3 * other
    assert f"comes out true with probability {kept:.2f}." in page
    assert f"is the true one with probability {_most_frequent(kept, 7):.2f}." in page
    spells = 1 + 23 * (1 - kept**2 - 3 * other**2)  # a new one wherever a month differs from the one before
    assert f"turns into {spells:.1f} spells on average" in page
    wrong = {(epsilon, n): n * 3 / (math.exp(epsilon) + 3) for epsilon in (2, 4) for n in (4, 24)}
    assert f"| one month | {wrong[2, 24]:.3g} of 24 | {wrong[4, 24]:.3g} of 24 |" in page
    assert f"| {_least_wrong(2, 6, 24):.3g} of 24 | {_least_wrong(4, 6, 24):.3g} of 24 |" in page
    assert f"| {wrong[2, 4]:.3g} of 4 | {wrong[4, 4]:.3g} of 4 |" in page
    assert f"ε = 2, {wrong[2, 24]:.3g} of the 24 months are wrong" in PAGES["guide"]
    assert f"ε = 4, {wrong[4, 24]:.3g} months are wrong" in PAGES["guide"]
    assert f"{wrong[2, 4]:.3g} of 4 positions are wrong at ε = 2" in PAGES["guide"]


@pytest.mark.filterwarnings("ignore:.*ε")  # at ε = 4 little is left of 27 activities, and the channel says so
@pytest.mark.parametrize("activities", [8, 27])
def test_how_many_events_are_changed(activities: int) -> None:
    """Over an alphabet of m, 6·(m − 1)/(e^ε + m − 1) of six events are."""
    page, epsilons, others = PAGES["cookbook_process_mining"], (4, 6, 8), activities - 1
    public = [f"{6 * others / (math.exp(epsilon) + others):.3g}" for epsilon in epsilons]
    assert f"| {activities} activities, lengths public | {' | '.join(public)} |" in page
    channels = [dw.EditChannel(range(activities), epsilon) for epsilon in epsilons]
    edits = [f"{channel.expected_distance(length=6):.3g}" for channel in channels]
    assert f"| {activities} activities, `--edits all` | {' | '.join(edits)} |" in page


def _least_wrong(epsilon: float, k: int, length: int) -> float:
    """The least mean distance of a staircase e^(−ε·ceil((d − j)/k)) on words over four symbols, over all j."""
    means = []
    for j in range(k):
        weights = [math.comb(length, d) * 3**d * math.exp(-epsilon * math.ceil((d - j) / k)) for d in range(length + 1)]
        means.append(sum(d * weight for d, weight in enumerate(weights)) / sum(weights))
    return min(means)


def _most_frequent(kept: float, releases: int) -> float:
    right = 0.0
    for counts in product(range(releases + 1), repeat=4):
        if sum(counts) == releases and counts[0] == max(counts):
            ways = math.factorial(releases) / math.prod(map(math.factorial, counts))
            chance = ways * kept ** counts[0] * ((1 - kept) / 3) ** (releases - counts[0])
            right += chance / counts.count(counts[0])
    return right
