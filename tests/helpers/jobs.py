"""Runs from file to file for tests, in this process or in one of their own."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import dpwords as dw
from dpwords.frames.jobs import FileRelease, Job
from dpwords.frames.requests import Request
from dpwords.frames.word_table import Plan

KEY = bytes(range(32))
OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}


def job(source: Path, target: Path, epsilon: float = 1.0, **request: Any) -> Job:
    """Words over four letters."""
    request.setdefault("column", "w")
    recipe = dw.Recipe.of({"epsilon": epsilon} | request)
    return Job(
        dw.Exponential(dw.Words("acgt"), epsilon), str(source), str(target), None, None, Request(**request), recipe
    )


def run(some: Job, key: bytes | None = None, resume: bool = False, ledger: Any = None, **more: Any) -> Plan | None:
    """Both steps of a run; None if it was complete."""
    progress = more.pop("progress", lambda rows: None)
    with FileRelease(some, key, resume, **more) as found:
        if found.is_complete:
            return None
        plan = found.survey(lambda rows: None, charged=ledger is not None)
        found.write(plan, ledger, progress)
        return plan


def run_with_own_key(some: Job, secret: bytes) -> None:
    """Both steps of a run whose own key, which is fresh for each run, happens to be this one."""
    with mock.patch("secrets.token_bytes", return_value=secret):
        run(some)


def killed_at(moment: int, some: Job, *arguments: Any, **named: Any) -> None:
    """A run in this process, which kills itself when it begins the given operation on the files of its output.

    Operations are those that Python announces to audit hooks, such as opening, renaming and removing, and fsync.
    """
    count, name = 0, Path(some.target).name

    def happens() -> None:
        nonlocal count
        count += 1
        if count == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in OPERATIONS and name in str(arguments[0]):
            happens()

    def watch(_frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ == "fsync":
            happens()

    sys.addaudithook(audit)
    sys.setprofile(watch)
    run(some, *arguments, **named)
    sys.setprofile(None)
