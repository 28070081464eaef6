"""The figures of `bench_coverage.py` as tables: lines on a terminal, and Markdown for the documentation."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
SHORT, WIDE, TOLERANCE, NOTHING = 0.90, 0.99, 1.02, 1e-6
HEADER = (
    f"{'population':15}{'mechanism':14}{'ε':>4}  {'question':12}{'cover':>6}{'±':>5}{'main':>6}{'least':>6}"
    f"{'L1':>8}{'counted':>8}{'width':>7}{'refused':>8}{'unfit':>6}  model and flags"
)
# What the estimates of trips there and back should reach, in L1: Exponential and Online at ε = 2, 3 and 4.
TARGETS = {
    ("Exponential", "frequencies"): (0.030, 0.011, 0.0047),
    ("Exponential", "transitions"): (0.068, 0.0225, 0.0104),
    ("Online", "frequencies"): (0.08, 0.05, None),
}


def flags(row: Row) -> list[str]:
    """What is wrong with a row."""
    found = []
    if row["cover"] is not None and not SHORT <= row["cover"] <= WIDE:
        found.append("short" if row["cover"] < SHORT else "wide")
    if "L1" in row and row["L1"] > TOLERANCE * row["counted"] + NOTHING:
        found.append("worse")
    return found


def line(row: Row) -> str:
    """A row on a terminal, under `HEADER`."""
    models = ", ".join(f"{name} ({times})" for name, times in row["model"].items())
    figures = [
        _percent(row["cover"], 6),
        _percent(row["cover, error"], 5),
        _percent(row["main"], 6),
        _percent(row["least"], 6),
        _number(row.get("L1"), 8),
        _number(row.get("counted"), 8),
        f"{'–' if row['width'] is None else format(row['width'], '.2f'):>7}",
    ]
    about = f"{row['population']:15}{row['mechanism']:14}{row['ε']:>4g}  {row['question']:12}"
    told = "  ".join([models, *(flag.upper() for flag in flags(row))])
    return f"{about}{''.join(figures)}{row['refused']:>8}{row['unfit']:>6}  {told}".rstrip()


def markdown(rows: list[Row]) -> str:
    """A summary with a line for each population and mechanism, and all coverages."""
    if not rows:
        return ""
    times, people = rows[0]["repetitions"], rows[0]["people"]
    lead = (
        f"{times} repetitions, {people:,} people each. A dash: refused every time, or certain. Coverage in %: **bold** "
        f"outside {100 * SHORT:.0f}–{100 * WIDE:.0f} %; \\* the L1 error is more than 2 % above that of counting the "
        "releases; "
        "† the releases contradict the model in half of the repetitions or more; (r) refused at times."
    )
    return "\n".join([lead, "", *_summary(rows), "", *_everything(rows), ""])


def _summary(rows: list[Row]) -> list[str]:
    """For each population and mechanism, how many cells are covered as they should be."""
    table = ["| population | mechanism | cells | 90–99 % | below | above | worse than counting | refused | coverage |"]
    table.append("|---|---|---|---|---|---|---|---|---|")
    for population, mechanism in dict.fromkeys((row["population"], row["mechanism"]) for row in rows):
        those = [row for row in rows if (row["population"], row["mechanism"]) == (population, mechanism)]
        told = [row for row in those if row["cover"] is not None]
        short, wide, worse = (sum(flag in flags(row) for row in told) for flag in ("short", "wide", "worse"))
        least, most = (f"{100 * f([row['cover'] for row in told]):.0f}" if told else "–" for f in (min, max))
        numbers = (len(those), len(told) - short - wide, short, wide, worse, len(those) - len(told))
        table.append(f"| {population} | {mechanism} | {' | '.join(map(str, numbers))} | {least} to {most} % |")
    return table


def _everything(rows: list[Row]) -> list[str]:
    """The coverage of each question, over ε."""
    epsilons = sorted({row["ε"] for row in rows})
    table = [f"| population | mechanism | question | {' | '.join(f'ε = {epsilon:g}' for epsilon in epsilons)} |"]
    table.append("|---" * (3 + len(epsilons)) + "|")
    found = {(row["population"], row["mechanism"], row["question"], row["ε"]): row for row in rows}
    for about in dict.fromkeys(key[:3] for key in found):
        cells = [_cell(found[(*about, epsilon)]) if (*about, epsilon) in found else "" for epsilon in epsilons]
        table.append(f"| {' | '.join((*about, *cells))} |")
    return table


def _cell(row: Row) -> str:
    if row["cover"] is None:
        return "–"
    wrong = flags(row)
    text = f"{100 * row['cover']:.0f}"
    text = f"**{text}**" if {"short", "wide"} & set(wrong) else text
    answered = row["repetitions"] - row["refused"]
    marks = ("\\*" if "worse" in wrong else "") + ("†" if 2 * row["unfit"] >= answered else "")
    return text + marks + (" (r)" if row["refused"] else "")


def trips_table(rows: list[Row]) -> str:
    """Trips there and back: L1 distances from the words of these very people, beside what should be reached."""
    lines = [f"{'mechanism':14}{'question':13}{'ε':>3}{'L1':>9}{'counted':>9}{'target':>9}{'cover':>7}  model"]
    for row in sorted(rows, key=lambda row: (row["mechanism"], row["question"], row["ε"])):
        targets = dict(zip((2, 3, 4), TARGETS.get((row["mechanism"], row["question"]), ()), strict=False))
        figures = [_number(row.get(f"{name}, these people"), 9) for name in ("L1", "counted")]
        about = f"{row['mechanism']:14}{row['question']:13}{row['ε']:>3g}"
        wanted = _number(targets.get(row["ε"]), 9)
        lines.append(f"{about}{''.join(figures)}{wanted}{_percent(row['cover'], 7)}  {', '.join(row['model'])}")
    return "\n".join(lines)


def _percent(value: float | None, width: int) -> str:
    return f"{'–' if value is None else format(100 * value, '.1f'):>{width}}"


def _number(value: float | None, width: int) -> str:
    return f"{'–' if value is None else format(value, '.4f'):>{width}}"
