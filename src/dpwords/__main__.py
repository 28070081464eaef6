"""The command `dpwords`, also as `python -m dpwords`. Ctrl-C ends it at any moment: one line, exit code 130."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_CLEAN_LINE = b"\r\x1b[K\x1b[?25h"  # without the rest of a progress bar, and with a cursor
INTERRUPTED = 130  # the exit code that a shell reports for a program ended by SIGINT


def main() -> None:
    """Run a command. Its modules are imported here, so that Ctrl-C is handled while they are being imported, too."""
    usual = sys.unraisablehook

    def hook(unraisable: UnraisableHookArgs) -> None:
        """End the process if Ctrl-C came where Python ignores exceptions, as in a finaliser."""
        if unraisable.exc_type is KeyboardInterrupt:
            _leave()
        usual(unraisable)

    sys.unraisablehook = hook
    try:
        from dpwords.cli import main as command

        command()
    except KeyboardInterrupt as interruption:
        _leave(str(interruption))


def _leave(more: str = "") -> NoReturn:
    """Say that the command was interrupted, and end without waiting for threads that are still computing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stderr is not None:
        with suppress(OSError):
            line = f"dpwords: interrupted{': ' if more else ''}{more}\n".encode()
            os.write(2, (_CLEAN_LINE if os.isatty(2) else b"") + line)
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
