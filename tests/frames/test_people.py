"""Many words of one person: what they spend together, budgets that are divided over them, and ledgers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from dpwords.frames.people import Division
from dpwords.frames.requests import Request
from dpwords.frames.rows import ArrowRows
from dpwords.frames.word_table import Plan, WordTable

KEY = bytes(range(32))
FREE = dw.Words("abc")
USERS = ["ann", "bob", "ann", "cid", "ann", "bob", "ann"]
TABLE = pa.table({"user": USERS, "word": ["abc", "ab", "c", "ca", "bb", "a", "cab"], "row": range(7)})


def planned(mechanism: Any, table: Any = TABLE, charged: bool = False, size: int = 2, **options: Any) -> Plan:
    survey = WordTable.of(ArrowRows(table), Request("word", **options), mechanism, KEY).survey(charged)
    for batch in table.to_batches(max_chunksize=size):
        survey.add(batch)
    return survey.plan()


class Recorder:
    """Stands for a ledger: it remembers what it is charged, and refuses beyond a budget."""

    def __init__(self, budget: float = 1e9) -> None:
        self.budget, self.charges = budget, []  # type: ignore[var-annotated]

    def charge(self, amounts: Mapping[Any, float], guarantee: Any, run: str) -> None:
        if max(amounts.values()) > self.budget:
            raise dw.InvalidValue("the budget does not pay for this")
        self.charges.append((dict(amounts), guarantee, run))


def test_what_people_spend() -> None:
    """ann has 4 words, bob 2 and cid 1: at ε = 1.5 that is 6, 3 and 1.5."""
    facts = planned(dw.Exponential(FREE, 1.5), by="user").facts
    assert facts is not None
    assert (facts.people, facts.words, facts.most, facts.typical, facts.left_out) == (3, 7, 4, 2.0, 0)
    assert (facts.most_spent, facts.typical_spent) == (6.0, 3.0)
    assert str(facts) == (
        "3 people have 7 words, typically 2 and at most 4; each word spends ε = 1.5: "
        "a person typically spends ε = 3, and at most 6"
    )
    assert planned(dw.Exponential(FREE, 1.5)).facts is None


def test_facts_of_a_table() -> None:
    mechanism = dw.Exponential(FREE, 1.5)
    expected = planned(mechanism, by="user").facts
    assert dw.frames.facts(mechanism, TABLE, "word", by="user") == expected
    assert dw.frames.facts(mechanism, TABLE.to_pandas(), "word", id="user") == expected
    log = pa.table({"case": [1, 1, 2], "event": ["a", "b", "c"]})
    assert dw.frames.facts(mechanism, log, case="case", symbol="event").people == 2
    with pytest.raises(dw.InvalidValue, match="facts are about people: name the column"):
        dw.frames.facts(mechanism, TABLE, "word")


def test_a_budget_is_shared_equally() -> None:
    """12 for 4, 2 and 1 words: 3, 6 and 12 for each of them, in whatever batches."""
    plan = planned(dw.Exponential(FREE, 1.0), by="user", budget=12.0, split="equal")
    parts = [plan.epsilons(at, 2) for at in range(0, 7, 2)]
    assert np.concatenate([part for part in parts if part is not None]).tolist() == [3, 6, 3, 12, 3, 6, 3]
    assert str(plan.facts) == (
        "3 people have 7 words, typically 2 and at most 4; the words of each person share the budget ε = 12 equally: "
        "a person typically spends ε = 12, and at most 12"
    )
    table = dw.frames.release(dw.Exponential(FREE, 1.0), TABLE, "word", by="user", budget=12.0, id="row", key=KEY)
    for row, (word, released, part) in enumerate(
        zip(TABLE["word"].to_pylist(), table["word"].to_pylist(), [3, 6, 3, 12, 3, 6, 3], strict=True)
    ):
        assert dw.Exponential(FREE, part).release_all([word], ids=[str(row)], key=KEY) == [released]


def test_a_budget_pays_for_the_first_words() -> None:
    """5 pays for 2 words at ε = 2 each: the first two of each person, in the order of the table."""
    mechanism = dw.Exponential(FREE, 2.0)
    facts = planned(mechanism, by="user", budget=5.0, split="first").facts
    assert facts is not None
    assert (facts.words, facts.left_out, facts.most_spent, facts.typical_spent) == (7, 2, 4.0, 4.0)
    assert "each person's first 2 words spend ε = 2 each, 2 words are left out" in str(facts)
    table = dw.frames.release(mechanism, TABLE, "word", by="user", budget=5.0, split="first", id="row", key=KEY)
    assert table["row"].to_pylist() == [0, 1, 2, 3, 5]
    whole = dw.frames.release(mechanism, TABLE, "word", id="row", key=KEY)
    assert table["word"].to_pylist() == [whole["word"][row].as_py() for row in (0, 1, 2, 3, 5)]


def test_words_that_are_skipped_are_not_counted() -> None:
    table = TABLE.set_column(1, "word", pa.array(["abc", "ab", None, "ca", "x", "a", "cab"]))
    plan = planned(dw.Exponential(FREE, 1.0), table, by="user", budget=12.0, invalid="skip")
    assert plan.epsilons(0, 7) is not None
    assert plan.epsilons(0, 7).tolist() == [6, 6, 0, 12, 0, 6, 6]  # type: ignore[union-attr]
    assert (plan.rows, plan.skipped) == (7, 2)


@given(budget=st.floats(1e-3, 1e5), numbers=st.lists(st.integers(1, 500), min_size=1))
def test_equal_parts_never_exceed_the_budget(budget: float, numbers: list[int]) -> None:
    division = Division.of(1.0, budget, "equal")
    for part, number in zip(division.spent(np.array(numbers)).tolist(), numbers, strict=True):
        assert 0 <= Fraction(budget) - Fraction(part) * number <= Fraction(budget) * Fraction(2, 2**52)


@pytest.mark.parametrize(
    ("budget", "epsilon", "words"), [(0.3, 0.1, 3), (1.0, 0.1, 10), (0.99, 0.1, 9), (7.0, 2.0, 3), (2.0, 2.0, 1)]
)
def test_numbers_of_words_are_as_on_paper(budget: float, epsilon: float, words: int) -> None:
    assert Division.of(epsilon, budget, "first").words == words


@given(people=st.lists(st.integers(0, 3), min_size=1, max_size=30), size=st.integers(1, 7), most=st.integers(1, 4))
def test_first_words_against_a_loop(people: list[int], size: int, most: int) -> None:
    table = pa.table({"word": ["a"] * len(people), "user": people})
    plan = planned(dw.Exponential(FREE, 1.0), table, size=size, by="user", budget=most + 0.5, split="first")
    seen: Counter[int] = Counter()
    expected = []
    for person in people:
        expected.append(1.0 if seen[person] < most else 0.0)
        seen[person] += 1
    assert plan.epsilons(0, len(people)).tolist() == expected  # type: ignore[union-attr]


def test_a_ledger_is_charged_for_each_person() -> None:
    ledger = Recorder()
    mechanism = dw.Exponential(FREE, 1.5)
    dw.frames.release(mechanism, TABLE, "word", by="user", ledger=ledger)
    dw.frames.release(mechanism, TABLE, "word", by="user", budget=12.0, split="equal", ledger=ledger)
    dw.frames.release(mechanism, TABLE, "word", by="user", budget=4.0, split="first", ledger=ledger)
    dw.frames.release(mechanism, TABLE, "word", id="row", ledger=ledger)
    amounts = [charge[0] for charge in ledger.charges]
    assert amounts[0] == {"ann": 6.0, "bob": 3.0, "cid": 1.5}
    assert amounts[1] == {"ann": 12.0, "bob": 12.0, "cid": 12.0}
    assert amounts[2] == {"ann": 3.0, "bob": 3.0, "cid": 1.5}
    assert amounts[3] == dict.fromkeys(map(str, range(7)), 1.5)
    assert {charge[1] for charge in ledger.charges} == {mechanism.guarantee}


def test_a_ledger_refuses_before_the_first_draw() -> None:
    """A seeded mechanism draws the same after a refusal as without one: nothing was drawn."""
    mechanism = dw.Exponential(FREE, 1.5)
    refused, fresh = mechanism.seeded(3), mechanism.seeded(3)
    with pytest.raises(dw.InvalidValue, match="the budget does not pay"):
        dw.frames.release(refused, TABLE, "word", by="user", ledger=Recorder(5.9))
    assert dw.frames.release(refused, TABLE, "word") == dw.frames.release(fresh, TABLE, "word")


def test_a_repeated_release_does_not_pay_twice(tmp_path: Path) -> None:
    """4 words at ε = 2 of a budget of 20: the second one with another key pays again, the third cannot."""
    ledger, mechanism = dw.Ledger(tmp_path / "ledger.db", budget=20), dw.Exponential(FREE, 2.0)
    options: dict[str, Any] = {"column": "word", "id": "row", "by": "user", "ledger": ledger}
    first = dw.frames.release(mechanism, TABLE, key=KEY, **options)
    assert dw.frames.release(mechanism, TABLE, key=KEY, **options) == first
    assert (ledger.spent("ann"), ledger.spent("bob"), ledger.spent("cid")) == (8.0, 4.0, 2.0)
    dw.frames.release(mechanism, TABLE, **options)
    assert ledger.spent("ann") == 16.0
    with pytest.raises(dw.InvalidValue, match="the budget, 20 for each id, would be exceeded"):
        dw.frames.release(mechanism, TABLE, **options)
    with pytest.raises(dw.InvalidValue, match="only a proven ε can be charged"):
        dw.frames.release(mechanism.seeded(1), TABLE, **options)


def test_a_run_has_one_name() -> None:
    """It depends on the key, the words, the people and the mechanism, and not on the batches."""
    mechanism = dw.Exponential(FREE, 1.5)
    other_word = TABLE.set_column(1, "word", pa.array(["abb", *TABLE["word"].to_pylist()[1:]]))
    other_user = TABLE.set_column(0, "user", pa.array(["dan", *USERS[1:]]))
    cut = pa.concat_tables([TABLE.slice(0, 3), TABLE.slice(3)])
    ledger = Recorder()
    for table, release, key in (
        (TABLE, mechanism, KEY),
        (cut, mechanism, KEY),
        (TABLE, mechanism, bytes(32)),
        (TABLE, mechanism, None),
        (other_word, mechanism, KEY),
        (other_user, mechanism, KEY),
        (TABLE, dw.Exponential(FREE, 1.6), KEY),
        (TABLE, dw.Exponential(FREE, 1.5, k=2), KEY),
        (TABLE, dw.Exponential(dw.Words("abcd"), 1.5), KEY),
    ):
        dw.frames.release(release, table, "word", id="row", by="user", ledger=ledger, key=key)
    runs = [charge[2] for charge in ledger.charges]
    assert runs[0] == runs[1]
    assert len(set(runs[1:])) == 8


def test_the_id_can_be_the_person() -> None:
    """With a budget or a ledger it is; rows are then told apart by their numbers, which a reused key does not allow."""
    mechanism, ledger = dw.Exponential(FREE, 1.0), Recorder()
    dw.frames.release(mechanism, TABLE, "word", id="user", ledger=ledger)
    assert ledger.charges[0][0] == {"ann": 4.0, "bob": 2.0, "cid": 1.0}
    with pytest.raises(dw.InvalidValue, match=r"two rows have the same id .* name a column that differs in every row;"):
        dw.frames.release(mechanism, TABLE, "word", id="user", ledger=ledger, key=KEY)
    assert len(ledger.charges) == 1
    with pytest.raises(dw.InvalidValue, match="two rows have the same id in column user"):
        dw.frames.release(mechanism, TABLE, "word", id="user")


def test_what_is_refused() -> None:
    mechanism = dw.Exponential(FREE, 1.0)
    with pytest.raises(dw.InvalidValue, match="a budget is for each person: name the column that says who it is"):
        dw.frames.release(mechanism, TABLE, "word", budget=3.0)
    with pytest.raises(dw.InvalidValue, match="a ledger is kept for each person: name the column that says who it is"):
        dw.frames.release(mechanism, TABLE, "word", ledger=Recorder())
    with pytest.raises(dw.InvalidValue, match=r"the budget 0.5 is below the ε = 1 of one word"):
        dw.frames.release(mechanism, TABLE, "word", by="user", budget=0.5, split="first")
    with pytest.raises(dw.InvalidValue, match=r"split is 'equal', .*, or 'first'"):
        dw.frames.release(mechanism, TABLE, "word", by="user", budget=3.0, split="last")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="budget= must be a finite number above 0: pass for example budget=10"):
        dw.frames.release(mechanism, TABLE, "word", by="user", budget=-1.0)


def test_the_plan_names_the_mechanisms_that_are_used() -> None:
    """Those whose certificates can be made beforehand: here ε is 3, 6 and 12, and k is at most the length."""
    plan = planned(dw.Exponential(FREE, 1.0, k=2), by="user", budget=12.0)
    used = {(mechanism.epsilon, mechanism.k, length) for mechanism, length in plan.kinds}
    assert used == {(3.0, 2, 3), (3.0, 1, 1), (3.0, 2, 2), (6.0, 2, 2), (6.0, 1, 1), (12.0, 2, 2)}
    plain = planned(dw.Exponential(FREE, 1.0, k=2))
    assert {(mechanism.k, length) for mechanism, length in plain.kinds} == {(1, 1), (2, 2), (2, 3)}
