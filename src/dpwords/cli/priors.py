"""What is assumed about words before anything is seen of them: the option --prior, and what it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import click

from dpwords.cli.completion import PRIORS
from dpwords.cli.options import Command
from dpwords.errors import InvalidValue

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.models.priors import Prior

_NAMED = ("uniform", "predictable")


def prior_option(what: str, default: str) -> Callable[[Command], Command]:
    """The option, which begins its help with `what`."""
    return click.option(
        "--prior",
        default=default,
        show_default=True,
        shell_complete=PRIORS,
        help=f"{what}: 'uniform', all words of this length are equally likely; 'predictable', in each state, or after "
        "each symbol, one next symbol comes in 9 of 10 cases; or a file with a Markov chain, .json {state: {symbol: "
        "probability}} or .csv with the columns state,symbol,probability. Public.",
    )


def given_prior(text: str, public: Language) -> Prior:
    """The prior that the option names."""
    if text in _NAMED:
        return cast("Prior", text)
    if not text.lower().endswith((".json", ".csv")):
        raise InvalidValue("--prior takes 'uniform', 'predictable', or a file name that ends in .json or .csv")
    from dpwords.bridges.probability_files import read_chain
    from dpwords.estimate import chain

    return chain(public, read_chain(text, public))
