"""What 'dpwords audit' says: measured beside claimed, for the distance of the pair that it is about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpwords.audit import ChannelAudit, ExactAudit, Proportion, StatisticalAudit
    from dpwords.mechanisms.mechanism import Mechanism
    from dpwords.recipes.notation import Notation

FactRows = list[tuple[str, str]]


def exact_rows(found: ExactAudit, mechanism: Mechanism, notation: Notation, length: int) -> FactRows:
    """The result of an exact audit."""
    shorter = "" if mechanism.distance == "hamming" else " or less"
    rows = [("words", f"{found.words} of length {length}{shorter}"), *_epsilons(found.claimed, f"{found.epsilon:.9g}")]
    worst = found.worst
    if worst is not None:
        word, neighbour = (notation.write(word) for word in worst[:2])
        if mechanism.answers is not None:
            apart, about, output = "", "any two words", mechanism.answers.written(worst.output)
        else:
            about, output = _about(worst.distance, found.k), notation.write(worst.output)
            apart = f" (distance {worst.distance})"
        rows += [
            ("worst pair", f"'{word}' and '{neighbour}'{apart}"),
            ("its loss", f"{worst.loss:.9g}, at output '{output}'"),
            ("its claim", f"{found.allowed:.9g} for {about}"),
        ]
    if found.draws:
        rows.append(("draws", f"{found.draws} in all; they do not contradict the probabilities"))
    in_force = getattr(mechanism, "in_force", None)  # of mechanisms with a promise
    if in_force is not None:
        rows.append(("in force", in_force(length).text))
    return rows


def channel_rows(found: ChannelAudit) -> FactRows:
    """The result of the audit of a channel."""
    rows = [("channel", f"{found.inputs} inputs, {found.outputs} outputs")]
    if found.compared < found.pairs:
        rows.append(("compared", f"{found.compared} of {found.pairs} pairs; the others are at infinite distance"))
    rows += _epsilons(found.claimed, f"{found.epsilon:.9g}")
    worst = found.worst
    if worst is not None:
        rows.append(("worst pair", f"'{worst.input}' and '{worst.neighbour}' (distance {worst.distance:g})"))
        rows.append(("its loss", f"{worst.loss:.9g}, at output '{worst.output}'"))
        if found.allowed is not None:
            rows.append(("its claim", f"{found.allowed:.9g} for {_about(worst.distance, found.k)}"))
    return rows


def statistical_rows(found: StatisticalAudit, word: str, neighbour: str, any_two: bool) -> FactRows:
    """The result of a statistical audit; with `any_two`, the promise is for any two words, whatever their distance."""
    from dpwords.audit.samplers import WHY

    rows = [
        ("words", f"'{word}' and '{neighbour}'" + ("" if any_two else f" (distance {found.distance:g})")),
        ("draws", f"{found.draws} of each word; confidence {found.confidence:g}"),
    ]
    if found.loss == math.inf:
        rows += [*_epsilons(found.claimed, "inf"), ("its loss", f"inf: {found.repeats}, and {WHY}")]
    else:
        rows += [*_epsilons(found.claimed, f"{found.epsilon:.4g} or more"), ("its loss", f"{found.loss:.4g} or more")]
    if found.allowed is not None:
        about = "any two words" if any_two else _about(found.distance, found.k)
        rows.append(("its claim", f"{found.allowed:.9g} for {about}"))
    more = "" if found.allowed is None or found.reach > found.allowed else ", and cannot break this claim: use more"
    return [
        *rows,
        ("event", found.event),
        ("", _proportion(found.of_word, "word")),
        ("", _proportion(found.of_neighbour, "neighbour")),
        ("reach", f"so many draws can show a loss of at most {found.reach:.4g}{more}"),
    ]


def says(found: Any) -> str:
    """The verdict, in words that cannot be taken for more than was found."""
    if found.claimed is None:
        return "nothing was claimed: give --epsilon to check a claim"
    if found.holds is None:
        return f"the claim is {found.verdict}"
    if not found.holds:
        return "THE CLAIM IS BROKEN"
    return "the claim is not accused, which does not prove it" if hasattr(found, "reach") else "the claim holds"


def _epsilons(claimed: float | None, measured: str) -> FactRows:
    return [("claimed ε", "none" if claimed is None else f"{claimed:.9g}"), ("measured ε", measured)]


def _about(distance: float, k: int) -> str:
    """The distance that a claim is for, and how many times ε it is, where that is not the same."""
    steps = -(-distance // k)
    times = f" ({steps:g} × ε, as k = {k})" if k > 1 else ""
    return f"distance {distance:g}{times}"


def _proportion(proportion: Proportion, name: str) -> str:
    side = "at least" if proportion.is_lower else "at most"
    return f"{proportion.hits} of {proportion.draws} for the {name}: {side} {100 * proportion.bound:.3g}%"
