"""dpwords audit"""

from __future__ import annotations

from typing import Any

import click

from dpwords.cli.colours import Terminal
from dpwords.cli.help import SectionedCommand
from dpwords.cli.options import (
    described,
    language_options,
    mechanism_options,
    public_language,
    refuse,
    report_option,
)
from dpwords.cli.tables import facts, verdict
from dpwords.cli.terminal import emit


@click.command(cls=SectionedCommand, short_help="Measure ε over all words, and compare it with the claim.")
@language_options
@click.option(
    "--length", type=int, required=True, help="The length of the words, of which at most 1,024 can be compared."
)
@click.option("--epsilon", "-e", type=float, required=True, help="The claimed ε.")
@report_option
@mechanism_options
@click.option("--literal", is_flag=True, help="Audit the paper's literal mechanism instead, whose claim does not hold.")
def audit(length: int, epsilon: float, literal: bool, **options: Any) -> int:
    """Measure ε over every pair of words and every output, and compare it with the claim.

    With --edits all, the audit covers all words of at most this length, and outputs of up to two more symbols if they
    can be listed. A channel onto a system is audited before the projection, which cannot increase ε. With --report, it
    covers all words of at most this length, and all answers. The exit code is 1 if the claim is broken.

    \b
    Examples:
      dpwords audit --alphabet ab --length 5 --epsilon 1
      dpwords audit --system grid:3x3 --words states --length 4 --epsilon 2
      dpwords audit --alphabet ab --length 4 --epsilon 2 --edits all
      dpwords audit --alphabet abc --length 4 --epsilon 1 --report symbols
      dpwords audit --alphabet abc --length 4 --epsilon 1 --literal
    """
    from dpwords import audit as audits
    from dpwords.bridges.notation import Notation
    from dpwords.mechanisms.edit_channel import EditChannel
    from dpwords.mechanisms.mechanism import Mechanism
    from dpwords.mechanisms.paper_literal import PaperLiteral
    from dpwords.mechanisms.private import Private
    from dpwords.mechanisms.report import Report

    if literal:
        refuse("--literal is a mechanism of its own", "edits", "mechanism", "report", "utility", "calibration")
    notation = Notation(public_language(**options))
    mechanism: Mechanism = (
        PaperLiteral(notation.language, epsilon, k=options["k"], alpha=options["alpha"])
        if literal
        else described(notation.language, epsilon, **options)
    )
    if isinstance(mechanism, EditChannel):
        mechanism = mechanism.without_projection()
    found = audits.exact(mechanism, length)
    shorter = "" if mechanism.distance == "hamming" else " or less"
    rows = [
        ("words", f"{found.words} of length {length}{shorter}"),
        ("claimed ε", f"{found.claimed:.9g}"),
        ("measured ε", f"{found.epsilon:.9g}"),
    ]
    if found.worst is not None:
        word, neighbour = (notation.write(word) for word in found.worst[:2])
        apart, output = f" (distance {found.worst.distance})", found.worst.output
        if isinstance(mechanism, Report):
            apart, output = "", mechanism.written(output)
        else:
            output = notation.write(output)
        rows.append(("worst pair", f"'{word}' and '{neighbour}'{apart}"))
        steps = -(-found.worst.distance // mechanism.k)
        each = f", {found.worst.loss / steps:.9g} for each of {steps} steps of k" if steps > 1 else ""
        rows.append(("", f"at output '{output}': log-ratio {found.worst.loss:.9g}{each}"))
    if isinstance(mechanism, Private):
        rows.append(("in force", mechanism.in_force(length).text))
    terminal = Terminal.of_output()
    says = "the claim holds" if found.holds else "THE CLAIM IS BROKEN"
    emit([*facts(rows, terminal), *verdict(says, found.holds, terminal)])
    return 0 if found.holds else 1
