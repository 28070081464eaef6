"""dpwords ledger"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpwords.cli.tables import table
from dpwords.cli.terminal import Terminal, emit
from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue

if TYPE_CHECKING:
    from dpwords.core.id_kinds import Id
    from dpwords.ledger import Charge, Ledger


@click.group(invoke_without_command=True, short_help="Show how much ε has been spent for each person.")
@click.pass_context
def ledger(context: click.Context) -> None:
    """Show how much ε has been spent for each person, over all releases.

    A ledger is filled by 'dpwords release --ledger FILE', which charges every id before it draws, and refuses what
    would exceed the budget.

    \b
    Examples:
      dpwords ledger show ledger.db
      dpwords ledger show ledger.db --id ann
      dpwords ledger as-text ledger.db
    """
    if context.invoked_subcommand is None:
        emit(context.get_help().splitlines())


@ledger.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--id", "one", help="Show the charges of this id only.")
@click.option("--limit", type=int, default=20, show_default=True, help="Show at most so many ids or charges.")
def show(file: Path, one: str | None, limit: int) -> None:
    """Show what each id has spent and what is left of its budget: those that have spent most come first.

    With --id, show each charge of one id, the latest last. A ledger names people, so it is for its owner only.

    \b
    Examples:
      dpwords ledger show ledger.db
      dpwords ledger show ledger.db --limit 100
      dpwords ledger show ledger.db --id ann
    """
    whole_number(limit, "--limit", 1)
    found = _opened(file)
    emit(_accounts(found, limit) if one is None else _charges(found, one, limit))


@ledger.command("as-text", short_help="Write ids that are whole numbers as texts.")
@click.argument("file", type=click.Path(path_type=Path))
def as_text(file: Path) -> None:
    """Write ids that are whole numbers as texts, as releases of tables name people; nothing is lost.

    Earlier versions took 1 in a Parquet file and 1 in a CSV file for two people. They become one, and what both have
    spent is added up, even if that is more than the budget.

    \b
    Example:
      dpwords ledger as-text ledger.db
    """
    found = _opened(file)
    found.as_text()
    emit([f"ids that were whole numbers are texts now in {file.name}"])


def _opened(file: Path) -> Ledger:
    """The ledger in a file."""
    if not file.is_file() or not file.stat().st_size:  # an empty file would become a ledger
        raise InvalidValue("there is no ledger at this path: check it, or make one with dpwords release --ledger")
    from dpwords.ledger import Ledger

    return Ledger(file)


def _accounts(found: Ledger, limit: int) -> list[str]:
    """The ids that have spent most, and what all of them have in common."""
    budget, count, accounts = found.budget, len(found), found.accounts(limit)
    title = f"{count} id{'' if count == 1 else 's'}, " + (
        "no budget" if budget is None else f"a budget of {budget:.12g} each"
    )
    if not accounts:
        return [title]
    several = len(found.kinds()) > 1
    rows = [
        (_name(each.id, several), f"{each.spent:.12g}", None if budget is None else f"{each.left:.12g}", str(each.runs))
        for each in accounts
    ]
    lines = [title, *table(("id", "spent", "left", "runs"), rows, Terminal.of_output())]
    if count > len(accounts):
        lines.append(f"({count - len(accounts)} more have spent no more than these: --limit shows them)")
    if several:
        lines.append("(ids of several kinds, so that 1 and '1' are two people: dpwords ledger as-text adds them up)")
    neighbours = found.neighbours()
    if len(neighbours) > 1:
        least = min(k for distance, k in neighbours if distance != "any")  # a report hides any change
        lines.append(
            f"(charged at several k or distances: the sums hold for substitutions in at most k = {least} positions)"
        )
    return lines


def _charges(found: Ledger, one: str, limit: int) -> list[str]:
    """The latest charges of an id, given as a text that stands for a whole number if the ledger has those."""
    lines: list[str] = []
    several = len(found.kinds()) > 1
    for kind in (str, int):
        id: Id = one
        entries: list[Charge] = []
        with suppress(ValueError):  # the text is no number, or the ledger has ids of the other kind
            id = kind(one)
            entries = found.entries(id)
        if entries:
            left = "" if found.budget is None else f", {found.left(id):.12g} left"
            count = "" if len(entries) <= limit else f" (the latest {limit} of {len(entries)} charges)"
            lines.append(f"{_name(id, several)}: {found.spent(id):.12g} spent{left}{count}")
            header = ("time", "ε", "k", "distance", "calibration", "run")
            rows = [
                (e.time, f"{e.epsilon:.12g}", str(e.k), e.distance, e.method, _name(e.run)) for e in entries[-limit:]
            ]
            lines += table(header, rows, Terminal.of_output())
    return lines or ["nothing has been charged for this id"]


def _name(id: Id, quoted: bool = False) -> str:
    """An id on one line; bytes, and texts that cannot be shown as they are, are quoted, or all texts."""
    plain = isinstance(id, str) and id.isprintable() and id.strip() == id != "" and not quoted
    return str(id) if plain or isinstance(id, int) else repr(id)
