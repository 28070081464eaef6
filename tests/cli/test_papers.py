"""Tables for papers: what is written is rounded as intervals justify, and nothing in it is a command."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from cli.test_estimate import release
from commands import refused, run
from dpwords.cli.papers import markdown, markdown_table, rounded, tex, tex_table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("50% & a_b #1 {x} $y", r"50\% \& a\_b \#1 \{x\} \$y"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a~b^c<d>|", r"a\textasciitilde{}b\textasciicircum{}c\textless{}d\textgreater{}\textbar{}"),
        ("a--b ---", "a-{}-b -{}-{}-"),
        ("[*]", "{[}{*}{]}"),
        ("ε = 3", r"$\varepsilon$ = 3"),
        ("at most e^24 times, or e^(3·ceil(d/2))", r"at most $e^{24}$ times, or $e^{3\cdot \lceil d/2 \rceil}$"),
        ("e^4 = 54.6, e^0.5.", "$e^{4}$ = 54.6, $e^{0.5}$."),
        (" ", r"\textvisiblespace{}"),
        ("a\nb\x07", "a?b?"),
        ("Zürich", "Zürich"),
    ],
)
def test_nothing_in_a_text_is_a_command_of_latex(text: str, written: str) -> None:
    assert tex(text) == written


def test_nothing_in_a_text_is_a_mark_of_markdown() -> None:
    assert markdown("a|b `c` *d* _e_ <f> [g](h) #i & $j$ \\") == (
        r"a\|b \`c\` \*d\* \_e\_ \<f\> \[g\](h) \#i \& \$j\$ " + "\\\\"
    )
    assert markdown("a\nb") == "a�b"
    assert markdown("  ") == "␣␣"


@pytest.mark.parametrize(
    ("figures", "written"),
    [
        ((0.50527, 0.48844, 0.52209), ("0.505", "0.488", "0.522")),  # ± 0.017
        ((0.5, 0.3, 0.7), ("0.50", "0.30", "0.70")),  # ± 0.20
        ((0.123456, 0.122, 0.1249), ("0.1235", "0.1220", "0.1249")),  # ± 0.0015
        ((0.5, 0.499999999, 0.500000001), ("0.500000", "0.500000", "0.500000")),
        ((-0.0001, -0.03, 0.03), ("0.000", "-0.030", "0.030")),
        ((0.0, -1.0, 1.0), ("0.0", "-1.0", "1.0")),
        ((0.0, 0.0, 0.0), ("0.000", "0.000", "0.000")),
        ((0.25, math.nan, math.nan), ("0.250", "", "")),
    ],
)
def test_two_digits_of_the_half_width(figures: tuple[float, float, float], written: tuple[str, ...]) -> None:
    assert rounded(*figures) == written


def test_the_forms_of_tables() -> None:
    header, rows = ("From", "To", "Estimate", "95% interval"), [("a|", "b&", "-0.10", "-0.20 to 0.00")]
    assert tex_table("Steps at ε = 2.", header, rows, 2).splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"% \caption{Steps at $\varepsilon$ = 2.}",
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r"From & To & Estimate & 95\% interval \\",
        r"\midrule",
        r"a\textbar{} & b\& & $-$0.10 & $-$0.20 to 0.00 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert markdown_table("Steps.", header, rows, 2).splitlines() == [
        "Steps.",
        "",
        "| From | To | Estimate | 95% interval |",
        "| --- | --- | ---: | ---: |",
        r"| a\| | b\& | -0.10 | -0.20 to 0.00 |",
    ]


def test_long_cells_have_several_lines() -> None:
    header = ("Variant", "Symbol", "Estimate", "95% interval")
    latex = tex_table("Words.", header, [("pay; " * 40, "a", "0.1", "0 to 1"), ("pay", "b", "0.1", "0 to 1")], 2)
    assert r"\begin{tabular}{p{0.6\linewidth}lrr}" in latex


def test_words_with_a_separator_and_rates(tmp_path: Path) -> None:
    (tmp_path / "acts.txt").write_text("pay\nship", encoding="utf-8")
    (tmp_path / "in.csv").write_text("w\n" + "pay;ship;pay\n" * 200, encoding="utf-8")
    public = ("--alphabet", f"@{tmp_path / 'acts.txt'}", "--separator", ";", "-e", "8")
    target = release(tmp_path / "in.csv", tmp_path / "out.csv", "--column", "w", *public)
    table = tmp_path / "out.tex"
    assert run("estimate", "--input", str(target), "--question", "variants", "--output", str(table)).returncode == 0
    assert "pay; ship; pay & " in table.read_text(encoding="utf-8")
    assert run("estimate", "--input", str(target), "--question", "rates", "--output", str(table)).returncode == 0
    assert r"\caption{Transition probabilities, estimated from 200 releases at" in table.read_text(encoding="utf-8")


SYMBOLS = "a&|_%$[*"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """800 words of symbols that mean something in tables, each symbol equally often."""
    source = tmp_path / "in.csv"
    source.write_text("w\n" + "".join(f"{3 * letter}\n" for letter in SYMBOLS * 100), encoding="utf-8")
    return release(source, tmp_path / "odd.csv", "--alphabet", SYMBOLS, "-e", "4")


def test_estimates_as_tables(odd: Path) -> None:
    targets = [odd.with_name(f"out{suffix}") for suffix in (".tex", ".md", ".json")]
    options = [part for target in targets for part in ("--output", str(target))]
    done = run("estimate", "--input", str(odd), "--question", "frequencies", "--confidence", "0.9", *options)
    assert (done.returncode, done.stdout) == (0, "")
    latex, marked, plain = (target.read_text(encoding="utf-8") for target in targets)
    known = {row["symbol"]: row for row in json.loads(plain)["estimates"]}
    caption = (
        "Proportions of symbols, estimated from 800 releases at ε = 4 by inversion, with 90% confidence intervals."
    )
    assert marked.splitlines()[0] == caption
    assert r"800 releases at $\varepsilon$ = 4 by inversion, with 90\% confidence intervals." in latex.splitlines()[1]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in marked.splitlines()[4:]]
    assert len(rows) == len(latex.splitlines()) - 8 == len(SYMBOLS)
    for label, value, interval in (map(str.strip, row) for row in rows):
        row = known[label.removeprefix("\\")]
        low, high = map(float, interval.split(" to "))
        assert (float(value), low, high) == pytest.approx((row["estimate"], row["low"], row["high"]), abs=6e-4)
    for line in latex.splitlines()[6:-2]:  # each row has its three cells, and no cell can be taken for an argument
        assert len(re.split(r"(?<!\\)&", line)) == 3
        assert not line.startswith(("[", "*"))


def test_tables_by_position_and_the_largest_ones(odd: Path) -> None:
    target = odd.with_name("out.md")
    run(
        "estimate",
        "--input",
        str(odd),
        "--question",
        "frequencies",
        "--per-place",
        "--top",
        "2",
        "--output",
        str(target),
    )
    first, _, header, _, *rows = target.read_text(encoding="utf-8").splitlines()
    assert first.startswith("Proportions of symbols at each position, the 2 largest of 8, estimated from")
    assert len(rows) == 3 * 2
    assert header == "| Place | Symbol | Estimate | 95% interval |"


@pytest.fixture
def nights(tmp_path: Path) -> tuple[Path, Path]:
    """1,000 words of two letters each, of which 80 % and 30 % are a."""
    found = []
    for name, number in (("day", 80), ("night", 30)):
        source = tmp_path / f"{name}.txt"
        source.write_text(("aa\n" * number + "bb\n" * (100 - number)) * 10, encoding="utf-8")
        found.append(release(source, tmp_path / f"private_{name}.txt", "--alphabet", "ab", "-e", "4"))
    return found[0], found[1]


def test_differences_of_two_files(nights: tuple[Path, Path]) -> None:
    day, night = map(str, nights)
    asked = ("--question", "frequencies")
    done = run("estimate", "--input", day, "--compare", night, *asked)
    header, first, _ = (line.split("\t") for line in done.stdout.splitlines())
    assert header == ["symbol", "difference", "low", "high", "counted"]
    assert float(first[2]) < 0.5 < float(first[3])
    assert "differences are private_day.txt − private_night.txt; 2 of 2 have intervals without 0" in done.stderr
    one, other = (
        {
            line.split("\t")[0]: float(line.split("\t")[1])
            for line in run("estimate", "--input", each, *asked).stdout.splitlines()[1:]
        }
        for each in (day, night)
    )
    assert float(first[1]) == pytest.approx(one[first[0]] - other[first[0]], abs=1e-5)
    back = run("estimate", "--input", night, "--compare", day, *asked).stdout.splitlines()[1].split("\t")
    assert float(back[1]) == pytest.approx(-float(first[1]), abs=1e-5)


def test_differences_in_files(nights: tuple[Path, Path]) -> None:
    day, night = nights
    targets = [day.with_name(f"out{suffix}") for suffix in (".json", ".tex", ".md", ".csv", ".parquet")]
    options = [part for target in targets for part in ("--output", str(target))]
    done = run("estimate", "--input", str(day), "--compare", str(night), "--question", "dfg", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(targets[0].read_text(encoding="utf-8"))
    assert (found["releases"], found["compared_with"]["releases"]) == (1000, 1000)
    assert found["compared_with"]["epsilon"] == 4.0
    assert sum(row["difference"] for row in found["differences"]) == pytest.approx(0, abs=1e-9)
    assert "Differences between proportions of pairs" in targets[1].read_text(encoding="utf-8")
    assert "| Difference |" in targets[2].read_text(encoding="utf-8")
    assert targets[3].read_text(encoding="utf-8").startswith("from,to,difference,low,high,counted\n")


def test_patterns_are_compared(nights: tuple[Path, Path]) -> None:
    patterns = ("--question", "patterns", "--pattern", "aa", "--pattern", "never:a")
    done = run("estimate", "--input", str(nights[0]), "--compare", str(nights[1]), *patterns)
    found = {line.split("\t")[0]: float(line.split("\t")[1]) for line in done.stdout.splitlines()[1:]}
    assert found == pytest.approx({"aa": 0.5, "never:a": -0.5}, abs=0.08)


def test_equal_lengths_are_compared(nights: tuple[Path, Path]) -> None:
    done = run("estimate", "--input", str(nights[0]), "--compare", str(nights[1]), "--question", "lengths")
    _, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[:2] for row in rows] == [["2", "0"]]
    assert "; 0 of 1 have intervals without 0" in done.stderr


def test_the_largest_differences_at_positions_come_first(tmp_path: Path) -> None:
    """a and b change places, so that their differences cancel over positions; c is rarer by little, at each of them."""
    found = []
    for name, lines in (("one", "abc\n" * 90 + "ccc\n" * 10), ("two", "bac\n" * 94 + "ccc\n" * 6)):
        source = tmp_path / f"{name}.txt"
        source.write_text(lines, encoding="utf-8")
        found.append(str(release(source, tmp_path / f"private_{name}.txt", "--alphabet", "abc", "-e", "30")))
    asked = ("--question", "frequencies", "--per-place", "--top", "2")
    done = run("estimate", "--input", found[0], "--compare", found[1], *asked)
    assert {line.split("\t")[1] for line in done.stdout.splitlines()[1:]} == {"a", "b"}


def test_what_is_not_compared(nights: tuple[Path, Path], tmp_path: Path) -> None:
    day, night = map(str, nights)
    asked = ("estimate", "--input", day, "--question", "frequencies", "--compare")
    assert "another file than --input" in refused(*asked, day)
    picture = refused(*asked, night, "--output", str(tmp_path / "a.png"))
    assert "a comparison has no picture: write a table (.json, .csv, .parquet, .tex or .md)" in picture
    assert "--compare needs a value after it: see dpwords" in refused(*asked)
    assert "would be overwritten, and --compare needs it" in refused(*asked, night, "--output", f"{night}.receipt.json")
    assert "there is no receipt day.txt.receipt.json" in refused(*asked, str(tmp_path / "day.txt"))
    (tmp_path / "few.txt").write_text("aa\nbb\n", encoding="utf-8")
    few = release(tmp_path / "few.txt", tmp_path / "private_few.txt", "--alphabet", "ab", "-e", "0.1")
    assert refused(*asked, str(few)).startswith("dpwords: private_few.txt: nothing can be estimated")
    (tmp_path / "other.txt").write_text("xy\n" * 100, encoding="utf-8")
    other = release(tmp_path / "other.txt", tmp_path / "private_other.txt", "--alphabet", "xy", "-e", "4")
    assert "the two have different symbols, and none in common" in refused(*asked, str(other))
