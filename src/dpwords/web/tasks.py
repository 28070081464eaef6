"""What the page can ask for: one line for each task, by the address to which the page sends its question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from dpwords.web.messages import Message
from dpwords.web.workers import ShowProgress

Lane = Literal["quick", "long"]
FILE_BYTES = 2**26 + 2**21  # a file of 64 MiB with its settings


@dataclass(frozen=True)
class Task:
    """Which function answers a question, with `module` inside of `dpwords.web`, and what it may cost.

    Quick tasks answer while a slider moves, and do not wait for long ones. `seconds` and `bytes` are limits.
    """

    module: str
    function: str
    lane: Lane = "quick"
    seconds: float = 10.0
    bytes: int = 2**18


TASKS = {
    "words/release": Task("words", "release"),
    "odds/explain": Task("odds", "explain"),
    "odds/audit": Task("odds", "audit", "long", seconds=120.0),
    "odds/guess": Task("odds", "guessed", "long", seconds=120.0),
    "odds/curve": Task("odds", "curve", "long", seconds=120.0),
    "runs/release": Task("runs", "release", bytes=2**21),
    "runs/random": Task("runs", "random_run", bytes=2**21),
    "runs/certified": Task("runs", "certified", "long", seconds=120, bytes=2**21),
    "runs/load": Task("runs", "load", "long", seconds=60, bytes=2**23),
    "data/look": Task("data", "look", "long", seconds=120, bytes=FILE_BYTES),
    "data/symbols": Task("data", "symbols", "long", seconds=300, bytes=FILE_BYTES),
    "data/check": Task("data", "check", "long", seconds=600, bytes=FILE_BYTES),
    "data/summary": Task("data", "summary", "long", seconds=1_800, bytes=2**21),
    "data/release": Task("data", "release", "long", seconds=3_600, bytes=FILE_BYTES),
    "estimate/look": Task("estimate", "look", "long", seconds=120, bytes=FILE_BYTES),
    "estimate/answer": Task("estimate", "answer", "long", seconds=1_800, bytes=FILE_BYTES),
}


def answer(name: str, question: Message, progress: ShowProgress) -> Message:
    """The answer to a question."""
    task = TASKS[name]
    function: Callable[..., Message] = getattr(import_module(f"dpwords.web.{task.module}"), task.function)
    return function(question, progress)
