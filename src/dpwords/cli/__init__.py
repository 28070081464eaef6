"""The command line. Each subcommand is a file here; what is heavy is imported only when a command runs."""

from __future__ import annotations

import sys

import click

from dpwords.cli.accuracy import accuracy
from dpwords.cli.audit import audit
from dpwords.cli.release import release
from dpwords.errors import DPWordsError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dpwords")
def cli() -> None:
    """Differentially private versions of words and of runs of transition systems.

    \b
    Examples:
      dpwords release "gattaca" --alphabet acgt --epsilon 3
      dpwords release EESS --system grid:15x15 --epsilon 5
      dpwords accuracy --alphabet name:dna --length 20 --epsilon 1,2,5,10
      dpwords audit --alphabet ab --length 4 --epsilon 1
    """


cli.add_command(release)
cli.add_command(accuracy)
cli.add_command(audit)


def main() -> None:
    """Run a command: exit 0 when done, 1 when a check failed, 2 after one line about bad use or bad input."""
    try:
        code = cli.main(sys.argv[1:] or ["--help"], prog_name="dpwords", standalone_mode=False)
    except click.ClickException as error:
        code = _complain(error.format_message())
    except DPWordsError as error:
        code = _complain(str(error))
    except (click.Abort, KeyboardInterrupt):
        code = 130
    sys.exit(code)


def _complain(message: str) -> int:
    print("dpwords: " + " ".join(message.split()), file=sys.stderr)
    return 2
