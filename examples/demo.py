"""Shows what dpwords does, step by step: run it with `make demo`.

Every draw is fresh, so each run looks different. Nothing here is secret: that is why several draws of the same word,
its probabilities and the changed positions may be shown. A real release prints one word and nothing else.
"""

from __future__ import annotations

import csv
import math
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein
from rich.console import Console
from rich.text import Text

import dpwords as dw
from dpwords.plots.palette import COLOURS

HERE = Path(__file__).parent
TITLE = "american control conference 2019"
PLAN = "EEEEEESSSESSSESSEEES"
ERRAND = "SSSEEEEEEESSSESSSEEE"
STREETS = ("--system", "examples/streets.txt", "--protect", "states")
PARCEL, CUSTOMER = (3, 3), (6, 7)
DRAWS = 3
UNCHANGED, GAP = "(unchanged)", "·"
WITHOUT_RULE = 200  # draws

console = Console(highlight=False, soft_wrap=True)
# Foreground and background are set together, so that the text can be read on light and on dark terminals. The nearest
# ones of sixteen colours would be yellow and white.
SIXTEEN = "black on yellow" if console.color_system == "standard" else None
CHANGED = SIXTEEN or f"bold {COLOURS['changed'].light} on {COLOURS['mark'].light}"
CELLS = {
    "#": (" #", f"{COLOURS['wall'].light} on {COLOURS['wall'].light}"),
    ".": (" .", "dim"),
    "private": (" o", "bold reverse"),
    "released": (" o", f"bold #ffffff on {COLOURS['released'].light}"),
    "changed": (" x", SIXTEEN or f"bold #ffffff on {COLOURS['changed'].light}"),
}
Cell = tuple[int, int]
Marked = Sequence[tuple[str, str]]  # symbols, each with the mark below it: a space, or what happened to it


def main() -> None:
    """All parts of the demonstration."""
    say(
        "",
        "dpwords makes private versions of sequences. Every draw below is fresh:",
        "run this again, and it looks different.",
    )
    word()
    plan()
    traces()
    rule()
    accuracy()
    audit()
    say(
        "What next?",
        "README.md has commands for your own plans, tables, road networks and rules;",
        "dpwords --help lists all commands. To play with it in your browser: pip install '.[web]' and dpwords serve.",
    )


def word() -> None:
    """A text, at two ε."""
    say(
        "1. A text",
        "Each line is a private version of the text. A letter that was changed has a ^ below it.",
        "A smaller ε hides more, and changes more. A real release prints one version only, because each one that you",
        "publish spends ε.",
    )
    command("release", TITLE, "--alphabet", "a-z0-9 ", "--epsilon", "6")
    show("private", [(letter, " ") for letter in TITLE])
    for epsilon in (6, 5):
        at = dw.Exponential(dw.Words("abcdefghijklmnopqrstuvwxyz0123456789 "), epsilon).given(TITLE)
        expected(epsilon, at, len(TITLE), "letters")
        for released in at.simulate(DRAWS):
            show("released", by_position(TITLE, released))


def plan() -> None:
    """A plan on a map, at two ε."""
    world = dw.from_map(HERE / "streets.txt")
    say(
        "2. A robot's plan",
        "The robot goes from the upper left to the lower right corner; o is where it passes, # is a wall. In the",
        "private versions, x is where it passes elsewhere. It never enters a wall, and always arrives.",
        "ε is promised for each place where the robot is at some time (--protect states), and not for each move: a",
        "detour by one place changes two moves. They have a ^ below them.",
    )
    command("release", PLAN, *STREETS, "--epsilon", "2")
    on_maps(world, PLAN, [PLAN])
    for epsilon in (2, 1):
        at = prepared(world.plans(), epsilon, PLAN)
        expected(epsilon, at, len(PLAN), "places")
        on_maps(world, PLAN, at.simulate(DRAWS))


def traces() -> None:
    """Traces of several lengths, whose lengths are hidden too, at two ε."""
    activities = (HERE / "activities.txt").read_text("utf-8").split()
    with (HERE / "orders.csv").open(encoding="utf-8", newline="") as file:
        private = [row["trace"].split(">") for row in csv.DictReader(file)]
    say(
        "3. Traces of different lengths",
        "Orders in a shop. Even whether something happened at all is hidden, so events may be inserted (+), left out",
        "(-, with a dot in their place) or replaced (^). Each order is drawn once at each ε.",
    )
    where = ("--alphabet", "@examples/activities.txt", "--edits", "all", "--epsilon", "4.5", "--output", "private.csv")
    command("release", "--input", "examples/orders.csv", "--column", "trace", "--separator", ">", *where)
    channels = [dw.EditChannel(activities, epsilon) for epsilon in (4.5, 3.5)]
    for channel in channels:
        edits = channel.expected_distance(length=6)
        console.print(f"  at ε = {channel.epsilon:g} a trace of 6 events gets {edits:.1f} edits on average")
    for trace in private:
        console.print()
        show("private", [(event, " " * len(event)) for event in trace], " ")
        for channel in channels:
            [released] = channel.given(trace).simulate(1)
            show(f"ε = {channel.epsilon:g}", by_edits(trace, released), " ")


def rule() -> None:
    """An errand with a rule that private versions obey, at two ε."""
    world = dw.from_map(HERE / "streets.txt")
    errand = world.plans() & dw.rules.contains(CUSTOMER) & dw.rules.before(PARCEL, CUSTOMER)
    say(
        "4. A rule that still holds",
        "The robot must visit the customer (C), and fetch the parcel (P) before that. The rule is public, and every",
        "private version obeys it. The numbers below the maps say at which step the robot is at P and at C.",
    )
    where = (*STREETS, "--rule", "contains:6,7", "--rule", "before:3,3;6,7")
    command("release", ERRAND, *where, "--epsilon", "2")
    places = {PARCEL: "P", CUSTOMER: "C"}
    on_maps(world, ERRAND, [ERRAND], places)
    for epsilon in (2, 1):
        at = prepared(errand, epsilon, ERRAND)
        expected(epsilon, at, len(ERRAND), "places")
        on_maps(world, ERRAND, at.simulate(DRAWS), places)
    without = prepared(world.plans(), 2, ERRAND).simulate(WITHOUT_RULE)
    broken = sum(not errand.accepts(run) for run in without)
    console.print(f"\n  For comparison: without the rule, {broken} of {WITHOUT_RULE} draws at ε = 2 broke it.")


def accuracy() -> None:
    """The accuracy, before there is any data."""
    say(
        "5. What will it cost?",
        "You can ask before any data is touched: how many of 20 places on this map will change, on average over all",
        "plans (above it was one plan), and in brackets how likely it is that at most two do.",
    )
    where = (*STREETS, "--length", str(len(PLAN)), "--at-most", "2")
    command("accuracy", *where, "--epsilon", "1,2,3,4", runs=True)


def audit() -> None:
    """The claimed ε and the one that is measured, for a mechanism that is private and for one that is not."""
    say(
        "6. Is the promise kept?",
        "ε is a claim about every two words and every output. On small languages all of them can be checked.",
    )
    command("audit", "--system", "grid:3x3", "--protect", "states", "--length", "4", "--epsilon", "2", runs=True)
    literal = dw.PaperLiteral(dw.Words("0123456789abcdef"), epsilon=1)
    true = literal.guarantee.true_epsilon(32)
    console.print(
        f"For comparison: the formula printed in the paper claims ε = 1 for words of 32 letters, and has "
        f"ε = {true:.2f}. dpwords can reproduce its draws, but does not call them private.",
        soft_wrap=False,
    )


def say(title: str, *lines: str) -> None:
    """A heading, and what the user is about to see."""
    console.print()
    if title:
        console.print(Text(title, style="bold underline"))
    console.print(" ".join(lines), markup=False, soft_wrap=False)


def command(*arguments: str, runs: bool = False) -> None:
    """Show a command line, and run it if asked to."""
    console.print()
    console.print(Text("$ " + shlex.join(["dpwords", *arguments]), style="bold"))
    if runs:
        sys.stdout.flush()
        subprocess.run([sys.executable, "-m", "dpwords", *arguments], check=True, cwd=HERE.parent)
    console.print()


def prepared(language: Any, epsilon: float, word: str) -> Any:
    """The distribution of the best mechanism at a word; the first time, parts of dpwords are compiled."""
    with console.status("comparing the mechanisms and preparing the draws"):
        return dw.best(language, epsilon, length=len(word)).given(word)


def expected(epsilon: float, at: Any, length: int, what: str) -> None:
    """What a draw at this ε is like, on average."""
    same = 100 * at.distance_distribution()[0]
    chance = "less than 1" if same < 1 else f"about {math.floor(same + 0.5)}"
    changes = f"{at.expected_distance():.1f} of {length} {what} change on average"
    console.print(f"\n  ε = {epsilon:g}: {changes}; in {chance} of 100 draws, nothing does\n")


def by_position(private: Sequence[str], released: Sequence[str]) -> Marked:
    """The released symbols, with a ^ below those that differ from the private ones."""
    return [(other, " " if own == other else "^") for own, other in zip(private, released, strict=True)]


def by_edits(private: Sequence[str], released: Sequence[str]) -> Marked:
    """The released symbols, with ^ below those that replace another, + below those that are new, and - below gaps."""
    marked: list[tuple[str, str]] = []
    for edit in Levenshtein.opcodes(private, released):
        if edit.tag == "delete":
            marked += [(GAP, "-")] * (edit.src_end - edit.src_start)
        mark = {"equal": " ", "replace": "^", "insert": "+", "delete": ""}[edit.tag]
        marked += [(symbol, mark * len(symbol)) for symbol in released[edit.dest_start : edit.dest_end]]
    return marked


def show(name: str, marked: Marked, separator: str = "") -> None:
    """A word after its name, and in the line below its marks, or that it has none."""
    symbols, marks = lines_of(marked, separator)
    console.print(Text(f"  {name:<10}").append_text(symbols))
    if name != "private":
        console.print(" " * 12 + (marks.rstrip() or UNCHANGED), markup=False)


def lines_of(marked: Marked, separator: str = "") -> tuple[Text, str]:
    """Symbols with the changed ones in colour, and the marks below them."""
    pieces = [Text(symbol, style=CHANGED if mark.strip() else "") for symbol, mark in marked]
    return Text(separator).join(pieces), separator.join(mark for _, mark in marked)


def on_maps(world: dw.GridWorld, private: str, runs: Sequence[str], places: dict[Cell, str] | None = None) -> None:
    """Runs on maps side by side, with the moves below them, marked where they differ from the private run."""
    wide = 2 * world.columns
    maps = [map_of(world, private, run, places or {}) for run in runs]
    moves = [lines_of(by_position(private, run)) for run in runs]
    below = [[Text(" ").append_text(symbols) for symbols, _ in moves]]
    if runs != [private]:
        below.append([Text(" " + (marks if marks.strip() else UNCHANGED)) for _, marks in moves])
    if places:
        steps = [
            ", ".join(f"{name} at {first_visit(world, run, cell)}" for cell, name in places.items()) for run in runs
        ]
        below.append([Text(" " + text) for text in steps])
    for pieces in [*map(list, zip(*maps, strict=True)), *below]:
        line = Text("  ")
        for piece in pieces:
            piece.pad_right(wide + 1 - piece.cell_len)
            line.append_text(piece)
        line.rstrip()
        console.print(line)


def map_of(world: dw.GridWorld, private: str, run: str, places: dict[Cell, str]) -> Iterator[Text]:
    """The lines of a map with a run on it; cells that the private run does not visit are marked."""
    before, visited = {world.start, *world.run(private)}, {world.start, *world.run(run)}
    for row in range(world.rows):
        line = Text()
        for column in range(world.columns):
            cell = (row, column)
            kind = "#" if cell not in world.transitions else "."
            if cell in visited:
                kind = "private" if run is private else "released" if cell in before else "changed"
            text, style = CELLS[kind]
            line.append(f" {places[cell]}" if cell in places else text, style)
        yield line


def first_visit(world: dw.GridWorld, run: str, cell: Cell) -> int:
    """The number of moves after which a run is in a cell for the first time."""
    return world.run(run).index(cell) + 1


if __name__ == "__main__":
    main()
