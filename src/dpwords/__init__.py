"""dpwords: differentially private versions of symbolic sequences.

>>> import dpwords as dw
>>> mechanism = dw.Exponential(dw.Words("acgt"), epsilon=3)
>>> private = mechanism.release("gattaca")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpwords import audit as audit
    from dpwords import plots as plots
    from dpwords.automata import Words as Words
    from dpwords.bridges import from_edges as from_edges
    from dpwords.bridges import from_json as from_json
    from dpwords.errors import DPWordsError as DPWordsError
    from dpwords.errors import InvalidValue as InvalidValue
    from dpwords.errors import MissingExtra as MissingExtra
    from dpwords.errors import NotDeterministic as NotDeterministic
    from dpwords.errors import NotInLanguage as NotInLanguage
    from dpwords.errors import TooLarge as TooLarge
    from dpwords.levenshtein import LevenshteinAutomaton as LevenshteinAutomaton
    from dpwords.lexicon import Lexicon as Lexicon
    from dpwords.mechanisms.edit_channel import EditChannel as EditChannel
    from dpwords.mechanisms.exponential import Exponential as Exponential
    from dpwords.mechanisms.online import Online as Online
    from dpwords.mechanisms.paper_literal import PaperLiteral as PaperLiteral
    from dpwords.privacy import Inverse as Inverse
    from dpwords.privacy import Linear as Linear
    from dpwords.privacy import NotPrivate as NotPrivate
    from dpwords.privacy import PureDP as PureDP
    from dpwords.privacy import Staircase as Staircase
    from dpwords.systems import GridWorld as GridWorld
    from dpwords.systems import TransitionSystem as TransitionSystem

_HOMES = {
    "DPWordsError": "errors",
    "EditChannel": "mechanisms.edit_channel",
    "Exponential": "mechanisms.exponential",
    "GridWorld": "systems",
    "InvalidValue": "errors",
    "Inverse": "privacy",
    "LevenshteinAutomaton": "levenshtein",
    "Lexicon": "lexicon",
    "Linear": "privacy",
    "MissingExtra": "errors",
    "NotDeterministic": "errors",
    "NotInLanguage": "errors",
    "NotPrivate": "privacy",
    "Online": "mechanisms.online",
    "PaperLiteral": "mechanisms.paper_literal",
    "PureDP": "privacy",
    "Staircase": "privacy",
    "TooLarge": "errors",
    "TransitionSystem": "systems",
    "Words": "automata",
    "from_edges": "bridges",
    "from_json": "bridges",
}
_MODULES = ("audit", "plots")
__all__ = [*_MODULES, *sorted(_HOMES)]  # noqa: PLE0604
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import what is asked for, and no more: `import dpwords` stays quick."""
    if name in _MODULES:
        return import_module(f"dpwords.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dpwords' has no attribute {name!r}")
    value = getattr(import_module(f"dpwords.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
