"""No file that a command reads is ever overwritten by what it writes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from commands import COMMAND, refused, run

ROWS = "id,w\n1,gattaca\n2,acgt\n"
DNA = ("--alphabet", "acgt", "-e", "200")
FILES = {
    "in.csv": ROWS,
    "out.csv.receipt.json": '{"w": "acgt"}\n',
    "released.csv": ROWS,
    "released.csv.receipt.json": "{}",
    "symbols.csv": "a\nc\ng\nt\n",
    "roads.csv": "source,target\na,b\nb,a\n",
    "roads.dot": "digraph{a->b;b->a}",
    "words.csv": "acgt\ngattaca\n",
    "key.csv": "0" * 64,
    "ledger.csv": "",
    "channel.csv": "0.5,0.5\n0.5,0.5\n",
    "prior.json": "{}",
}
RELEASE = "release --column w -e 200 --input in.csv"
ESTIMATE = "estimate --input released.csv --alphabet acgt -e 9 --column w --output"
CASES = {
    "the input": f"{RELEASE} --alphabet acgt --output in.csv",
    "a receipt over the input": "release --column w -e 9 --alphabet acgt --output out.csv --format jsonl "
    "--input out.csv.receipt.json",
    "the alphabet": f"{RELEASE} --alphabet @symbols.csv --output symbols.csv",
    "the system": f"{RELEASE} --system roads.csv --output roads.csv",
    "the lexicon": f"{RELEASE} --lexicon words.csv --output words.csv",
    "the key": f"{RELEASE} --alphabet acgt --id id --key-file key.csv --output key.csv",
    "the ledger": f"{RELEASE} --alphabet acgt --by id --ledger ledger.csv --output ledger.csv",
    "a new ledger": f"{RELEASE} --alphabet acgt --by id --ledger new.csv --output new.csv",
    "certificates": f"{RELEASE} --system grid:3x3 --words states --certificates new.csv --output new.csv",
    "certificates over the input": f"{RELEASE} --lexicon words.csv --certificates in.csv",
    "a link": f"{RELEASE} --alphabet acgt --output link.csv",
    "a hard link": f"{RELEASE} --alphabet acgt --output hard.csv",
    "a link to a system": f"{RELEASE} --system roads.csv --output link_to_roads.csv",
    "estimates": f"{ESTIMATE} released.csv",
    "estimates over the receipt": f"{ESTIMATE} released.csv.receipt.json",
    "a drawing": "draw --system roads.dot --output roads.dot",
    "an attack": "attack --system roads.csv --words states --length 3 -e 1 --output roads.csv",
    "a prior": "attack --alphabet ab --length 3 -e 1 --prior prior.json --output prior.json",
}


@pytest.fixture
def position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("in.csv")
    (tmp_path / "hard.csv").hardlink_to(tmp_path / "in.csv")
    (tmp_path / "link_to_roads.csv").symlink_to("roads.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(position: Path) -> dict[str, str]:
    return {name: (position / name).read_text("utf-8") for name in os.listdir(position)}


@pytest.mark.parametrize("name", CASES)
def test_nothing_that_is_read_is_overwritten(position: Path, name: str) -> None:
    before = contents(position)
    said = refused(*CASES[name].split())
    assert "would be overwritten" in said, said
    assert contents(position) == before


@pytest.mark.parametrize("source", ["-", "/dev/stdin", "/proc/self/fd/0"])
@pytest.mark.parametrize("target", ["in.csv", "link.csv", "hard.csv"])
def test_standard_input_is_not_replaced(position: Path, source: str, target: str) -> None:
    before = contents(position)
    command = [*COMMAND, "release", "--input", source, "--format", "csv", "--column", "w", *DNA, "--output", target]
    with (position / "in.csv").open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{target} is both input and output: write to another file" in done.stderr
    assert contents(position) == before


def test_words_on_standard_input_are_not_replaced_by_certificates(position: Path) -> None:
    command = [*COMMAND, "release", "--system", "grid:3x3", "-e", "5", "--words", "states", "--certificates", "in.csv"]
    with (position / "in.csv").open("rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "in.csv is both input and output" in done.stderr
    assert (position / "in.csv").read_text("utf-8") == ROWS


def test_other_files_are_replaced(position: Path) -> None:
    """An output may be there already, and so may its receipt."""
    (position / "out.csv").write_text("old", encoding="utf-8")
    done = run(*RELEASE.split(), "--alphabet", "acgt", "--output", "out.csv", stdin=ROWS)
    assert done.returncode == 0, done.stderr
    assert (position / "out.csv").read_text("utf-8") == ROWS
    assert '"words": 2' in (position / "out.csv.receipt.json").read_text("utf-8")
