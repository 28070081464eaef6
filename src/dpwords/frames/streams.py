"""Bytes in and out: inputs that can be read more than once, compressed text, and lines of limited length."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import hmac
import io
import lzma
import os
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from dpwords.errors import DPWordsError, InvalidValue, TooLarge, named, unchained
from dpwords.frames.tuning import CHUNK, LONGEST_LINE
from dpwords.recipes.table_formats import STANDARD, Packing


class Input:
    """A file, or all of standard input, which can be read from its beginning as often as needed.

    What is no regular file, such as a pipe, is first copied to a temporary file that has no name.
    """

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == STANDARD else Path(path).name
        self.file: IO[bytes]
        with errors_of_reading(self.name, "a file"):
            self.file = _copied(_standard_input()) if path == STANDARD else _opened(path)
            self._state = self._now()

    def __enter__(self) -> Input:
        return self

    def __exit__(self, *_error: object) -> None:
        with suppress(OSError):  # it was only read
            self.file.close()

    def rewound(self) -> IO[bytes]:
        """The file, at its beginning."""
        self.file.seek(0)
        return self.file

    def lines(self, packing: Packing | None) -> Iterator[str]:
        """The lines of UTF-8 text, unpacked, with their line ends, and without a byte-order mark.

        Raises `TooLarge` before a line of more than 16 MiB is in memory, and `InvalidValue` where the text is not
        UTF-8.
        """
        file, name, number, coding = self.rewound(), self.name, 0, "utf-8-sig"
        if packing is not None:
            file = io.BufferedReader(_compressed(file, packing, "rb"), CHUNK)
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                most = LONGEST_LINE // 2**20
                raise TooLarge(f"line {number} of {name} is longer than {most} MiB: split it into words")
            if b"\0" in line:
                raise InvalidValue(f"line {number} of {name} has a null byte, which text has not: check its format")
            try:
                yield line.decode(coding)
            except UnicodeDecodeError:
                raise InvalidValue(f"line {number} of {name} is not UTF-8 text: convert the file to UTF-8") from None
            coding = "utf-8"

    def digest(self, key: bytes) -> str:
        """A keyed hash of all bytes, which says nothing to those who do not have the key."""
        found = hmac.new(key, digestmod=hashlib.sha256)
        with errors_of_reading(self.name, "a file"):
            file = self.rewound()
            while chunk := file.read(CHUNK):
                found.update(chunk)
        return found.hexdigest()

    def check_unchanged(self) -> None:
        """Raise `InvalidValue` if another program has written to the file since it was opened."""
        if self._now() != self._state:
            raise InvalidValue(f"{self.name} changed while it was read: run this again when nothing writes to it")

    def _now(self) -> tuple[int, int]:
        found = os.fstat(self.file.fileno())
        return found.st_size, found.st_mtime_ns


class MemoryInput(Input):
    """The bytes of a file that is not on this machine's disk, under its name. Nothing is written to disk."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.file = Path(name).name, io.BytesIO(content)
        self._state = len(content), 0

    def _now(self) -> tuple[int, int]:
        return self._state  # nobody else can write to it


@contextmanager
def errors_of_reading(name: str, kind: str) -> Iterator[None]:
    """Turn what goes wrong in a library into one line that shows nothing of the content, and carries nothing of it."""
    with unchained():
        try:
            yield
        except DPWordsError:
            raise
        except MemoryError:
            raise TooLarge(f"{name} needs more memory than there is: split it into smaller files") from None
        except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError):
            raise InvalidValue(f"{name} cannot be unpacked: it is damaged or cut off, or its suffix is wrong") from None
        except (OSError, ValueError, TypeError, KeyError, NotImplementedError, RuntimeError) as error:
            if isinstance(error, OSError) and error.errno:
                raise InvalidValue(f"{name} cannot be read ({os.strerror(error.errno)}): check the path") from None
            raise InvalidValue(
                f"{name} cannot be read as {kind}: it is damaged or cut off, or its format is another"
            ) from None


def packed(file: IO[bytes], packing: Packing | None) -> Any:
    """A stream that compresses what is written to it; closing it leaves the file open. Equal content, equal bytes."""
    return Shared(file) if packing is None else _compressed(file, packing, "wb")


def _compressed(file: IO[bytes], packing: Packing, mode: Literal["rb", "wb"]) -> Any:
    if packing == "gz":
        return gzip.GzipFile(filename="", fileobj=file, mode=mode, mtime=0)
    if packing == "zst":
        import pyarrow as pa

        stream = pa.CompressedInputStream if mode == "rb" else pa.CompressedOutputStream
        return stream(pa.PythonFile(Shared(file), mode[0]), "zstd")
    return (bz2.BZ2File if packing == "bz2" else lzma.LZMAFile)(file, mode)


class Shared(io.RawIOBase):
    """A file that others read or write, and which stays open when they close it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def write(self, content: Any) -> int:
        if self._file.closed:  # after an error, libraries still write what they hold when they are destroyed
            return len(content)
        return self._file.write(content)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


class Nowhere(io.RawIOBase):
    """A file that forgets what is written to it."""

    def write(self, content: Any) -> int:
        return len(content)


def _standard_input() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidValue(f"nothing comes from standard input: name a file with {named('input')}, or redirect one")
    return sys.stdin.buffer


def _opened(path: str) -> IO[bytes]:
    file = Path(path).open("rb")  # noqa: SIM115
    return file if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else _copied(file)


def _copied(file: IO[bytes]) -> IO[bytes]:
    copy = tempfile.TemporaryFile()  # noqa: SIM115
    shutil.copyfileobj(file, copy, CHUNK)
    copy.flush()
    return copy
