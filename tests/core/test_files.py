from __future__ import annotations

import os
from pathlib import Path

import pytest

import dpwords as dw
from dpwords.core import files
from dpwords.core.limits import Limits


def test_text_comes_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"\xef\xbb\xbfa\r\n\xc3\xb1")
    assert files.read_text(file) == "a\r\nñ"


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff")
    (tmp_path / "large").write_bytes(b"a" * 11)
    for name, message in (("binary", "not UTF-8"), ("none", "No such file"), (".", "Is a directory"), ("a\0b", "null")):
        with pytest.raises(dw.InvalidValue, match=message):
            files.read_text(tmp_path / name)
    with pytest.raises(dw.TooLarge, match="large is larger than"):
        files.read_text(tmp_path / "large", Limits(file=10))


def test_content_in_memory_is_read_like_a_file() -> None:
    content = files.FileContent("folder/text", b"\xef\xbb\xbfa")
    assert files.file_name(content) == "text"
    assert files.read_text(content) == "a"
    with pytest.raises(dw.InvalidValue, match=r"^binary is not UTF-8"):
        files.read_text(files.FileContent("binary", b"\xff"))
    with pytest.raises(dw.TooLarge, match=r"^large is larger than"):
        files.read_text(files.FileContent("large", b"a" * 11), Limits(file=10))


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    new, old = tmp_path / "deep" / "new", tmp_path / "old"
    old.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(old)
    files.write_whole({new: b"1", link: b"2"})
    assert (new.read_bytes(), old.read_bytes(), link.is_symlink()) == (b"1", b"2", True)
    assert new.stat().st_mode == old.stat().st_mode  # as the user's mask says
    old.chmod(0o600)
    files.write_whole({old: b"2"})
    assert old.stat().st_mode & 0o777 == 0o600  # as it was
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for path in (circle, tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(dw.InvalidValue):
            files.write_whole({path: b"5"})
    circle.unlink()
    for bad, message in ((tmp_path / "deep", "deep is a directory"), (old / "x", "cannot be written")):
        with pytest.raises(dw.InvalidValue, match=message):
            files.write_whole({old: b"3", bad: b"4"})
    assert old.read_bytes() == b"2"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "link", "new", "old"]


def test_outputs_are_checked_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "new", tmp_path / "deep" / "new", tmp_path / "file"):
        files.check_output(path)
    with pytest.raises(dw.InvalidValue, match="file is not a directory"):
        files.check_output(tmp_path / "file" / "deep" / "new")
    with pytest.raises(dw.InvalidValue, match="is a directory: name a file"):
        files.check_output(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    os.mkfifo(tmp_path / "pipe")
    for refuses in (files.check_output, lambda path: files.write_whole({path: b""})):
        with pytest.raises(dw.InvalidValue, match="pipe exists and is not a regular file"):
            refuses(tmp_path / "pipe")
