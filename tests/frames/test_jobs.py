"""From file to file: nothing is drawn before all is checked, and a run that ends too early can be resumed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from dpwords.frames import receipts
from dpwords.frames.jobs import FileRelease
from jobs import KEY, job, run, run_with_own_key

ROWS = "id,user,w,note\n1,ann,gattaca,007\n2,bob,acgt,\n3,ann,tt,x\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "out.csv"


def state_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.dpwords")


class Stopped(Exception):
    """A test has stopped a run."""


def stop(_rows: int) -> None:
    raise Stopped


class FakeLedger:
    """Notes what it is charged, as the ledger is."""

    def __init__(self) -> None:
        self.charges: list[tuple[dict[Any, float], str]] = []

    def charge(self, amounts: Mapping[Any, float], guarantee: Any, run: str) -> None:
        assert isinstance(guarantee, dw.PureDP)
        self.charges.append((dict(amounts), run))


def test_words_come_out_at_a_large_epsilon_and_nothing_else_remains(source: Path, target: Path) -> None:
    plan = run(job(source, target, epsilon=200))
    assert plan is not None
    assert plan.rows == 3
    assert target.read_text("utf-8") == ROWS
    assert sorted(os.listdir(target.parent)) == ["in.csv", "out.csv", "out.csv.receipt.json"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~_umask()


def _umask() -> int:
    old = os.umask(0)
    os.umask(old)
    return old


def test_same_key_same_output_in_every_format(source: Path, tmp_path: Path) -> None:
    words = []
    for name in ("a.csv", "b.parquet", "c.arrow", "d.jsonl", "e.feather", "f.tsv.gz", "g.csv.zst", "h.arrows"):
        run(job(source, tmp_path / name, id="id"), KEY)
        once = (tmp_path / name).read_bytes()
        run(job(source, tmp_path / name, id="id"), KEY)
        assert (tmp_path / name).read_bytes() == once
        found = receipts.read(str(tmp_path / name))
        assert (found["words"], found["epsilon"], found["k"], found["distance"]) == (3, 1.0, 1, "hamming")
    for name in ("b.parquet", "copy.parquet"):
        if name == "copy.parquet":
            run(job(tmp_path / "c.arrow", tmp_path / name, epsilon=200))
        words.append(pq.read_table(tmp_path / name).column("w").to_pylist())
    assert words[0] == words[1]
    assert list(map(len, words[0])) == [7, 4, 2]
    run(job(source, tmp_path / "other.csv"))
    assert (tmp_path / "other.csv").read_bytes() != (tmp_path / "a.csv").read_bytes()  # equal: 4^-13 or so


def test_receipts_have_nothing_of_skipped_rows_or_time(source: Path, target: Path, tmp_path: Path) -> None:
    source.write_text(ROWS + "4,eve,xyz,\n", encoding="utf-8")
    run(job(source, target, invalid="skip", id="id"), KEY)
    first = json.loads(Path(f"{target}.receipt.json").read_text("utf-8"))
    run(job(source, tmp_path / "again.csv", invalid="skip", id="id"), KEY)
    assert json.loads((tmp_path / "again.csv.receipt.json").read_text("utf-8")) == first
    assert first["words"] == 3
    assert "4" not in {str(value) for value in first.values()}
    assert "xyz" not in json.dumps(first)
    Path(f"{target}.receipt.json").write_text("{}", encoding="utf-8")
    for damaged in (target, source):
        with pytest.raises(dw.InvalidValue, match="receipt"):
            receipts.read(str(damaged))
    pq.write_table(pa.table({"w": ["a"]}), tmp_path / "plain.parquet")
    with pytest.raises(dw.InvalidValue, match="no receipt"):
        receipts.read(str(tmp_path / "plain.parquet"))


def test_metadata_of_the_input_go_and_an_old_receipt_is_replaced(tmp_path: Path) -> None:
    table = pa.table({"w": ["acgt", "ta"]}).replace_schema_metadata({"by": "hand", "dpwords": "old"})
    pq.write_table(table, tmp_path / "in.parquet", compression="gzip")
    run(job(tmp_path / "in.parquet", tmp_path / "out.parquet"))
    file = pq.ParquetFile(tmp_path / "out.parquet")
    assert set(file.schema_arrow.metadata) == {b"dpwords"}
    assert receipts.read(str(tmp_path / "out.parquet"))["words"] == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("id,w\n1,acgt\n2,acgx\n", r"row 2 has a word that is not in the language \(symbol 4 of 4"),
        ("id,w\n1,acgt\n2,\n", "row 2 has the empty word"),
        ('id,w\n1,acgt\n2,"ac\n', "row 2 of in.csv has a quote"),
    ],
)
def test_a_bad_row_at_the_end_stops_it_before_anything_is_charged(
    source: Path, target: Path, rows: str, message: str
) -> None:
    source.write_text(rows, encoding="utf-8")
    ledger = FakeLedger()
    with pytest.raises(dw.InvalidValue, match=message):
        run(job(source, target, by="id"), ledger=ledger)
    assert ledger.charges == []
    assert os.listdir(target.parent) == ["in.csv"]


def test_a_stopped_run_is_resumed_with_its_key_and_does_not_pay_twice(source: Path, target: Path) -> None:
    ledger = FakeLedger()
    target.write_text("older", encoding="utf-8")
    with pytest.raises(Stopped):
        run(job(source, target, by="user"), ledger=ledger, progress=stop)
    state = state_of(target)
    assert target.read_text("utf-8") == "older"
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / "key").stat().st_mode) == 0o600
    secret = (state / "key").read_bytes()
    assert len(secret) == 32
    assert secret.hex() not in (state / "run.json").read_text("utf-8")
    with pytest.raises(dw.InvalidValue, match="finish it with resume=True"):
        run(job(source, target, by="user"), ledger=ledger)
    run(job(source, target, by="user"), ledger=ledger, resume=True)
    assert not state.exists()
    assert ledger.charges[0] == ledger.charges[1]
    assert ledger.charges[0][0] == {"ann": 2.0, "bob": 1.0}
    run_with_own_key(job(source, target.with_name("same.csv"), by="user"), secret)
    assert target.with_name("same.csv").read_bytes() == target.read_bytes()


def test_nothing_to_resume(source: Path, target: Path) -> None:
    """Without an output it is a release of its own; what is complete is never drawn again, nor replaced by another
    release."""
    run(job(source, target), resume=True)
    once = target.read_bytes()
    assert run(job(source, target), resume=True) is None
    assert target.read_bytes() == once
    with pytest.raises(dw.InvalidValue, match="leave out resume= to replace it"):
        run(job(source, target, epsilon=2), resume=True)
    run(job(source, target, epsilon=2))
    Path(f"{target}.receipt.json").unlink()
    with pytest.raises(dw.InvalidValue, match="leave out resume= to replace it"):
        run(job(source, target, epsilon=2), resume=True)
    assert sorted(os.listdir(target.parent)) == ["in.csv", "out.csv"]


def test_a_ledger_that_refuses_leaves_nothing_unfinished(source: Path, target: Path) -> None:
    class Refusing(FakeLedger):
        def charge(self, amounts: Mapping[Any, float], guarantee: Any, run: str) -> None:
            raise dw.InvalidValue("the budget is spent")

        def entries(self, id: Any) -> list[Any]:
            return []

    with pytest.raises(dw.InvalidValue, match="the budget is spent"):
        run(job(source, target, by="user"), ledger=Refusing())
    assert os.listdir(target.parent) == ["in.csv"]
    with pytest.raises(Stopped):
        run(job(source, target, by="user"), ledger=FakeLedger(), progress=stop)
    with pytest.raises(dw.InvalidValue, match="the budget is spent"):
        run(job(source, target, by="user"), ledger=Refusing(), resume=True)
    assert state_of(target).exists()  # what was begun before can still be finished


def test_what_is_resumed_has_to_be_the_same(source: Path, target: Path) -> None:
    with pytest.raises(Stopped):
        run(job(source, target), progress=stop)
    with pytest.raises(dw.InvalidValue, match="another epsilon"):
        run(job(source, target, epsilon=2), resume=True)
    with pytest.raises(dw.InvalidValue, match="leave out key_file="):
        run(job(source, target, id="id"), KEY, resume=True)
    source.write_text(ROWS.replace("tt", "ta"), encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match="another input"):
        run(job(source, target), resume=True)
    source.write_text(ROWS, encoding="utf-8")
    for damage, message in (("run.json", "damaged"), ("key", "key of the unfinished release is damaged")):
        kept = (state_of(target) / damage).read_bytes()
        (state_of(target) / damage).write_bytes(b"[]")
        with pytest.raises(dw.InvalidValue, match=message):
            run(job(source, target), resume=True)
        (state_of(target) / damage).write_bytes(kept)
    state_of(target).chmod(0o755)
    with pytest.raises(dw.InvalidValue, match="others than its owner"):
        run(job(source, target), resume=True)
    state_of(target).chmod(0o700)
    run(job(source, target), resume=True)
    assert not state_of(target).exists()


def test_a_key_of_the_user_is_not_kept(source: Path, target: Path) -> None:
    with pytest.raises(Stopped):
        run(job(source, target, id="id"), KEY, progress=stop)
    assert not (state_of(target) / "key").exists()
    with pytest.raises(dw.InvalidValue, match="give the same key_file="):
        run(job(source, target), resume=True)
    with pytest.raises(dw.InvalidValue, match="another input"):  # its hash is keyed
        run(job(source, target, id="id"), bytes(32), resume=True)
    run(job(source, target, id="id"), KEY, resume=True)


def test_nothing_of_an_older_run_is_taken_over(source: Path, target: Path) -> None:
    """A key can be left where a run was killed just before it was begun, or after its end."""
    state_of(target).mkdir(mode=0o700)
    (state_of(target) / "key").write_bytes(bytes(32))
    with pytest.raises(Stopped):
        run(job(source, target, id="id"), KEY, progress=stop)
    assert not (state_of(target) / "key").exists()
    run(job(source, target, id="id"), KEY, resume=True)


def test_two_runs_with_one_output(source: Path, target: Path) -> None:
    with FileRelease(job(source, target)) as first:
        with pytest.raises(dw.InvalidValue, match="another process is writing"), FileRelease(job(source, target)):
            pass
        first.write(first.survey(lambda rows: None))
    assert target.exists()
    assert not state_of(target).exists()


def test_batches_that_took_long_are_saved_and_checked(source: Path, target: Path, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        run(job(source, target), save_after=-1, progress=stop)
    kept = state_of(target) / "batch-0"
    content = kept.read_bytes()
    kept.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    secret = (state_of(target) / "key").read_bytes()
    run(job(source, target), resume=True)
    run_with_own_key(job(source, tmp_path / "same.csv"), secret)
    assert target.read_bytes() == (tmp_path / "same.csv").read_bytes()


def test_a_saved_batch_is_used(source: Path, target: Path, tmp_path: Path) -> None:
    """What took long is not drawn again: a batch that was saved under the same key comes out as it was saved."""
    other = tmp_path / "other.csv"
    other.write_text(ROWS.replace("gattaca", "gggggga"), encoding="utf-8")
    for one in (job(source, target, id="id"), job(other, tmp_path / "of_other.csv", id="id")):
        with pytest.raises(Stopped):
            run(one, KEY, save_after=-1, progress=stop)
    (state_of(tmp_path / "of_other.csv") / "batch-0").replace(state_of(target) / "batch-0")
    run(job(source, target, id="id"), KEY, resume=True)
    run(job(other, tmp_path / "of_other.csv", id="id"), KEY, resume=True)
    assert target.read_bytes() == (tmp_path / "of_other.csv").read_bytes()


def test_an_input_that_changes_meanwhile(source: Path, target: Path) -> None:
    with FileRelease(job(source, target)) as found:
        plan = found.survey(lambda rows: None)
        source.write_text(ROWS.replace("tt", "ta") + "4,eve,ccc,\n", encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match="changed while it was read"):
            found.write(plan)
    assert not target.exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is a directory"),
        ("in.csv", "both input and output"),
        ("missing/out.csv", "there is no directory"),
        ("out.dat", "convert or rename it"),
        ("out.txt", "one column"),
        ("a\0b.csv", "null character"),
    ],
)
def test_outputs_that_cannot_be(source: Path, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        run(job(source, tmp_path / name))
    assert os.listdir(tmp_path) == ["in.csv"]


def test_a_file_in_the_position_of_the_state(source: Path, target: Path) -> None:
    state_of(target).touch()
    with pytest.raises(dw.InvalidValue, match="the output cannot be written"):
        run(job(source, target))


def test_budgets_of_people(source: Path, target: Path) -> None:
    ledger = FakeLedger()
    plan = run(job(source, target, epsilon=150, by="user", budget=200.0, split="first"), ledger=ledger)
    assert target.read_text("utf-8") == "id,user,w,note\n1,ann,gattaca,007\n2,bob,acgt,\n"
    assert ledger.charges[0][0] == {"ann": 150.0, "bob": 150.0}
    assert plan is not None
    assert plan.facts is not None
    assert (plan.facts.most, plan.facts.left_out) == (2, 1)
    assert receipts.read(str(target))["words"] == 2


def test_event_logs_are_gathered_and_rebuilt(tmp_path: Path, target: Path) -> None:
    log = "case,what,when,cost\nx,a,3,10\ny,c,1,10\nx,g,1,10\nx,t,2,10\n"
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    request = {"column": None, "case": "case", "symbol": "what", "order": "when"}
    run(job(tmp_path / "log.csv", target, epsilon=200, **request))
    assert target.read_text("utf-8") == "case,what,when\nx,g,1\nx,t,2\nx,a,3\ny,c,1\n"
    lines = "".join(f'{{"case": "x", "what": "{symbol}", "when": {9 - n}}}\n' for n, symbol in enumerate("acg"))
    (tmp_path / "log.jsonl").write_text(lines, encoding="utf-8")
    run(job(tmp_path / "log.jsonl", tmp_path / "out.jsonl", epsilon=200, **request))
    assert [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()] == [
        {"case": "x", "what": symbol, "when": n} for n, symbol in enumerate("gca", start=1)
    ]


def test_json_lines_become_other_tables(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"n": 1, "w": "acgt", "x": {"y": [2]}}\n{"w": "ta", "n": 2}\n', encoding="utf-8")
    run(job(source, tmp_path / "out.parquet", epsilon=200))
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {
        "n": [1, 2],
        "w": ["acgt", "ta"],
        "x": [{"y": [2]}, None],
    }
    run(job(source, tmp_path / "out.csv", epsilon=200, drop_others=True, id="n"))
    assert (tmp_path / "out.csv").read_text("utf-8") == "n,w\n1,acgt\n2,ta\n"
    run(job(source, tmp_path / "out.jsonl", epsilon=200))
    assert (tmp_path / "out.jsonl").read_text("utf-8") == source.read_text("utf-8")
    more = '{"w": "ta"}\n' * 2**16 + '{"w": "ta", "late": 1}\n'
    source.write_text(more, encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"row 65537 of in\.jsonl has a key that the first rows have not"):
        run(job(source, tmp_path / "late.parquet", epsilon=200))
    run(job(source, tmp_path / "late.jsonl", epsilon=200))
    assert (tmp_path / "late.jsonl").read_text("utf-8") == more


def test_wide_text_with_cells_that_are_empty(tmp_path: Path, target: Path) -> None:
    rows = "id,m1,m2,m3\n1,a,c,g\n2,t,,\n3,a,a,\n"
    (tmp_path / "wide.csv").write_text(rows, encoding="utf-8")
    run(job(tmp_path / "wide.csv", target, epsilon=200, column=None, columns="m*"))
    assert target.read_text("utf-8") == rows
    (tmp_path / "wide.csv").write_text("id,m1,m2,m3\n1,a,,g\n", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match="null before its last symbol"):
        run(job(tmp_path / "wide.csv", target, column=None, columns="m*"))
