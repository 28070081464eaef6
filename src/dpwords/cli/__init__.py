"""The command line. Each subcommand has its own module; heavy imports happen only when a command runs."""

from __future__ import annotations

import io
import sys
import warnings
from contextlib import suppress
from typing import Any

import click

from dpwords.cli.accuracy import accuracy
from dpwords.cli.audit import audit
from dpwords.cli.draw import draw
from dpwords.cli.ledger import ledger
from dpwords.cli.release import release
from dpwords.cli.study import study
from dpwords.errors import DPWordsError, InvalidValue


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dpwords")
def cli() -> None:
    """Release differentially private versions of words and of runs of transition systems.

    \b
    Examples:
      dpwords release "gattaca" --alphabet acgt --epsilon 3
      dpwords release EESS --system grid:15x15 --epsilon 5
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords audit --alphabet ab --length 4 --epsilon 1
      dpwords draw abc --alphabet abc -k 2 --output automaton.svg
      dpwords study strings
      dpwords ledger show ledger.db
    """


cli.add_command(release)
cli.add_command(accuracy)
cli.add_command(audit)
cli.add_command(draw)
cli.add_command(study)
cli.add_command(ledger)


_KINDS = {"float": "a number", "integer": "a whole number", "text": "a text", "path": "a path"}


def main() -> None:
    """Run a command. Exit code 0: done; 1: a check failed; 2: wrong usage or bad input, reported in one line."""
    warnings.showwarning = _warn
    try:
        code = _run(sys.argv[1:])
    except click.ClickException as error:
        code = _complain(_without_arguments(error))
    except DPWordsError as error:
        code = _complain(str(error))
    except MemoryError:
        code = _complain("there is not enough memory for this: use a shorter word or a smaller system")
    except OSError as error:
        code = _complain(f"reading or writing failed ({error.strerror}): check where input comes from and output goes")
    except (click.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if any("\ud800" <= character <= "\udfff" for argument in arguments for character in argument):
        raise InvalidValue("an argument is not text in this locale's encoding: set PYTHONUTF8=1 or a UTF-8 locale")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for help texts only; results raise an error instead
    return cli.main(arguments or ["--help"], prog_name="dpwords", standalone_mode=False) or 0


def _without_arguments(error: click.ClickException) -> str:
    """The message for wrong usage, without repeating any argument, since it may be a private word."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "dpwords"
    remedy = f"see {command} --help"
    if isinstance(error, click.NoSuchOption):
        return f"there is no such option; words that begin with a hyphen go after -- or to standard input: {remedy}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        option = error.param.opts[0]
        if isinstance(error, click.MissingParameter):
            return f"{option} is missing: {remedy}"
        kind = error.param.type
        rule = f"one of {', '.join(kind.choices)}" if isinstance(kind, click.Choice) else _KINDS[kind.name]
        return f"{option} takes {rule}, but was given something else: {remedy}"
    if context is not None and isinstance(context.command, click.Group):
        return f"there is no such command: use one of {', '.join(context.command.commands)}"
    return f"the arguments do not match the command: {remedy}"


def _warn(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """Print a warning as one line, without the location in the code."""
    _complain(f"note: {message}")


def _complain(message: str) -> int:
    if sys.stderr is not None:
        with suppress(OSError):  # if standard error cannot be written, the exit code still reports the failure
            print("dpwords: " + " ".join(message.split()), file=sys.stderr, flush=True)
    return 2
