from __future__ import annotations

from pathlib import Path

import pytest

import dpwords as dw
from dpwords import files


def test_text_comes_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"\xef\xbb\xbfa\r\n\xc3\xb1")
    assert files.read_text(file) == "a\r\nñ"


def test_what_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "binary").write_bytes(b"\xff")
    (tmp_path / "large").write_bytes(b"a" * 11)
    monkeypatch.setattr(files, "LARGEST_FILE", 10)
    for name, message in (("binary", "not UTF-8"), ("none", "No such file"), (".", "Is a directory"), ("a\0b", "null")):
        with pytest.raises(dw.InvalidValue, match=message):
            files.read_text(tmp_path / name)
    with pytest.raises(dw.TooLarge, match="large is larger than"):
        files.read_text(tmp_path / "large")
