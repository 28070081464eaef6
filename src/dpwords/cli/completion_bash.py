"""Completion for Bash of values that contain a colon or an @, at which Bash begins a new word."""

from __future__ import annotations

import os

from click.shell_completion import BashComplete, split_arg_string

_SCRIPT = """\
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


class BashWords(BashComplete):
    """Completion that reads the command line itself, up to the cursor, instead of the words that Bash makes of it."""

    source_template = _SCRIPT

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
