"""Many words of one person: how many there are, what they cost together, and how a budget is divided over them.

The numbers of words that people have are public here: the ε of a word depends on how many words its person has, and
on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpwords.core.checks import LARGEST_EPSILON, positive_number
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue, named


@dataclass(frozen=True)
class Division:
    """The public rule that gives each word of a person its ε.

    Without a budget each word has the ε of the mechanism. A budget is for all words of a person together: "equal" gives
    each of n words budget/n; "first" gives the mechanism's ε to as many words as the budget pays for, the first ones in
    the order of the table, and leaves out the others.

    >>> Division(epsilon=2.0, budget=10.0, split="equal").spent(np.array([1, 4]))
    array([10. ,  2.5])
    >>> Division(epsilon=2.0, budget=10.0, split="first").words
    5
    """

    epsilon: float  # of the mechanism
    budget: float | None = None
    split: str | None = None  # "equal" or "first"

    @classmethod
    def of(cls, epsilon: float, budget: float | None, split: str | None) -> Division:
        """Check the arguments of a user. A budget without a rule is divided equally."""
        if budget is None:
            if split is not None:
                raise InvalidValue(
                    f"{named('split')} says how a budget is divided: pass {named('budget')} as well, or leave it out"
                )
            return cls(epsilon)
        total = positive_number(budget, named("budget"), named("budget", 10), largest=LARGEST_EPSILON)
        if split not in (None, "equal", "first"):
            raise InvalidValue(
                "split is 'equal', the same ε for all words of a person, or 'first', as many as the budget pays"
            )
        division = cls(epsilon, total, split or "equal")
        if division.words == 0:
            raise InvalidValue(
                f"the budget {budget:g} is below the ε = {epsilon:g} of one word: take a smaller epsilon"
            )
        return division

    @property
    def words(self) -> int | None:
        """The largest number of words of a person that come out; None if all of them do."""
        if self.budget is None or self.split != "first":
            return None
        return int(Fraction(repr(self.budget)) // Fraction(repr(self.epsilon)))  # as written: 0.3 pays for 3 times 0.1

    def spent(self, numbers: Integers) -> Floats:
        """The ε of each word of people who have so many words."""
        if self.budget is None or self.split == "first":
            return np.full(len(numbers), self.epsilon)
        distinct, positions = np.unique(numbers, return_inverse=True)
        return np.array([_part(self.budget, number) for number in distinct.tolist()])[positions.ravel()]

    def out(self, numbers: Integers) -> Integers:
        """How many words come out of people who have so many."""
        return numbers if self.words is None else np.minimum(numbers, self.words)

    def paid(self, numbers: Integers) -> Floats:
        """The ε of all words together of people who have so many."""
        return self.spent(numbers) * self.out(numbers)

    def each(self, person: Integers, numbers: Integers) -> Floats:
        """The ε of each word, from the person of each word and the number of words of each person.

        ε = 0 leaves a word out.
        """
        spent = self.spent(numbers)[person]
        return spent if self.words is None else np.where(ranks_of(person) < self.words, spent, 0.0)

    def __str__(self) -> str:
        if self.budget is None:
            return f"each word spends ε = {self.epsilon:g}"
        if self.words is None:
            return f"the words of each person share the budget ε = {self.budget:g} equally"
        if self.words == 1:
            return f"each person's first word spends ε = {self.epsilon:g}"
        return f"each person's first {self.words} words spend ε = {self.epsilon:g} each"


@dataclass(frozen=True)
class PeopleFacts:
    """How many words people have, and what they spend. This is for the owner of the data."""

    people: int
    words: int  # of all people, before any are left out
    most: int  # words of the person who has most of them
    typical: float  # the median number of words of a person
    left_out: int  # words that the budget does not pay for
    most_spent: float  # the largest ε that a person spends
    typical_spent: float  # the median
    rule: str

    @classmethod
    def of(cls, numbers: Integers, division: Division) -> PeopleFacts:
        """From the number of words of each person."""
        spent = division.paid(numbers)
        return cls(
            len(numbers),
            int(numbers.sum()),
            int(numbers.max(initial=0)),
            float(np.median(numbers)) if len(numbers) else 0.0,
            int((numbers - division.out(numbers)).sum()),
            float(spent.max(initial=0.0)),
            float(np.median(spent)) if len(numbers) else 0.0,
            str(division),
        )

    def __str__(self) -> str:
        left_out = f", {self.left_out:,} words are left out" if self.left_out else ""
        if self.most == 1:
            return f"{self.people:,} people have one word each, which spends ε = {self.most_spent:.4g}{left_out}"
        return (
            f"{self.people:,} people have {self.words:,} words, typically {self.typical:,g} and at most {self.most:,}; "
            f"{self.rule}{left_out}: a person typically spends ε = {self.typical_spent:.4g}, and at most "
            f"{self.most_spent:.4g}"
        )


def counted(tags: NDArray[np.uint64]) -> tuple[Integers, Integers, Integers]:
    """People by their tags of two halves: the first row of each person, the person of each row, and rows by person.

    >>> counted(np.array([[7, 1], [2, 1], [7, 1], [7, 2]], dtype=np.uint64))
    (array([1, 0, 3]), array([1, 0, 1, 2]), array([1, 2, 1]))
    """
    _, first, person, numbers = np.unique(tags[:, 0], return_index=True, return_inverse=True, return_counts=True)
    if (tags[first[person], 1] != tags[:, 1]).any():  # two people share a half
        _, first, person, numbers = np.unique(tags, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return first, person.ravel(), numbers


def ranks_of(people: Integers) -> Integers:
    """For each row, how many rows before it belong to the same person.

    >>> ranks_of(np.array([3, 5, 3, 3, 5]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(people, kind="stable")
    ordered = people[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    ranks = np.empty(len(people), dtype=np.int64)
    ranks[order] = np.arange(len(people)) - np.repeat(first, np.diff(first, append=len(people)))
    return ranks


def _part(budget: float, number: int) -> float:
    """budget/number, rounded so that so many parts never exceed the budget."""
    part = budget / number
    return float(np.nextafter(part, 0.0)) if Fraction(part) * number > Fraction(budget) else part
