"""Processes in which the page's questions are answered: one question at a time, ended when it takes too long.

A thread cannot be ended from outside, a process can. Questions and answers go through pipes, and nothing about them is
written down: the error of a task that fails unexpectedly is reported by its type and place only.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Literal

from dpwords._kernels.compiler import after_compiling
from dpwords.core.limits import DEFAULTS, limit_address_space
from dpwords.errors import NO_MEMORY, DPWordsError, TooLarge, own_failure
from dpwords.web.messages import Message, on_page

ShowProgress = Callable[[float], None]
Event = Literal["progress", "done", "refused"]
_STEP = 0.1  # seconds between looks at whether somebody still waits for the answer


class Worker:
    """A process that answers questions, started by `start` or the first one, and again after one had to be ended.

    `answer` is imported there by its name, so it has to be a function of a module. A question that needs more `memory`,
    in bytes of address space, is refused; the process goes on where Python notices, and is replaced otherwise.
    """

    def __init__(self, answer: Callable[[str, Message, ShowProgress], Message], memory: int = DEFAULTS.worker) -> None:
        self._answer, self._memory = answer, memory
        self._turn = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None
        self._compiled = -math.inf  # when the process last compiled something

    def ask(self, task: str, question: Message, seconds: float) -> Generator[tuple[Event, Any] | None]:
        """Fractions of progress, and then the answer or the reason of a refusal; None while there is nothing new.

        Closing the iterator before the answer ends the process. Raises `TooLarge` after `seconds`, or if other
        questions keep the process busy for so long. Compiling loops, which the first questions after an installation
        need, does not count: the time starts again whenever something has been compiled.
        """
        end = time.monotonic() + seconds
        while not self._turn.acquire(timeout=_STEP):
            end = max(end, self._compiled + seconds)
            if time.monotonic() > end:
                raise TooLarge("an earlier question is still being computed: wait for it, or cancel it")
            yield None
        answered = False
        try:
            pipe = self.start()
            pipe.send((task, question))
            while not answered:
                if time.monotonic() > end:
                    raise TooLarge(
                        f"this took longer than {seconds:g} seconds: use a shorter word, a smaller system or a larger "
                        "ε, or the command line, which has no such limit"
                    )
                if not pipe.poll(_STEP):
                    yield None
                    continue
                kind, value = pipe.recv()
                if kind == "compiled":
                    self._compiled = time.monotonic()
                    end = self._compiled + seconds
                    continue
                answered = kind != "progress"
                yield kind, value
        except (EOFError, OSError):
            raise TooLarge("the computation ran out of memory: use a shorter word or a smaller system") from None
        finally:
            if not answered:
                self.stop()
            self._turn.release()

    def stop(self) -> None:
        """End the process and what it is computing. The next question starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()
            process.close()
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def start(self) -> Connection:
        """Start the process unless it is running. It is ready for questions after about a second."""
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            self.stop()
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=_work, args=(other, self._answer, self._memory), daemon=True)
            self._process.start()
            other.close()
        return self._pipe


def _work(pipe: Connection, answer: Callable[[str, Message, ShowProgress], Message], memory: int) -> None:
    """Answer questions until the pipe is closed."""
    limit_address_space(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this process
    warnings.simplefilter("ignore")  # what is worth knowing is part of the answers
    turn = threading.Lock()  # several threads may compile

    def send(kind: str, value: Any) -> None:
        with turn:
            pipe.send((kind, value))

    after_compiling(lambda: send("compiled", None))
    with suppress(EOFError, OSError):
        while True:
            send(*_answered(answer, pipe.recv(), lambda done: send("progress", done)))  # and forget the question


def _answered(
    answer: Callable[[str, Message, ShowProgress], Message], asked: tuple[str, Message], progress: ShowProgress
) -> tuple[Event, Any]:
    """The answer to a task and its question, or why there is none."""
    try:
        return "done", answer(*asked, progress)
    except DPWordsError as error:
        return "refused", on_page(error)
    except MemoryError:
        return "refused", NO_MEMORY
    except Exception as error:
        return "refused", own_failure(error)
