"""dpwords completion, and what the Tab key offers for the values of options: public names and files, never any data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from glob import escape, glob

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    split_arg_string,
)

from dpwords.cli.terminal import emit

VARIABLE = "_DPWORDS_COMPLETE"  # the shells' scripts set it when Tab is pressed; click's usual name
_PROGRAM = "dpwords"
_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value

    response=$(env COMP_WORDS="${COMP_LINE:0:COMP_POINT}" COMP_CUR="$2" %(complete_var)s=bash_complete "$1")

    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"

        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
            if [[ $value == *[:/] ]]; then
                compopt -o nospace
            fi
        fi
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
Completer = Callable[[click.Context, click.Parameter, str], list["CompletionItem[str]"]]


def offer(values: Callable[[str], Iterable[str]], files: bool = False) -> Completer:
    """For `shell_complete=` of `click.option`: those of some values that begin like the text, and names of files.

    The shell finds the files by itself. `values` are computed, and what they need is imported, when Tab is pressed.
    """

    def offered(_context: click.Context, _parameter: click.Parameter, text: str) -> list[CompletionItem[str]]:
        found = [CompletionItem(text, type="file")] if files else []
        return found + [CompletionItem(value) for value in values(text) if value.startswith(text)]

    return offered


def _alphabets(text: str) -> list[str]:
    """Alphabets that have a name; after an @, names of files."""
    from dpwords.recipes.notation import NAMED_ALPHABETS

    if text.startswith("@"):
        return [f"@{name}{'/' if os.path.isdir(name) else ''}" for name in sorted(glob(escape(text[1:]) + "*"))]
    return [f"name:{name}" for name in NAMED_ALPHABETS]


def _rules(_text: str) -> list[str]:
    from dpwords.languages import rules

    return [f"{name}:" for name in (*rules.__all__, "re")]


FILES = offer(lambda _text: (), files=True)
SYSTEMS = offer(lambda _text: ["grid:"], files=True)
PRIORS = offer(lambda _text: ["uniform", "predictable"], files=True)
ALPHABETS = offer(_alphabets)
RULES = offer(_rules)


class BashWords(BashComplete):
    """Completion for Bash of values that contain a colon or an @, at which Bash begins a new word.

    It reads the command line itself, up to the cursor, instead of the words that Bash makes of it.
    """

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The arguments before the one that the cursor is at, and that one."""
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        return (words[:-1], words[-1]) if words and not line[-1].isspace() else (words, "")

    def complete(self) -> str:
        """The completions without what stands before the word that Bash replaces: after name:d it replaces d."""
        args, incomplete = self.get_completion_args()
        value = incomplete.partition("=")[2] if incomplete.startswith("--") and "=" in incomplete else incomplete
        replaced = "".join(split_arg_string(os.environ["COMP_CUR"]))
        kept = value.removesuffix(replaced) if value.endswith(replaced) else ""
        found = self.get_completions(args, incomplete)
        return "\n".join(f"{item.type},{item.value.removeprefix(kept)}" for item in found)


_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashWords, "zsh": ZshComplete, "fish": FishComplete}


@click.command(short_help="Print a script for completion with the Tab key.")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
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
    emit(_SHELLS[shell](context.find_root().command, {}, _PROGRAM, VARIABLE).source().splitlines())


def complete(cli: click.Command) -> bool:
    """Answer a shell that asks for completions; False if none is asking."""
    shell, _, instruction = os.environ.get(VARIABLE, "").partition("_")
    if shell not in _SHELLS or instruction not in ("complete", "source"):
        return False
    completer = _SHELLS[shell](cli, {}, _PROGRAM, VARIABLE)
    emit((completer.source() if instruction == "source" else completer.complete()).splitlines())
    return True
