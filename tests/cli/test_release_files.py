"""dpwords release --input, as a user meets it: real processes, their files, their messages and exit codes."""

from __future__ import annotations

import json
import os
import resource
import secrets
import shlex
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import dpwords as dw
from commands import COMMAND, in_terminal, refused, run
from dpwords.frames import receipts

ROWS = "id,user,w,note\n1,ann,gattaca,007\n2,bob,acgt,\n3,ann,tt,x\n"
DNA = ("--alphabet", "acgt", "-e", "200")


@pytest.fixture
def source(tmp_path: Path) -> str:
    (tmp_path / "in.csv").write_text(ROWS, encoding="utf-8")
    return str(tmp_path / "in.csv")


def test_a_single_row_is_one_row(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text("w\nacgt\n", encoding="utf-8")
    said = run("release", "--input", str(file), "--column", "w", *DNA).stderr
    assert "dpwords: 1 row\n" in said
    assert "dpwords: 1 row in " in said


def test_files_with_a_summary_before_and_a_report_after(source: str, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    done = run("release", "--input", source, "--column", "w", *DNA, "--by", "user", "--output", str(target))
    assert (done.returncode, done.stdout) == (0, "")
    assert target.read_text("utf-8") == ROWS
    assert "words of length 7, ε = 200, k = 1" in done.stderr
    assert "2 people have 3 words" in done.stderr
    assert "at most 400" in done.stderr
    assert "the receipt is in out.csv.receipt.json" in done.stderr
    assert "dpwords: 3 rows in " in done.stderr
    assert "gattaca" not in done.stderr
    assert all(line.startswith("dpwords: ") for line in done.stderr.splitlines())
    found = receipts.read(str(target))
    assert found["recipe"]["alphabet"] == "acgt"
    assert (found["words"], found["recipe"]["by"]) == (3, "user")
    arguments = ["release", "--input", source, "--column", "w", *DNA, "--output", str(target)]
    assert run(*arguments, "--quiet").stderr == ""
    assert run(*arguments, "--quiet", "--resume").stderr == ""
    assert run(*arguments, "--resume").stderr == "dpwords: out.csv is complete: there is nothing to resume\n"


def test_from_standard_input_to_standard_output(source: str) -> None:
    arguments = ["release", "--input", "-", "--format", "csv", "--column", "w", *DNA, "-q"]
    assert run(*arguments, stdin=ROWS).stdout == ROWS
    lines = run(*arguments, "--output", "-", "--output-format", "jsonl", "--drop-others", stdin=ROWS).stdout
    assert [json.loads(line) for line in lines.splitlines()] == [{"w": "gattaca"}, {"w": "acgt"}, {"w": "tt"}]
    assert run("release", "--input", "-", "--format", "text", *DNA, "-q", stdin="acgt\r\nta\n\n").stdout == "acgt\nta\n"
    assert run("release", "--input", source, "--column", "w", *DNA, "-q").stdout == ROWS
    assert "give --format" in refused("release", "--input", "-", "--column", "w", *DNA, stdin=ROWS)
    assert "nothing comes from standard input" in in_terminal(
        80, "release", "--input", "-", "--format", "csv", *DNA, code=2
    )


def test_systems_lexicons_and_lists_of_cells(tmp_path: Path) -> None:
    table = pa.table({"w": [[[0, 1], [0, 2]], [[1, 0]]], "n": [1, 2]})
    pq.write_table(table, tmp_path / "cells.parquet")
    target = tmp_path / "out.parquet"
    grid = ("--system", "grid:3x3", "--words", "states", "-e", "200", "--output", str(target))
    done = run("release", "--input", str(tmp_path / "cells.parquet"), *grid)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(target).to_pydict() == table.to_pydict()
    assert "metadata" in done.stderr
    assert receipts.read(str(target))["recipe"]["system"] == "grid:3x3"
    (tmp_path / "cities.txt").write_text("bern\nbonn\nrome\n", encoding="utf-8")
    lexicon = ("--lexicon", str(tmp_path / "cities.txt"), "-e", "200", "-q")
    assert run("release", "--input", "-", "--format", "text", *lexicon, stdin="bonn\nrome\n").stdout == "bonn\nrome\n"


def test_k_is_capped_at_the_length(tmp_path: Path) -> None:
    arguments = ("release", "--input", "-", "--format", "text", "--alphabet", "ab", "-q", "-k", "3", "-e", "600")
    assert run(*arguments, stdin="a\nabab\nba\n").stdout == "a\nabab\nba\n"


def test_words_outside_of_the_system_need_to_be_asked_for() -> None:
    edits = ("--system", "grid:3x3", "-e", "200", "--edits", "all")
    assert "use --any-word" in refused("release", "NN", *edits)
    assert run("release", "SS", *edits, "-q").stdout == "SS\n"
    assert len(run("release", "NN", *edits, "--any-word", "-q").stdout) > 0
    assert "leave out --any-word" in refused("release", "SS", "--system", "grid:3x3", "-e", "1", "--any-word")
    table = ("release", "--input", "-", "--format", "csv", *edits, "-q")
    assert "row 2 has a word that is not in the language" in refused(*table, stdin="w\nSS\nNN\n")
    assert run(*table, "--invalid", "skip", stdin="w\nSS\nNN\n").stdout == "w\nSS\n"
    assert "(--any-word)" in run(*table, stdin="w\nSS\nNN\n").stderr
    assert len(run(*table, "--any-word", stdin="w\nSS\nNN\n").stdout.splitlines()) == 3


def test_ledgers_and_budgets(source: str, tmp_path: Path) -> None:
    ledger, target = str(tmp_path / "ledger.db"), str(tmp_path / "out.csv")
    arguments = ["release", "--input", source, "--column", "w", "--alphabet", "acgt", "-q", "--ledger", ledger]
    arguments += ["--output", target, "--by", "user"]
    assert run(*arguments, "--budget", "5", "-e", "2").returncode == 0
    assert "the budget, 5 for each id, would be exceeded for id 'ann'" in refused(*arguments, "-e", "2")
    assert dw.Ledger(ledger).spent("ann") == 4
    assert dw.Ledger(ledger).spent("bob") == 2
    os.remove(target)
    assert run(*arguments, "-e", "0.5").returncode == 0
    assert dw.Ledger(ledger).left("ann") == 0
    plain = ["release", "--input", source, "--column", "w", "--alphabet", "acgt", "-e", "2", "--budget", "4"]
    assert "name the column that says who it is" in refused(*plain)
    found = run(*plain, "--by", "user", "--split", "first", "-q")
    assert len(found.stdout.splitlines()) == 4
    assert "the words of each person share the budget ε = 4 equally" in run(*plain, "--by", "user").stderr


def test_a_printed_recipe_divides_no_more_than_its_options(source: str, tmp_path: Path) -> None:
    """A ledger keeps the budget, which is divided only where somebody says so."""
    target, recipe = str(tmp_path / "out.csv"), tmp_path / "release.json"
    described = [
        "--input",
        source,
        "--column",
        "w",
        "--alphabet",
        "acgt",
        "--by",
        "user",
        "-e",
        "2",
        "--output",
        target,
    ]
    for split, spent in (((), 2), (("--split", "equal"), 10)):
        printed = run("release", *described, "--budget", "10", *split, "--print-recipe").stdout
        recipe.write_text(printed, encoding="utf-8")
        assert ("split" in json.loads(printed)) == bool(split)
        ledger = tmp_path / f"{spent}.db"
        assert run("release", "--recipe", str(recipe), "--ledger", str(ledger), "-q").returncode == 0
        assert (dw.Ledger(ledger).spent("bob"), dw.Ledger(ledger).budget) == (spent, 10)


@pytest.mark.parametrize("split", [(), ("--split", "equal")])
def test_a_receipt_never_claims_less_than_a_word_spends(split: tuple[str, ...], tmp_path: Path) -> None:
    """Who has one word spends all of the budget for it, whatever --epsilon says."""
    source, target = tmp_path / "in.csv", tmp_path / "out.parquet"
    source.write_text("p,w\n1,a\n2,b\n", encoding="utf-8")
    arguments = ("--column", "w", "--alphabet", "abc", "--by", "p", "-e", "0.1", "--budget", "10", *split)
    assert run("release", "--input", str(source), *arguments, "--output", str(target), "-q").returncode == 0
    document = receipts.read(str(target))
    assert (document["epsilon"], document["guarantee"][:6]) == (10, "ε = 10")
    assert "epsilon" not in document["recipe"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gattaca", "--id", "id"], "without --input there is no file: leave out --id"),
        (["gattaca", "--resume"], "leave out --resume"),
        (["gattaca", "--input", "SOURCE"], "with --input the words come from a file: leave out WORD"),
        (["--input", "SOURCE", "--column", "w", "--resume"], "leave out --resume"),
        (["--input", "SOURCE", "--column", "w", "--split", "first"], "leave out --split"),
        (
            ["--input", "SOURCE", "--column", "x"],
            "there is no column x: see that the first line of in.csv has the names of the columns",
        ),
        (["--input", "SOURCE"], "say where the words are"),
        (["--input", "SOURCE", "--columns", "w", "--column", "w"], "--column"),
        (["--input", "SOURCE", "--column", "w", "--case", "id"], "--column"),
        (["--input", "SOURCE", "--column", "w", "--id", "user"], "two rows have the same id"),
        (["--input", "SOURCE", "--column", "w", "--output", "/"], "is a directory"),
        (["--input", "/", "--format", "csv", "--column", "w"], "Is a directory"),
        (["--input", "none.csv", "--column", "w"], "none.csv cannot be read (No such file or directory)"),
        (["--input", "SOURCE", "--column", "w", "--key-file", "SOURCE"], "64 hexadecimal digits"),
        (["--input", "SOURCE", "--column", "w", "--certificates", "x.json", "--mechanism", "online"], "leave"),
    ],
)
def test_bad_use_is_told_before_any_work(source: str, arguments: list[str], message: str) -> None:
    line = refused("release", *DNA, *(argument.replace("SOURCE", source) for argument in arguments))
    assert message in line
    assert os.listdir(Path(source).parent) == ["in.csv"]


def test_nothing_is_made_for_a_file_that_is_refused(source: str, tmp_path: Path) -> None:
    ledger = ["--ledger", str(tmp_path / "ledger.db"), "--by", "user"]
    arguments = ["release", "--input", source, "--column", "w", "--alphabet", "act", "-e", "1", *ledger]
    assert "row 1 has a word that is not in the language" in refused(*arguments)
    arguments[arguments.index("act")] = "acgt"
    shown = in_terminal(120, *arguments, "--output-format", "parquet", code=2)
    assert "this format is not for a terminal" in shown
    assert os.listdir(tmp_path) == ["in.csv"]
    assert "not a ledger" in refused(*arguments, "--ledger", source)


def test_pyarrow_is_an_extra(source: str) -> None:
    script = (
        f"import sys; sys.modules['pyarrow'] = None; sys.argv = {['dpwords', 'release', '--input', source, *DNA]!r}\n"
    )
    script += "from dpwords.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "dpwords: tables need pyarrow: pip install 'dpwords[frames]'\n")


def test_key_files(source: str, tmp_path: Path) -> None:
    key = tmp_path / "key.hex"
    key.write_text(secrets.token_hex(32) + "\n", encoding="utf-8")
    key.chmod(0o600)
    arguments = ["release", "--input", source, "--column", "w", "--alphabet", "acgt", "-e", "1", "--key-file", str(key)]
    assert "a key that is reused needs ids" in refused(*arguments)
    arguments += ["--id", "id"]
    first, second = run(*arguments, "-q"), run(*arguments, "-q")
    assert first.stdout == second.stdout
    assert first.stderr == ""
    key.chmod(0o644)
    assert "can be read by others" in run(*arguments).stderr
    assert key.exists()


def same_rows(tmp_path: Path) -> list[Path]:
    """One table with whole numbers as ids and people, in formats that have a type for them and in others."""
    table = pa.table({"n": [1, 20], "who": pa.array([7, 8], pa.uint8()), "w": ["gattaca", "acgt"]})
    pq.write_table(table, tmp_path / "in.parquet")
    feather.write_feather(table, tmp_path / "in.feather")
    (tmp_path / "in.csv").write_text("n,who,w\n1,7,gattaca\n20,8,acgt\n", encoding="utf-8")
    (tmp_path / "in.jsonl").write_text(
        '{"n": 1, "who": 7, "w": "gattaca"}\n{"n": 20, "who": 8, "w": "acgt"}\n', encoding="utf-8"
    )
    return [tmp_path / f"in.{suffix}" for suffix in ("parquet", "feather", "csv", "jsonl")]


def test_people_have_one_budget_whatever_the_format(tmp_path: Path) -> None:
    ledger, files = tmp_path / "ledger.db", same_rows(tmp_path)
    for source in files:
        arguments = ["release", "--input", str(source), "--column", "w", "--alphabet", "acgt", "-e", "2", "--by", "who"]
        arguments += ["--ledger", str(ledger), "--budget", "2", "--output", str(tmp_path / "out.csv")]
        if source == files[0]:
            assert run(*arguments).returncode == 0
        else:
            assert "would be exceeded for 2 ids, the first of which is '7', with 0 left" in refused(*arguments, "-q")
    frame = pq.read_table(files[0]).to_pandas()
    with pytest.raises(dw.InvalidValue, match="would be exceeded"):
        dw.frames.release(dw.Exponential(dw.Words("acgt"), 2), frame, "w", by="who", ledger=dw.Ledger(ledger))
    assert {each.id: each.spent for each in dw.Ledger(ledger).accounts()} == {"7": 2.0, "8": 2.0}


def test_an_id_draws_the_same_whatever_the_format(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(bytes(range(32)).hex(), encoding="utf-8")
    expected = dw.Exponential(dw.Words("acgt"), 1).release_all(["gattaca", "acgt"], ["1", "20"], bytes(range(32)))
    for source in same_rows(tmp_path):
        arguments = ["--column", "w", "--drop-others", "--alphabet", "acgt", "-e", "1", "--id", "n", "--output-format"]
        done = run("release", "--input", str(source), *arguments, "csv", "--key-file", str(key), "-q")
        assert done.stdout.splitlines() == ["n,w", f"1,{expected[0]}", f"20,{expected[1]}"]


def large(tmp_path: Path) -> str:
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"w": ["gattacagattaca"] * 400_000}), path)
    return str(path)


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    """SIGINT when the fourth batch of rows is drawn: the state says where it is, and the run can be finished."""
    target = tmp_path / "out.parquet"
    state = tmp_path / ".out.parquet.dpwords"
    arguments = ["release", "--input", large(tmp_path), *DNA, "--output", str(target)]
    script = f"""
import signal, sys
from dpwords.__main__ import main
def watch(event, values):
    if event == "open" and str(values[0]).endswith("batch-3"):
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(watch)
sys.argv = {["dpwords", *arguments]!r}
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    said = "dpwords: interrupted: the output is not complete, and not in its place: finish it with --resume"
    assert done.stderr.splitlines()[-1] == said
    assert (state / "run.json").exists()
    assert not target.exists()
    assert "finish it with --resume" in refused(*arguments)
    assert run(*arguments, "--resume", "-q").returncode == 0
    assert pq.ParquetFile(target).metadata.num_rows == 400_000
    assert not state.exists()


def test_closed_pipes(source: str) -> None:
    command = f"{shlex.join(COMMAND)} release --input {source} --column w {shlex.join(DNA)} -q"
    done = subprocess.run(
        ["sh", "-c", f"{{ {command}; echo $? >&2; }} | true"], capture_output=True, text=True, check=False
    )
    assert done.stderr == "141\n"
    for redirection in (">/dev/full", ">&-"):
        done = subprocess.run(["sh", "-c", f"{command} {redirection}"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".feather", ".jsonl.gz", ".tsv.zst"])
def test_a_full_disk(tmp_path: Path, suffix: str) -> None:
    """Files cannot grow beyond a limit, as on a full disk; with more space, the release goes on."""
    target = tmp_path / f"out{suffix}"
    arguments = ["release", "--input", large(tmp_path), "--alphabet", "acgt", "-e", "1", "--output", str(target)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, 2**14))

    done = subprocess.run([*COMMAND, *arguments, "-q"], capture_output=True, text=True, check=False, preexec_fn=limit)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "the output cannot be written" in done.stderr
    assert "finish it with --resume" in done.stderr
    assert not target.exists()
    assert run(*arguments, "--resume", "-q").returncode == 0
    assert target.exists()
    assert sorted(os.listdir(tmp_path)) == sorted(
        {"large.parquet", target.name}
        | ({f"{target.name}.receipt.json"} if suffix[1:3] in ("cs", "js", "ts") else set())
    )


def test_a_terminal_shows_progress(tmp_path: Path) -> None:
    target = str(tmp_path / "out.parquet")
    shown = in_terminal(120, "release", "--input", large(tmp_path), *DNA, "--output", target)
    assert "checking" in shown
    assert "releasing" in shown
    assert "400,000 rows" in shown
    quiet = in_terminal(120, "release", "--input", large(tmp_path), *DNA, "--output", target, "-q")
    assert quiet == ""
