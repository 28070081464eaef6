"""The ledger against a dict of fractions, over random sequences of charges."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import dpwords as dw

PROMISE = dw.Exponential(dw.Words("ab"), epsilon=1).guarantee
IDS = st.sampled_from(["ann", "bob", "1", "01"])
UNITS = st.integers(1, 4000)  # thousandths of ε
AMOUNTS = st.dictionaries(IDS, UNITS, min_size=1)


class Charging(RuleBasedStateMachine):
    """`paid` maps ids to runs and what was paid for them; charges without a run have runs 0, 1, 2, …"""

    @initialize(budget=st.none() | st.integers(1, 9000))
    def open(self, budget: int | None) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.db"
        self.budget = None if budget is None else Fraction(budget, 1000)
        self.ledger = dw.Ledger(self.path, None if budget is None else budget / 1000)
        self.paid: dict[object, dict[object, Fraction]] = defaultdict(dict)

    @rule(amounts=AMOUNTS, run=st.none() | st.sampled_from(["may", "june"]))
    def charge(self, amounts: dict[str, int], run: str | None) -> None:
        name = len(self.paid) + sum(map(len, self.paid.values())) if run is None else run
        after = {
            id: self.paid[id] | {name: max(Fraction(units, 1000), self.paid[id].get(name, Fraction(0)))}
            for id, units in amounts.items()
        }
        given = {id: units / 1000 for id, units in amounts.items()}
        if self.budget is not None and any(
            sum(runs.values()) > self.budget and runs != self.paid[id] for id, runs in after.items()
        ):
            with pytest.raises(dw.InvalidValue, match="would be exceeded"):
                self.ledger.charge(given, PROMISE, run)
        else:
            self.ledger.charge(given, PROMISE, run)
            self.paid |= after

    @rule(id=st.sampled_from([1, b"1"]))
    def charge_another_kind(self, id: int | bytes) -> None:
        if any(self.paid.values()):
            with pytest.raises(dw.InvalidValue, match="ids of a ledger are of one kind"):
                self.ledger.charge({id: 0.001}, PROMISE)

    @rule()
    def open_again(self) -> None:
        self.ledger = dw.Ledger(self.path)

    @invariant()
    def everything_is_counted(self) -> None:
        if not hasattr(self, "paid"):
            return
        spent = {id: sum(runs.values()) for id, runs in self.paid.items() if runs}
        assert {each.id: Fraction(str(each.spent)) for each in self.ledger.accounts()} == spent
        for id, total in spent.items():
            assert Fraction(str(self.ledger.spent(id))) == total  # type: ignore[arg-type]
            if self.budget is not None:
                assert total <= self.budget
                assert Fraction(str(self.ledger.left(id))) == self.budget - total  # type: ignore[arg-type]

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestCharging = Charging.TestCase
TestCharging.settings = settings(max_examples=25, stateful_step_count=20)
