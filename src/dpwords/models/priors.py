"""How likely each word is beforehand: what users may assume about a population, as a chain and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.models.chains import Chain, MarkovChain, same_runs

Prior = Literal["uniform", "predictable"] | MarkovChain | Mapping[Any, Mapping[Any, float]]

# What each prior assumes: the end of a sentence that says what is expected "if …"
UNIFORM = "all words are equally likely"
PREDICTABLE = "words are predictable (one usual next symbol, in 9 of 10 cases)"
CHAIN = "words come from the given chain"
NOTHING_FITTED = "all words are equally likely, since the releases do not show which ones are common"
FITTED = "words come from the chain that fits the released ones best"
COMMON = "some words are as common as the released ones show"


def assumption_of(prior: object) -> str:
    """What a prior that is not fitted assumes, in words."""
    return {"uniform": UNIFORM, "predictable": PREDICTABLE}.get(prior, CHAIN) if isinstance(prior, str) else CHAIN


def chain_of(prior: object, language: Language, limits: Limits) -> MarkovChain:
    """The chain that a prior other than the uniform one is; raises `InvalidValue` if it is none on this language."""
    if isinstance(prior, str) and prior == "predictable":
        return Chain.predictable(language, limits)
    if isinstance(prior, Mapping):
        return Chain.of(language, prior, limits)
    if not isinstance(prior, MarkovChain):
        raise InvalidValue(
            "the prior is 'uniform', 'predictable', a table {state: {symbol: probability}}, or what estimate.model or "
            "estimate.chain returns"
        )
    if not same_runs(prior.language, language, limits):
        raise InvalidValue("the prior is a chain on another language: make one on the language of the mechanism")
    return prior
