"""What lies beside the output of a release until it is finished: its key, its options, and batches that took long.

The directory `.NAME.dpwords` can be read by its owner only. Everything in it can be made again from the key and the
input, so a release that was killed gives the same output when it is resumed. When the output is in place, the key is
overwritten and the directory is removed.
"""

from __future__ import annotations

import hmac
import io
import json
import os
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from dpwords.core.files import read_text
from dpwords.core.keyed import KEY_BYTES
from dpwords.errors import InvalidValue, named

_TAG = 32  # bytes


class Unfinished:
    """The directory of one release. It counts as begun when it has its file `run.json`, which is written last."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.folder = output.with_name(f".{output.name}.dpwords")
        self.part, self.receipt = self.folder / "output", self.folder / "receipt"  # before the output is complete
        self._lock: IO[bytes] | None = None

    @property
    def is_begun(self) -> bool:
        """Whether something may have been drawn or recorded, and nothing but this directory can repeat it."""
        return (self.folder / "run.json").exists()

    def claim(self, resume: bool) -> None:
        """Make sure that no other release has this output, and that nothing begun is forgotten without a word."""
        if self.is_begun and not resume:
            raise InvalidValue(
                f"an unfinished release wrote to {self.output.name}: finish it with {named('resume', True)}, or delete "
                f"{self.folder.name} beside it, and what a ledger has recorded for it stays spent"
            )
        self.folder.mkdir(mode=0o700, exist_ok=True)
        found = self.folder.lstat()
        foreign = hasattr(os, "getuid") and found.st_uid != os.getuid()
        if not stat.S_ISDIR(found.st_mode) or foreign or (os.name == "posix" and found.st_mode & 0o077):
            raise InvalidValue(
                f"{self.folder.name} can be read or written by others than its owner, and it has the key of a release: "
                "delete it, or write to another directory"
            )
        lock = (self.folder / "lock").open("wb")
        if not _locked(lock):
            lock.close()
            raise InvalidValue(f"another process is writing {self.output.name}: wait until it has ended")
        self._lock = lock
        if not self.is_begun:
            self._clear()  # what is left of one that was killed before it was begun, or after it was finished

    def release(self) -> None:
        """Let others have this output. If the release was not begun, or is finished, the key is destroyed with all
        else."""
        if self._lock is not None:
            if not self.is_begun and self.folder.exists():
                self._clear()
                shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):  # nothing was written to it
                self._lock.close()
            self._lock = None

    def key(self) -> bytes | None:
        """The key of the release that was begun; None if it is one of the user's."""
        try:
            key = (self.folder / "key").read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InvalidValue(
                f"the key of the unfinished release cannot be read ({error.strerror}): {self._give_up}"
            ) from None
        if len(key) != KEY_BYTES:
            raise InvalidValue(f"the key of the unfinished release is damaged: {self._give_up}")
        return key

    def begin(self, key: bytes | None, facts: Mapping[str, Any]) -> None:
        """Write the key, unless it is the user's own, and then the facts, so that both survive a crash."""
        if key is not None:
            descriptor = os.open(self.folder / "key", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                _write_durably(file, key)
        with (self.folder / "run").open("wb") as file:
            _write_durably(file, json.dumps(facts, indent=1).encode())
        sync_directory(self.folder)
        try:
            (self.folder / "run").replace(self.folder / "run.json")
        except OSError:
            if self.is_begun:  # the system had renamed the file before it failed
                self.forget()
            raise
        sync_directory(self.folder)
        sync_directory(self.folder.parent)

    def forget(self) -> None:
        """Undo `begin`: nothing was drawn, and nothing was recorded."""
        (self.folder / "run.json").unlink()
        sync_directory(self.folder)

    def check_same(self, facts: Mapping[str, Any]) -> None:
        """Raise `InvalidValue` unless these are the facts of the release that was begun."""
        try:
            found = json.loads(read_text(self.folder / "run.json"))
            other = [name for name in facts if found.get(name) != facts[name]]
        except (ValueError, AttributeError, RecursionError):
            raise InvalidValue(f"what is known of the unfinished release is damaged: {self._give_up}") from None
        if other:
            raise InvalidValue(
                f"the unfinished release had another {other[0].replace('_', ' ')}: resume it with the same input and "
                f"options, or {self._give_up}"
            )

    def save(self, number: int, batch: pa.RecordBatch, secret: bytes) -> None:
        """Keep a batch of the output. Cost: its size."""
        content = io.BytesIO()
        with pa.ipc.new_stream(content, batch.schema) as stream:
            stream.write_batch(batch)
        written = content.getvalue()
        self._saved(number).write_bytes(_tag(secret, number, written) + written)

    def saved(self, number: int, secret: bytes) -> pa.RecordBatch | None:
        """A batch that was saved; None if there is none, or if it was cut off."""
        try:
            content = self._saved(number).read_bytes()
        except FileNotFoundError:
            return None
        tag, written = content[:_TAG], content[_TAG:]
        if not hmac.compare_digest(tag, _tag(secret, number, written)):
            return None
        return pa.ipc.open_stream(written).read_next_batch()

    @property
    def has_saved(self) -> bool:
        """Whether a batch was saved."""
        return any(self.folder.glob("batch-*"))

    def finish(self, receipt: Path | None) -> None:
        """Put the output in its place, then destroy the key and the directory."""
        finals = {self.part: self.output} | ({self.receipt: receipt} if receipt is not None else {})
        for part, final in reversed(finals.items()):
            with part.open("rb") as file:
                os.fsync(file.fileno())
            if final.exists():
                shutil.copymode(final, part)
            part.replace(final)
        sync_directory(self.output.parent)
        self.forget()  # first, so that nobody goes on with a key that is overwritten
        self.release()

    def _clear(self) -> None:
        """Overwrite a key, and remove everything but the lock."""
        with suppress(OSError), (self.folder / "key").open("r+b") as file:
            _write_durably(file, bytes(KEY_BYTES))
        for path in self.folder.iterdir():
            if path.name != "lock":
                path.unlink()

    @property
    def _give_up(self) -> str:
        return f"delete {self.folder.name} beside the output, and what a ledger has recorded for it stays spent"

    def _saved(self, number: int) -> Path:
        return self.folder / f"batch-{number}"


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the system can."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_durably(file: IO[bytes], content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def _tag(secret: bytes, number: int, content: bytes) -> bytes:
    return hmac.digest(secret, b"%d " % number + content, "sha256")


def _locked(file: IO[bytes]) -> bool:
    """Whether this process has the file for itself until it ends; where files cannot be locked, it is assumed."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
