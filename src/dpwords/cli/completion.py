"""dpwords completion"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from dpwords.cli.terminal import emit

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

VARIABLE = "_DPWORDS_COMPLETE"  # the shells' scripts set it when Tab is pressed; click's usual name
_PROGRAM = "dpwords"
_SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print a script for completion with the Tab key.")
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script with which the Tab key completes commands, options, their values and names of files.

    Nothing is read from data files, so no word can be offered. The script runs dpwords each time Tab is pressed.

    \b
    Examples:
      echo 'eval "$(dpwords completion bash)"' >> ~/.bashrc
      echo 'eval "$(dpwords completion zsh)"' >> ~/.zshrc      # after the line with compinit
      dpwords completion fish > ~/.config/fish/completions/dpwords.fish
    """
    emit(_completer(context.find_root().command, shell).source().splitlines())


def complete(cli: click.Command) -> int | None:
    """Answer a shell that asks for completions, and return the exit code; None if none is asking."""
    shell, _, instruction = os.environ.get(VARIABLE, "").partition("_")
    if shell not in _SHELLS or instruction not in ("complete", "source"):
        return None
    completer = _completer(cli, shell)
    emit((completer.source() if instruction == "source" else completer.complete()).splitlines())
    return 0


def _completer(cli: click.Command, shell: str) -> ShellComplete:
    from click.shell_completion import FishComplete, ZshComplete

    from dpwords.cli.completion_bash import BashWords

    classes = {"bash": BashWords, "zsh": ZshComplete, "fish": FishComplete}
    return classes[shell](cli, {}, _PROGRAM, VARIABLE)
