"""dpwords: differentially private versions of symbolic sequences.

>>> import dpwords as dw
>>> mechanism = dw.Exponential(dw.Words("acgt"), epsilon=3)
>>> private = mechanism.release("gattaca")
"""

from __future__ import annotations

from importlib import import_module
from time import time as _time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpwords import accuracy as accuracy
    from dpwords import attack as attack
    from dpwords import audit as audit
    from dpwords import estimate as estimate
    from dpwords import frames as frames
    from dpwords import plots as plots
    from dpwords import spark as spark
    from dpwords.accuracy import best as best
    from dpwords.bridges.dot import from_dot as from_dot
    from dpwords.bridges.dot import to_dot as to_dot
    from dpwords.bridges.event_logs import from_log as from_log
    from dpwords.bridges.packages import from_dfa as from_dfa
    from dpwords.bridges.packages import from_gymnasium as from_gymnasium
    from dpwords.bridges.packages import from_networkx as from_networkx
    from dpwords.bridges.packages import from_tulip as from_tulip
    from dpwords.bridges.packages import to_dfa as to_dfa
    from dpwords.bridges.packages import to_networkx as to_networkx
    from dpwords.bridges.system_files import from_edges as from_edges
    from dpwords.bridges.system_files import from_graphml as from_graphml
    from dpwords.bridges.system_files import from_json as from_json
    from dpwords.bridges.system_files import from_map as from_map
    from dpwords.errors import DPWordsError as DPWordsError
    from dpwords.errors import InvalidValue as InvalidValue
    from dpwords.errors import MissingExtra as MissingExtra
    from dpwords.errors import NotDeterministic as NotDeterministic
    from dpwords.errors import NotInLanguage as NotInLanguage
    from dpwords.errors import TooLarge as TooLarge
    from dpwords.languages import rules as rules
    from dpwords.languages.automata import LevenshteinAutomaton as LevenshteinAutomaton
    from dpwords.languages.free_words import Words as Words
    from dpwords.languages.lexicon import Lexicon as Lexicon
    from dpwords.languages.patterns import Pattern as Pattern
    from dpwords.languages.systems import GridWorld as GridWorld
    from dpwords.languages.systems import TransitionSystem as TransitionSystem
    from dpwords.ledger import Ledger as Ledger
    from dpwords.mechanisms.edit_channel import EditChannel as EditChannel
    from dpwords.mechanisms.exponential import Exponential as Exponential
    from dpwords.mechanisms.online import Online as Online
    from dpwords.mechanisms.paper_literal import PaperLiteral as PaperLiteral
    from dpwords.mechanisms.report import Report as Report
    from dpwords.privacy.guarantees import NotPrivate as NotPrivate
    from dpwords.privacy.guarantees import PureDP as PureDP
    from dpwords.privacy.utilities import Inverse as Inverse
    from dpwords.privacy.utilities import Linear as Linear
    from dpwords.privacy.utilities import Staircase as Staircase
    from dpwords.recipes.recipe import Recipe as Recipe

_STARTED = _time()  # files that were written later are not the code that runs
_HOMES = {
    name: module
    for module, names in {
        "accuracy": "best",
        "bridges.dot": "from_dot to_dot",
        "bridges.event_logs": "from_log",
        "bridges.packages": "from_dfa from_gymnasium from_networkx from_tulip to_dfa to_networkx",
        "bridges.system_files": "from_edges from_graphml from_json from_map",
        "errors": "DPWordsError InvalidValue MissingExtra NotDeterministic NotInLanguage TooLarge",
        "languages.automata": "LevenshteinAutomaton",
        "languages.free_words": "Words",
        "languages.lexicon": "Lexicon",
        "languages.patterns": "Pattern",
        "languages.systems": "GridWorld TransitionSystem",
        "ledger": "Ledger",
        "mechanisms.edit_channel": "EditChannel",
        "mechanisms.exponential": "Exponential",
        "mechanisms.online": "Online",
        "mechanisms.paper_literal": "PaperLiteral",
        "mechanisms.report": "Report",
        "privacy.guarantees": "NotPrivate PureDP",
        "privacy.utilities": "Inverse Linear Staircase",
        "recipes.recipe": "Recipe",
    }.items()
    for name in names.split()
}
_MODULES = {"rules": "languages.rules"} | {
    name: name for name in ("accuracy", "attack", "audit", "estimate", "frames", "plots", "spark")
}
__all__ = [*_MODULES, *sorted(_HOMES)]  # noqa: PLE0604
__version__ = "0.8.0"


def __getattr__(name: str) -> Any:
    """Import what is asked for, and no more: `import dpwords` stays quick."""
    if name in _MODULES:
        return import_module(f"dpwords.{_MODULES[name]}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dpwords' has no attribute {name!r}")
    value = getattr(import_module(f"dpwords.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
