"""Reports: one answer about one position of the whole word, for promises that cover whole words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language, checked_language
from dpwords.mechanisms.mechanism import NamedItems
from dpwords.mechanisms.private import Drawing, Private
from dpwords.mechanisms.summary import Averages, InForce
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.privacy.subset_selection import SLACK, best_selection
from dpwords.spaces.choice import space_of
from dpwords.spaces.questions import NO_DISTANCE, Question, SelectedLaw, answers_of, draw_each
from dpwords.spaces.space import Law, LeastDistance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dpwords.core.symbols import Word
    from dpwords.mechanisms.private import Progress

_STEP = {"visits": "states", "transitions": "transitions", "symbols": "symbols"}


class Report(Private):
    """Release one answer about one position of the word, chosen uniformly at random, with all of ε.

    The promise is ε for any two words of the language, however far apart and however long they are. No released word
    could keep such a promise and still be of use; an answer from each of many people can, because proportions are
    estimated from all of them. The question is about "visits" (which state does the run enter?), "transitions" (which
    state comes after which? on words without states, which symbol comes directly after which?) or "symbols".

    An answer is a frozenset of `size` of the `items`, all answers that are possible. The true one is among them with
    probability `share_if_true`, any other with `share_if_not`; `size` is the one with which estimated proportions have
    the least variance. Which position was chosen is not released. A word of one symbol has no transition where the
    first symbol is not a step from a start: it is refused. Cost: the length of the word, and a random number for each
    item.

    >>> from dpwords import GridWorld, Report
    >>> report = Report(GridWorld(15, 15).by_states(), epsilon=4, question="visits")
    >>> len(report.items), report.size, round(report.share_if_true, 2), round(report.share_if_not, 3)
    (225, 4, 0.5, 0.016)
    >>> len(report.release([(0, 1), (0, 2), (1, 2)]))
    4
    """

    question: Question
    answers: NamedItems
    items: tuple[Any, ...]  #: All answers that are possible, in a fixed order: symbols, states, or pairs of them.
    size: int  #: How many items each answer names.
    share_if_true: float  #: The probability that an item is named if it is the one at the chosen position.
    share_if_not: float  #: The probability that an item is named if it is not the one at the chosen position.

    def __init__(
        self, language: Language, epsilon: float, question: Question = "visits", *, limits: Limits = DEFAULTS
    ) -> None:
        super().__init__(language, space_of(checked_language(language), "hamming", limits), 1, "any", limits)
        self.epsilon, self.question = checked_epsilon(epsilon), question
        self._answers = answers_of(language, question, limits)
        self._selection = best_selection(len(self._answers.items), self.epsilon)
        self.answers = NamedItems(question, self._answers, self._selection)
        self.items, self.size = self.answers.items, self.answers.size
        self.share_if_true, self.share_if_not = self.answers.share_if_true, self.answers.share_if_not

    def __repr__(self) -> str:
        return f"Report({self.language!r}, epsilon={self.epsilon:g}, question={self.question!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The items as text, in the same order: the cell (0, 1) is written 0,1, and a transition 0,0>0,1."""
        return self.answers.names

    def written(self, answer: Collection[Any], separator: str = " ") -> str:
        """An answer as text: the names of its items, in their order."""
        return self.answers.written(answer, separator)

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "any", self.k, SLACK, "report", proof=14))

    @property
    def least_length(self) -> int:
        return self._answers.least_length

    def every_output(self, most: int = DEFAULTS.listed_outputs) -> list[frozenset[Any]]:
        """All answers that can come out; raises `TooLarge` if there are more than `most`. Cost: their number."""
        return self.answers.every(most)

    def _like(self, epsilon: float, k: int) -> Self:
        if k != self.k:
            raise InvalidValue("a report hides whole words, whatever they differ in: leave out k")
        return type(self)(self.language, epsilon, self.question, limits=self.limits)

    if TYPE_CHECKING:  # what comes out is no word; the functions are those of `Private`

        def release(self, word: Word) -> frozenset[Any]: ...  # type: ignore[override]

        def release_all(  # type: ignore[override]
            self,
            words: Iterable[Word | Codes],
            ids: Iterable[Any] | None = None,
            key: bytes | None = None,
            *,
            progress: Progress = iter,
        ) -> list[frozenset[Any]]: ...

    @property
    def _outputs(self) -> NamedItems:
        return self.answers

    def _checked_length(self, length: int) -> int:
        if 0 < length < self.least_length:
            raise InvalidValue("a word of one symbol has no transition to report: pass a longer one")
        return super()._checked_length(length)

    def notes(self, lengths: Sequence[int]) -> list[str]:
        return [self.in_force(length).text for length in lengths[:1]]

    def _in_force(self, length: int) -> InForce:
        return InForce(
            f"report: one position of the word, drawn at random, is answered by naming {self.size} of "
            f"{len(self.items)} {_STEP[self.question]}; the true one is named with probability "
            f"{self.share_if_true:.3g}, any other with {self.share_if_not:.3g}",
            drawn="by randomised response (subset selection) about one position of each word, itself drawn at random",
        )

    def _law(self, codes: Codes) -> Law:
        return SelectedLaw(codes, self._answers, self._selection, self.limits)

    def _drawing(self, length: int) -> Drawing:
        return Drawing(
            lambda rows, stream: draw_each(rows, self._answers, self._selection, stream, self.limits),
            lambda: ("report", self._answers.identity, *self._selection.parameters),
        )

    def _least_distance(self, length: int) -> LeastDistance:
        return LeastDistance(1, True)

    def _public_averages(self, length: int) -> Averages:
        return Averages()

    def _average(self, length: int | None, width: int | None) -> NoReturn:
        raise InvalidValue(NO_DISTANCE)
