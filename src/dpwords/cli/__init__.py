"""The command line. Each subcommand has its own module; heavy imports happen only when a command runs."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from typing import Any

import click

from dpwords import __version__
from dpwords.cli import terminal
from dpwords.cli.accuracy import accuracy
from dpwords.cli.attack import attack
from dpwords.cli.audit import audit
from dpwords.cli.completion import complete, completion
from dpwords.cli.describe import describe
from dpwords.cli.draw import draw
from dpwords.cli.estimate import estimate
from dpwords.cli.ledger import ledger
from dpwords.cli.release import release
from dpwords.cli.serve import serve
from dpwords.cli.study import study
from dpwords.cli.terminal import BROKEN_PIPE, NO_OUTPUT, flush_output, note
from dpwords.errors import NO_MEMORY, DPWordsError, InvalidValue, one_line, own_failure, rendered, unchained
from dpwords.recipes.fields import as_option


class OrderedCommands(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(self.commands)


@click.group(
    cls=OrderedCommands,
    commands=(release, accuracy, estimate, describe, audit, attack, draw, study, ledger, serve, completion),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__)
def cli() -> None:
    """Release differentially private versions of words and of runs of transition systems.

    \b
    Examples:
      dpwords release "gattaca" --alphabet acgt --epsilon 3
      dpwords release EESS --system grid:15x15 --epsilon 5
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords estimate --input private.parquet --question transitions
      dpwords describe private.csv
      dpwords audit --alphabet ab --length 4 --epsilon 1
      dpwords attack --alphabet name:dna --length 20 --epsilon 1,2,3,5
      dpwords draw abc --alphabet abc -k 2 --output automaton.svg
      dpwords study strings
      dpwords ledger show ledger.db
      dpwords serve
    """


OWN_FAILURE = 3
_KINDS = {"float": "a number", "integer": "a whole number", "text": "a text", "path": "a path"}


def main() -> None:
    """Run a command. Exit code 0: done; 1: a check failed; 2: wrong usage or bad input, reported in one line.

    3: dpwords itself failed; `python -X dev -m dpwords` shows the traceback, which may have symbols of private words.
    141: nobody reads the output any more, which is not reported. `dpwords.__main__` handles Ctrl-C.
    """
    warnings.showwarning = _warn
    logging.getLogger("dpwords").handlers = [terminal.LoggedNotes()]
    try:
        code = _run(sys.argv[1:])
    except click.ClickException as error:
        code = _complain(_without_arguments(error))
    except DPWordsError as error:
        code = _complain(rendered(error.message, as_option))
    except MemoryError:
        code = _complain(NO_MEMORY)
    except BrokenPipeError:
        code = BROKEN_PIPE
    except OSError as error:
        code = _complain(f"reading or writing failed ({error.strerror}): check where input comes from and output goes")
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        terminal.error(own_failure(error))
        code = OWN_FAILURE
    sys.exit(code if flush_output() else code or 2)


@unchained()
def _run(arguments: list[str]) -> int:
    if complete(cli):
        return 0
    if any("\ud800" <= character <= "\udfff" for argument in arguments for character in argument):
        raise InvalidValue("an argument is not text in this locale's encoding: set PYTHONUTF8=1 or a UTF-8 locale")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # for help texts only; results raise an error instead
    try:
        with cli.make_context("dpwords", arguments or ["--help"]) as context:
            return cli.invoke(context) or 0
    except click.exceptions.Exit as done:  # a help text, or the version, was shown
        if sys.stdout is None:
            raise InvalidValue(NO_OUTPUT) from None
        return done.exit_code


def _without_arguments(error: click.ClickException) -> str:
    """The message for wrong usage, without repeating any argument, since it may be a private word."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "dpwords"
    remedy = f"see {command} --help"
    if isinstance(error, click.NoSuchOption):
        near = sorted(error.possibilities or ())
        if near:
            return f"there is no such option: did you mean {' or '.join(near)}?"
        return f"there is no such option; words that begin with a hyphen go after -- or to standard input: {remedy}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        option = error.param.opts[0] if isinstance(error.param, click.Option) else error.param.opts[0].upper()
        if isinstance(error, click.MissingParameter):
            return f"{option} is missing: {remedy}"
        kind = error.param.type
        rule = f"one of {', '.join(kind.choices)}" if isinstance(kind, click.Choice) else _KINDS[kind.name]
        return f"{option} takes {rule}, but was given something else: {remedy}"
    rule = "the arguments do not match the command"
    if isinstance(error, click.BadOptionUsage):  # only an option can be wrong here, and not its value
        takes = "takes no value" if "not take" in error.message else "needs a value after it"
        rule = f"{error.option_name} {takes}"
    elif context is not None and isinstance(context.command, click.Group):
        rule, remedy = "there is no such command", f"use one of {', '.join(context.command.commands)}"
    return f"{rule}: {remedy}"


def _warn(message: Warning | str, *_where: Any, **_more: Any) -> None:
    """Print a warning as one line, without the location in the code."""
    note(one_line(f"note: {message}"))


def _complain(message: str) -> int:
    terminal.error(one_line(message))
    return 2
