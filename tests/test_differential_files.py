"""Everything that a release of a file writes, for two inputs that are neighbours or differ in what is not written."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from commands import run
from dpwords.frames import receipts
from dpwords.recipes.fields import FIELDS
from neighbours import (
    BASE,
    BINARY,
    NEIGHBOURS,
    SECRET,
    SHAPES,
    SYMBOLS,
    TEXT,
    as_text,
    listed,
    noted,
    parquet,
    without_draws,
)

PEOPLE = ["--id", "id", "--by", "who", "--split", "first", "--budget", "2"]
PACKINGS: dict[str, tuple[Callable[[bytes], bytes], ...]] = {
    ".gz": (gzip.compress, lambda content: gzip.compress(content, 1, mtime=7)),
    ".bz2": (bz2.compress, lambda content: bz2.compress(content, 1)),
    ".xz": (lzma.compress, lambda content: lzma.compress(content, preset=0)),
    ".zst": (lambda content: pa.compress(content, "zstd", asbytes=True),),
}


@pytest.fixture(autouse=True)
def _fixed_words(monkeypatch: pytest.MonkeyPatch) -> None:
    without_draws(monkeypatch)


def written(folder: Path, name: str, content: bytes, options: list[str], target: str) -> dict[str, Any]:
    """Everything that a release of a file writes, of which the time that it took is left out."""
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    (folder / "symbols.txt").write_text("\n".join(SYMBOLS), encoding="utf-8")
    public = ["--alphabet", f"@{folder / 'symbols.txt'}", "--epsilon", "1", "--invalid", "skip"]
    done = run("release", *public, "--input", str(folder / name), *options, "--output", str(folder / target))
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in (name, "symbols.txt")}
    errors = re.sub(r" in [\d.]+ s(, [\d,]+ \w+/s)?", "", done.stderr)
    return {"code": done.returncode, "out": done.stdout, "errors": errors, **files}


def check_equal(found: dict[str, dict[str, Any]], target: str) -> None:
    """Assert that all runs have written the same, and a file."""
    first, *others = found.values()
    assert first["code"] == 0, first["errors"]
    assert target in first
    for name, other in zip(list(found)[1:], others, strict=True):
        assert other.keys() == first.keys(), name
        for part, value in first.items():
            assert other[part] == value, (name, part, other[part], value)


LISTS = {"lists", "numbers"}
CASES = [
    (shape, kind) for shape in SHAPES for kind in (*BINARY, *TEXT) if shape not in LISTS or kind not in ("csv", "tsv")
]


@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_files_differ_in_the_drawn_words_only(shape: str, kind: str, tmp_path: Path) -> None:
    make, types, options = SHAPES[shape]
    neighbours = dict(NEIGHBOURS)
    if shape == "events":
        del neighbours["a word that is not paid for"]
    else:
        options = [*options, *PEOPLE]
    ways = (BINARY | TEXT)[kind]
    inputs = {name: write(make(BASE, types[0])) for name, write in ways.items()}
    inputs |= {name: ways["plain"](make(neighbour, types[0])) for name, neighbour in neighbours.items()}
    if kind in BINARY:
        inputs |= {str(each): ways["plain"](make(BASE, each)) for each in types[1:]}
    source = "in.arrow" if kind in ("feather", "arrows") else f"in.{kind}"
    found = {
        name: written(tmp_path / str(number), source, content, options, f"out.{kind}")
        for number, (name, content) in enumerate(inputs.items())
    }
    check_equal(found, f"out.{kind}")


@pytest.mark.parametrize("kind", [*BINARY, "csv", "jsonl"])
def test_columns_that_are_copied_show_the_rows_that_are_written(kind: str, tmp_path: Path) -> None:
    """Their dictionaries have neither the values of rows that are left out nor values that no row had."""
    others = {name: rows for name, rows in NEIGHBOURS.items() if "symbol" not in name} | {"the same": BASE}
    ways = BINARY["parquet" if kind in TEXT else kind]
    source = "in.parquet" if ways is BINARY["parquet"] else "in.arrow"
    found = {}
    for number, (name, some) in enumerate(others.items()):
        encoded = {position: as_text(some, pa.string())[position].dictionary_encode() for position in ("who", "city")}
        table = as_text(some, pa.string())
        for position, column in encoded.items():
            table = table.set_column(table.column_names.index(position), position, column)
        for way, content in (("as it is", table), ("with more", listed(table)), ("with notes", noted(table))):
            folder = tmp_path / f"{number} {way}"
            options = ["--column", "word", "--separator", " ", *PEOPLE]
            found[f"{name}, {way}"] = written(folder, source, ways["plain"](content), options, f"out.{kind}")
    check_equal(found, f"out.{kind}")
    if kind in BINARY:
        out = pq.read_table if kind == "parquet" else pa.ipc.open_stream if kind == "arrows" else pa.ipc.open_file
        table = out(tmp_path / "0 as it is" / f"out.{kind}")
        table = table if isinstance(table, pa.Table) else table.read_all()
        assert set(table["who"].chunk(0).dictionary.to_pylist()) == {"ann", "bob", "eve"}
        assert table["city"].to_pylist() == [f"city {number}" for number in (1, 2, 4, 5, 7)]


@pytest.mark.parametrize("suffix", PACKINGS)
def test_compressed_text(suffix: str, tmp_path: Path) -> None:
    found = {}
    for number, (name, some) in enumerate({"the same": BASE, **NEIGHBOURS}.items()):
        for packing, pack in enumerate(PACKINGS[suffix]):
            content = pack(TEXT["csv"]["plain"](as_text(some, pa.string())))
            options = ["--column", "word", "--separator", " ", *PEOPLE]
            folder = tmp_path / f"{number} {packing}"
            found[f"{name} {packing}"] = written(folder, f"in.csv{suffix}", content, options, f"out.csv{suffix}")
    check_equal(found, f"out.csv{suffix}")


def test_a_word_that_becomes_empty_keeps_its_row(tmp_path: Path) -> None:
    """Under Levenshtein distance, the last word of a file can be a neighbour of the empty one."""
    for source, begin in (("in.txt", ""), ("in.csv", "word\n")):
        for number, words in enumerate((["ab", "a"], ["ab", ""], ["", "ab"], ["a"], [""])):
            folder = tmp_path / f"{source} {number}"
            folder.mkdir()
            (folder / source).write_text(begin + "".join(f"{word}\n" for word in words), encoding="utf-8")
            options = ["--alphabet", "abc", "--epsilon", "3", "--edits", "all", "-q", "--header"]
            options = options if begin else options[:-1]
            done = run("release", "--input", str(folder / source), *options, "--output", str(folder / "out.parquet"))
            assert (done.returncode, done.stderr) == (0, "")
            assert pq.read_table(folder / "out.parquet").num_rows == len(words)


HELD = {  # values that text cannot hold, found before anything is charged
    "out.jsonl": [
        pa.array([float("nan")]),
        pa.array([b"a"]),
        pa.array([b"a"], pa.binary(1)),
        pa.array([2**60], pa.date64()),
    ],
    "out.csv": [pa.array([b"\xff"], pa.binary(1)), pa.array([[1]])],
}


def test_values_that_a_format_cannot_hold_are_refused_before_the_charge(tmp_path: Path) -> None:
    for target, columns in HELD.items():
        for number, column in enumerate(columns):
            folder = tmp_path / f"{target} {number}"
            ledger = ["--ledger", str(tmp_path / "ledger.db"), "--by", "who"]
            content = parquet(pa.table({"who": ["ann"], "word": ["1"], "other": column}))
            each = written(folder, "in.parquet", content, ["--column", "word", "--separator", " ", *ledger], target)
            assert each["code"] == 2, each["errors"]
            assert target not in each
    assert not (tmp_path / "ledger.db").exists()


def test_plain_text(tmp_path: Path) -> None:
    found = {}
    for number, some in enumerate((BASE, *NEIGHBOURS.values())):
        for ends, letters in enumerate(("\n", "\r\n")):
            content = letters.join(" ".join(row["word"]) for row in some) + letters
            options = ["--separator", " "]
            found[f"{number} {ends}"] = written(
                tmp_path / f"{number} {ends}", "in.txt", content.encode(), options, "out.txt"
            )
    check_equal(found, "out.txt")


HIDDEN = ["--edits all --epsilon 3", "--report symbols --epsilon 1", "--lexicon --edits all --epsilon 3"]


@pytest.mark.parametrize("options", HIDDEN)
def test_lengths_are_hidden_where_that_is_promised(options: str, tmp_path: Path) -> None:
    """Under Levenshtein distance, and in reports, words of different lengths are neighbours."""
    found = {}
    lexicon = tmp_path / "lexicon.txt"
    lexicon.write_text("a\nab\nabc\ncab\nbbbb\n", encoding="utf-8")
    language = ["--lexicon", str(lexicon)] if "--lexicon" in options else ["--alphabet", "abc"]
    given = [part for part in options.split() if part != "--lexicon"]
    for number, words in enumerate((["abc", "ab", "cab"], ["abc", "bbbb", "bbbb"], ["a", "a", "a"])):
        (tmp_path / str(number)).mkdir()
        source, target = tmp_path / str(number) / "in.csv", tmp_path / str(number) / "out.csv"
        source.write_text("id,word\n" + "".join(f"{row},{word}\n" for row, word in enumerate(words)), encoding="utf-8")
        where = ["--column", "word", "--id", "id", "--input", str(source), "--output", str(target)]
        done = run("release", *language, *given, *where)
        errors = re.sub(r" in [\d.]+ s(, [\d,]+ \w+/s)?", "", done.stderr)
        receipt = Path(f"{target}.receipt.json").read_bytes()
        found[str(number)] = {
            "code": done.returncode,
            "errors": errors,
            "out.csv": target.read_bytes(),
            "receipt": receipt,
        }
    check_equal(found, "out.csv")


LINES = ['{"id": 1, "word": "1 2", "n": 1, "o": {"x": 1}}', '{"id": 2, "word": "2", "n": 2, "o": {"x": 2}}']
LEFT_OUT = {  # what the third row has beside a word that is not in the language, and whether columns can follow from it
    '"n": 1, "o": {"x": 1}': True,
    '"n": 3, "o": {"x": 3}': True,
    '"n": 1': True,
    '"n": 1.5': False,
    '"n": 1, "CANARY": 1': False,
    '"n": 1, "o": {"x": 1, "CANARY": 1}': False,
    '"n": 1, "o": {"x": 1e5}': False,
    '"n": 1, "CANARY": null': False,
    '"n": 1, "CANARY": []': False,
}


def test_rows_that_are_left_out_do_not_make_columns_of_json(tmp_path: Path) -> None:
    """A key that only they have, or a value of another type, would be seen in the schema of another format."""
    for more, target in ([], "out.parquet"), ([], "out.jsonl"), (["--drop-others"], "out.parquet"):
        found = {}
        for number, (rest, fine) in enumerate(LEFT_OUT.items()):
            content = "\n".join([*LINES, f'{{"id": 3, "word": "9", {rest}}}']).encode()
            options = ["--column", "word", "--separator", " ", *more]
            each = written(tmp_path / f"{target} {number} {more}", "in.jsonl", content, options, target)
            if fine or more or target == "out.jsonl":
                found[rest] = each
            else:
                assert each.keys() == {"code", "out", "errors"}
                assert each["code"] == 2
                assert "rows that are left out decide which columns there are" in each["errors"]
                assert "CANARY" not in each["errors"]
        check_equal(found, target)


FIRST = [  # rows that are left out, and come first
    (["--column", "word", "--separator", " "], '{"n": 3, "word": "9", "id": 1}', '{"id": 1, "word": "9", "n": 2}'),
    (["--columns", "m*"], '{"m2": "9", "m1": "1"}', '{"m1": "1", "m2": "9"}'),
]


@pytest.mark.parametrize(("options", "first", "row"), FIRST)
def test_rows_that_are_left_out_do_not_order_the_columns_of_json(
    options: list[str], first: str, row: str, tmp_path: Path
) -> None:
    later = row.replace('"9"', '"2"')
    for target in ("out.jsonl", "out.csv", "out.parquet"):
        assert written(tmp_path / f"a {target}", "in.jsonl", f"{row}\n{later}".encode(), options, target)["code"] == 0
        other = written(tmp_path / f"b {target}", "in.jsonl", f"{first}\n{later}".encode(), options, target)
        fine = "word" in later and target == "out.jsonl"  # there, lines are copied
        assert (other["code"], target in other) == ((0, True) if fine else (2, False)), target


def test_many_rows_are_cut_by_what_is_written(tmp_path: Path) -> None:
    """Row groups and batches end where the written rows say, however long the rows are that are left out."""
    words, gone = ["1 2 3"] * 70_000, [SECRET * 100, "9"]
    options = ["--column", "word", "--separator", " ", "--id", "id"]
    for kind in ("parquet", "arrow"):
        found = {}
        for number, other in enumerate(gone):
            every = [word for pair in zip(words, [other] * len(words), strict=True) for word in pair]
            table = pa.table(
                {"id": [name for each in range(len(words)) for name in (2 * each, 2 * each + 1)], "word": every}
            )
            for way, content in BINARY[kind].items():
                if way in ("plain", "encoding", "compression"):
                    folder = tmp_path / f"{kind} {number} {way}"
                    found[f"{number} {way}"] = written(folder, f"in.{kind}", content(table), options, f"out.{kind}")
        check_equal(found, f"out.{kind}")


KEYS = {b"dpwords", b"ARROW:schema"}  # the second is the schema, as Arrow writes it into every Parquet file
RECEIPT = {"receipt", "version", "mechanism", "epsilon", "k", "distance", "guarantee", "language", "recipe", "words"}


def _metadata(kind: Any) -> Iterator[Any]:
    """What is attached to the fields inside a type, or to those of a schema."""
    fields = (
        list(kind) if isinstance(kind, pa.Schema) else [kind.field(position) for position in range(kind.num_fields)]
    )
    for field in fields:
        yield {key for key in field.metadata or {} if key != b"PARQUET:field_id"}
        yield from _metadata(field.type)


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_but_these_keys_is_written(shape: str, tmp_path: Path) -> None:
    make, types, options = SHAPES[shape]
    content = parquet(noted(make(BASE, types[0])))
    assert written(tmp_path / "a", "in.parquet", content, options, "out.parquet")["code"] == 0
    file = pq.ParquetFile(tmp_path / "a" / "out.parquet")
    assert set(file.metadata.metadata) == KEYS
    assert not any(_metadata(file.schema_arrow))
    written(tmp_path / "b", "in.parquet", content, options, "out.arrow")
    arrow = pa.ipc.open_file(tmp_path / "b" / "out.arrow")
    assert set(arrow.schema.metadata) == {b"dpwords"}
    assert not any(_metadata(arrow.schema))
    assert not any(
        (arrow.get_batch_with_custom_metadata(number)[1] or {}) for number in range(arrow.num_record_batches)
    )
    for document in (json.loads(file.metadata.metadata[b"dpwords"]), json.loads(arrow.schema.metadata[b"dpwords"])):
        assert set(document) == RECEIPT
        assert set(document["recipe"]) <= {"recipe", *(name for name, each in FIELDS.items() if each.in_receipt)}


def test_a_receipt_tells_no_option_that_is_not_listed() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0)
    recipe = dw.Recipe(alphabet="ab", input=SECRET, output=SECRET, format="csv", output_format="csv", header=True)
    told = receipts.receipt(mechanism, recipe.for_receipt(), 3)
    assert told["recipe"] == {"recipe": 1, "alphabet": "ab"}
