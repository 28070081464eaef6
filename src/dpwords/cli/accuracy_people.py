"""dpwords accuracy --people: how precise estimates will be, before there is any data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dpwords.cli.tables import percentage, table
from dpwords.cli.terminal import Terminal, emit, status
from dpwords.errors import InvalidValue, TooLarge, rendered
from dpwords.recipes.fields import as_option

if TYPE_CHECKING:
    from dpwords.estimate import Forecast
    from dpwords.mechanisms.choice import Maker
    from dpwords.models.priors import Prior

_HEADER = ("ε", "mechanism", "±", "± of true words", "sum of errors", "counted", "by")


def accuracy_of_people(
    makers: Mapping[str, Maker], epsilons: Sequence[float], people: int, length: int, question: str, prior: Prior
) -> None:
    """Show, for each ε and mechanism, what an estimate from so many people is expected to be off by."""
    from dpwords.estimate import forecast
    from dpwords.mechanisms.choice import quietly

    found: list[tuple[float, str, Forecast | None]] = []
    refusals: dict[str, InvalidValue | TooLarge] = {}
    for epsilon in epsilons:
        for name, make in makers.items():
            with status(f"simulating {people:,} people at ε = {epsilon:g}: {name}") as say:
                try:
                    answer = forecast(quietly(make, epsilon), people, length, question, prior=prior, progress=say)
                except (InvalidValue, TooLarge) as refusal:
                    refusals[f"ε = {epsilon:g}, {name}"] = refusal
                    answer = None
            found.append((epsilon, name, answer))
    first = next((each for _, _, each in found if each is not None), None)
    if first is None:
        raise next(iter(refusals.values()))
    title = f"what {people:,} people with words of length {length} tell about {question}, if {first.assumed}"
    rows = [(f"{epsilon:g}", name, *_cells(each)) for epsilon, name, each in found]
    emit(
        [
            title,
            *table(_HEADER, rows, Terminal.of_output()),
            f"(±: half-width of {percentage(first.confidence)} intervals, a mean over {first.labels} proportions in "
            "which frequent ones count more)",
            "(sum of errors: of all proportions together, as estimated, and as counted without taking the noise out)",
            "(simulated: real people differ from that, so these are orders of magnitude)",
            *(f"({where}: {rendered(refusal.message, as_option)})" for where, refusal in refusals.items()),
        ]
    )


def _cells(found: Forecast | None) -> tuple[str, ...]:
    if found is None:
        return ("refused", "", "", "", "")
    figures = (found.half_width, found.of_true_words, found.total_error, found.counted)
    return (*(f"{figure:.2g}" for figure in figures), found.model or found.method)
