"""Reading text files of limited size, and writing files completely or not at all."""

from __future__ import annotations

import csv
import io
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue, TooLarge, within_memory


@dataclass(frozen=True)
class FileContent:
    """A file whose content is in memory already; its name is for messages, and its suffix tells the format."""

    name: str
    content: bytes


AnyFile = str | os.PathLike[str] | FileContent


def file_name(file: AnyFile) -> str:
    """The name of a file without its directories; for "." and "/", which have none, the path."""
    path = PurePath(file.name if isinstance(file, FileContent) else file)
    return path.name or str(path)


@within_memory()
def read_text(file: AnyFile, limits: Limits = DEFAULTS) -> str:
    """The content of a UTF-8 file, without a byte-order mark.

    Raises `TooLarge` beyond the size limit, and `InvalidValue` if the file cannot be read or is not UTF-8.
    """
    try:
        return read_bytes(file, limits).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidValue(f"{file_name(file)} is not UTF-8 text: convert it to UTF-8") from None


@within_memory()
def read_bytes(file: AnyFile, limits: Limits = DEFAULTS) -> bytes:
    """The content of a file; raises `TooLarge` beyond the size limit, and `InvalidValue` if it cannot be read."""
    name = file_name(file)
    try:
        if isinstance(file, FileContent):
            content = file.content
        else:
            with Path(file).open("rb") as opened:
                content = opened.read(limits.file + 1)
        if len(content) > limits.file:
            raise TooLarge(f"{name} is larger than {limits.file // 2**20} MiB: use a smaller file")
        return content
    except OSError as error:
        raise InvalidValue(f"{name} cannot be read ({error.strerror}): check the path") from None
    except ValueError:
        raise InvalidValue("a path may not contain a null character: check the path") from None


@contextmanager
def naming(file: AnyFile) -> Iterator[None]:
    """Put the name of a file before the message of what is wrong in it."""
    try:
        yield
    except InvalidValue as error:
        raise type(error)(f"{file_name(file)}: {error.message}") from None


def csv_rows(file: AnyFile, skipinitialspace: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the number of its last line; raises `InvalidValue` if it is not CSV."""
    text = io.StringIO(read_text(file).rstrip("\r\n"), newline="")
    rows = csv.reader(text, strict=True, skipinitialspace=skipinitialspace)
    try:
        yield from ((rows.line_num, row) for row in rows)
    except csv.Error as error:
        where = f"{file_name(file)}, line {rows.line_num},"
        raise InvalidValue(f"{where} is not valid CSV ({error}): is the file cut off?") from None


def check_output(path: Path) -> None:
    """Refuse a path that `write_whole` could not write to, before any work is done. Cost: a few system calls."""
    with _errors_of_writing():
        final = _final(path)
        folder = next(each for each in final.parents if each.exists())
        if not folder.is_dir():
            raise InvalidValue(f"the output cannot be written ({folder.name} is not a directory): check the path")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InvalidValue(f"the output cannot be written ({folder.name} is write-protected): check the path")


def is_same_file(path: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths lead to the same file, by links or otherwise, or would if it existed."""
    try:
        if os.path.exists(path) and os.path.exists(other):
            return os.path.samefile(path, other)
        return resolved(Path(path)) == resolved(Path(other))
    except (OSError, ValueError, RuntimeError):  # a path that names nothing
        return False


def refuse_standard_input(path: Path) -> None:
    """Raise `InvalidValue` if standard input comes from the file that a path stands for, which would be overwritten."""
    try:
        same = sys.stdin is not None and os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    except (OSError, ValueError):  # there is no such file yet, or standard input is none
        return
    if same:
        raise InvalidValue(f"{path.name} is both input and output: write to another file")


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write each file completely or not at all; missing directories are created, and existing files are replaced."""
    with staged(contents):
        pass


@contextmanager
def staged(contents: Mapping[Path, bytes]) -> Iterator[None]:
    """Write temporary files next to their final paths; rename them if the block succeeds, and delete them if not."""
    parts: dict[Path, Path] = {}
    try:
        with _errors_of_writing():
            for path, content in contents.items():
                final = _final(path)
                final.parent.mkdir(parents=True, exist_ok=True)
                part = parts[final] = final.with_name(f".{secrets.token_hex(8)}")
                with part.open("xb") as file:
                    file.write(content)
                if final.exists():
                    shutil.copymode(final, part)
        yield
        with _errors_of_writing():
            for final, part in parts.items():
                part.replace(final)
    finally:
        for part in parts.values():
            with suppress(OSError, MemoryError):
                part.unlink()


def resolved(path: Path) -> Path:
    """The path without links; raises `RuntimeError` if they form a loop, as before Python 3.13."""
    found = path.resolve()
    if found.is_symlink():
        raise RuntimeError("a loop of links")
    return found


def _final(path: Path) -> Path:
    """The file that a path stands for; raises `InvalidValue` if something else is there, such as a directory."""
    final = resolved(path)
    if final.is_dir():
        raise InvalidValue(f"{path.name} is a directory: name a file, in it or elsewhere")
    if final.exists() and not final.is_file():
        raise InvalidValue(f"{path.name} exists and is not a regular file: write to another path")
    return final


@contextmanager
def _errors_of_writing() -> Iterator[None]:
    try:
        with within_memory():
            yield
    except InvalidValue:
        raise
    except OSError as error:
        raise InvalidValue(f"the output cannot be written ({error.strerror}): check the path and disk space") from None
    except (ValueError, RuntimeError):
        raise InvalidValue("the path contains a null character or a loop of links: check the path") from None
