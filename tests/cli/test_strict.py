"""What has no effect, or was likely meant otherwise, is refused in one line before any work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands import run


def refused(arguments: str, stdin: bytes = b"") -> str:
    """The one line that a bad use gets; words of the arguments are separated by spaces."""
    done = run(*arguments.split(), stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return done.stderr.removeprefix("dpwords: ").removesuffix("\n")


WORD = "release ab --alphabet ab -e 2"
STATES = "release 0,1 --system grid:3x3 --words states -e 2"


@pytest.mark.parametrize(
    ("arguments", "left_out"),
    [
        (f"{WORD} --alpha 1", "--alpha"),
        (f"{WORD} --alpha 2 --utility linear", "--alpha"),
        (f"{WORD} --mechanism online --utility best", "--utility"),
        (f"{WORD} --edits all --calibration tight", "--calibration"),
        (
            f"{STATES} --mechanism best --utility best --alpha 1 --calibration tight",
            "--utility, --alpha, --calibration",
        ),
        (f"{WORD} --certificates c.json", "--certificates"),
        (f"{STATES} --certificates c.json --calibration textbook", "--certificates"),
        (f"{STATES} --certificates c.json --utility inverse --calibration textbook", "--certificates"),
        (f"{STATES} --certificates c.json --mechanism online", "--certificates"),
        (f"{WORD} --certificate-time 5", "--certificate-time"),
        (f"{STATES} --certificate-time 5 --mechanism online", "--certificate-time"),
        (f"{STATES} --certificate-time 5 --calibration textbook", "--certificate-time"),
        (f"{STATES} --certificate-time 5 --edits all", "--certificate-time"),
        ("accuracy --alphabet ab --length 3 -e 2 --certificate-time 5", "--certificate-time"),
        ("accuracy --alphabet ab --length 3 --target-distance 1 --at-most 1", "--at-most"),
        ("audit --alphabet ab --length 2 -e 1 --literal --edits substitutions", "--edits"),
        ("audit --alphabet ab --length 2 -e 1 --literal --mechanism online --utility best", "--mechanism, --utility"),
        ("audit --alphabet ab --length 2 -e 1 --alpha 1", "--alpha"),
        ("draw --system grid:2x2 --separator ;", "--separator"),
        ("draw --system grid:2x2 -k 1 --of-length", "-k, --of-length"),
        ("draw E --system grid:2x2 --runs -k 1 -o r.svg", "-k"),
        ("draw ab --paper --alphabet ab --title x -o figures", "WORD, --alphabet, --title"),
    ],
)
def test_options_without_effect(arguments: str, left_out: str) -> None:
    assert refused(arguments).endswith(f": leave out {left_out}")


@pytest.mark.parametrize(
    "arguments",
    [
        f"{WORD} --utility inverse --alpha 2",
        f"{WORD} --utility best --calibration tight",
        f"{STATES} --certificate-time 5",
        "release E --system grid:3x3 -e 2 --certificate-time 5",
        "accuracy --alphabet ab --length 3 -e 2 --at-most 1",
        "accuracy --alphabet ab --length 3 --target-probability 0.5 --at-most 1",
        "audit --alphabet ab --length 2 -e 1 --literal --alpha 0.5 -k 1",  # the claim breaks
    ],
)
def test_options_with_effect(arguments: str) -> None:
    assert run(*arguments.split()).returncode == (1 if "--literal" in arguments else 0)


def test_numbers_are_named_by_their_options() -> None:
    assert refused(f"{WORD} -k 0").startswith("-k must be a whole number")
    assert refused("release ab --alphabet ab -e 0") == (
        "--epsilon must be a finite number above 0: pass for example --epsilon 1"
    )
    assert refused("accuracy --alphabet ab --length 2 -e 1,-1").startswith("--epsilon must be")
    assert refused(f"{WORD} --utility inverse --alpha nan").startswith("--alpha must be")


def test_an_alphabet_that_is_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("names.txt").write_text("ada\ngrace\n\n\n", encoding="utf-8")
    message = refused("release ada --alphabet names.txt -e 200")
    assert message == (
        r"there is a file of that name, names.txt: write @names.txt to read its symbols, or \names.txt for a literal"
    )
    assert run("release", "ada", "--alphabet", "@names.txt", "-e", "200").stdout == "ada\n"
    assert run("release", "tame", "--alphabet", r"\names.txt", "-e", "200").stdout == "tame\n"
    Path("ab").mkdir()
    assert run("release", "ab", "--alphabet", "ab", "-e", "200").stdout == "ab\n"
    too_long = "ab" * 150  # for a file's name
    assert run("release", "a" * 300, "--alphabet", too_long, "-e", "400").returncode == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source;target;metres\n1;2;3\n", "has semicolons between its columns: write it with commas"),
        ("source\ttarget\n1\t2\n", "has tabs between its columns"),
        ("source|target\n1|2\n", "has vertical bars between its columns"),
        ("source,target,source\n1,2,3\n", 'has more than one column "source"'),
        ("source,target,m,m\n1,2,3,4\n", 'has more than one column "m"'),
        ("1,2\n2,1\n", "needs a header line that names the columns source and target: write source,target"),
        ("from,to\n1,2\n", "needs a header line"),
        ("\nsource,target\n1,2\n", "needs a header line"),
        ("source,target\n1,2\n\n2,1\n", "line 3 is empty"),
        ("source,target\n1,2\n2,1,5\n", "line 3 has 3 fields, but the header names 2 columns"),
        ("source,target,metres\n1,2,5\n2,1\n", "line 3 has 2 fields, but the header names 3 columns"),
        ("source,target\n\n\n", "has a header, but no edges"),
    ],
)
def test_edge_lists(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "roads.csv"
    file.write_text(content, encoding="utf-8")
    assert message in refused(f"release --system {file} -e 1", b"1 2\n")


def test_an_edge_list_with_blank_lines_at_its_end(tmp_path: Path) -> None:
    file = tmp_path / "roads.csv"
    file.write_bytes(b"source, target\r\n10, 11\r\n11, 10\r\n\r\n\r\n")
    assert run(*f"release --system {file} -e 200".split(), stdin=b"10 11\n\n").stdout == "10 11\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"start": "s", "acepting": ["s"], %s}', 'an unknown key "acepting": leave it out, or write accepting'),
        ('{"start": "s", "walls": [], %s}', 'an unknown key "walls": leave it out, or write start, accepting, trans'),
        ('{"start": "s", "start": "s", %s}', 'has the key "start" more than once: keep one of them'),
        ('{"start": "s", "accepting": ["s"], "accepting": [], %s}', 'has the key "accepting" more than once'),
        ('{"start": true, %s}', 'start: states must be strings in JSON: write "true"'),
        ('{"start": ["s"], %s}', "start: states must be strings in JSON"),
        ('{"start": "s", "accepting": [null], %s}', "accepting: states must be strings in JSON"),
    ],
)
def test_json_systems(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "system.json"
    file.write_text(content % '"transitions": {"s": {"a": "s", "b": "s"}}', encoding="utf-8")
    assert message in refused(f"release ab --system {file} -e 1")


def test_lines_of_lexicons(tmp_path: Path) -> None:
    file = tmp_path / "cities.txt"
    file.write_bytes(b"bern\r\nbonn\r\n\r\n")
    assert run(*f"release bern --lexicon {file} -e 200".split()).stdout == "bern\n"
    file.write_bytes(b"\n\n")
    assert "cities.txt is empty: write one word on each line" in refused(f"release bern --lexicon {file} -e 1")
    file.write_bytes(b"be\xc2\x85rn\nbonn\n")  # only a line feed ends a line, as on standard input
    assert run(*f"release bonn --lexicon {file} -e 200".split()).stdout == "bonn\n"


LONG = "--system grid:15x15 --words states -e 2"  # would take minutes


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ("draw ab --alphabet ab -o", "a.svg"),
        ("draw --paper -o", "figures"),
        ("study strings -o", "figures"),
        ("study grid -o", "figures"),
        (f"accuracy --length 18 {LONG} --plot", "a.svg"),
        (f"release {LONG} --certificates", "c.json"),
    ],
)
def test_outputs_that_cannot_be_written(arguments: str, output: str, tmp_path: Path) -> None:
    stdin = b"0,1 0,2 0,3 0,4 0,5 0,6 0,7 0,8 0,9 1,9 2,9 3,9 4,9 5,9 6,9\n"
    (tmp_path / "file").write_bytes(b"")
    message = refused(f"{arguments} {tmp_path / 'file' / output}", stdin)
    assert message == "the output cannot be written (file is not a directory): check the path"
    if output == "figures":
        assert "is not a directory" in refused(f"{arguments} {tmp_path / 'file'}", stdin)
    else:
        (tmp_path / output).mkdir()
        assert refused(f"{arguments} {tmp_path / output}", stdin).startswith(f"{output} is a directory: name a file")
    if os.path.isdir("/proc/self"):  # where nobody can write
        assert "is write-protected" in refused(f"{arguments} /proc/self/new/{output}", stdin)
