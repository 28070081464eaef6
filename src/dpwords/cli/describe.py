"""dpwords describe"""

from __future__ import annotations

import textwrap
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.completion import FILES
from dpwords.cli.options import (
    SectionedCommand,
    certificate_options,
    field_options,
    language_options,
    mechanism_options,
)
from dpwords.cli.papers import markdown, tex
from dpwords.cli.released import ReleasedFile, released_file
from dpwords.cli.terminal import emit, note, note_proofs, prepare, status
from dpwords.core.citation import citation
from dpwords.errors import DPWordsError, InvalidValue, TooLarge, rendered
from dpwords.recipes.fields import WHERE, as_option

if TYPE_CHECKING:
    from dpwords.mechanisms.summary import InForce, Summary
    from dpwords.privacy.guarantees import PureDP

_WIDTH = 79  # of the lines of a text
_NAMES = {"hamming": "Hamming distance", "levenshtein": "Levenshtein distance"}
_RECEIPT = ".receipt.json"


@click.command(cls=SectionedCommand, short_help="Describe a released file, ready for the methods section of a paper.")
@click.argument("file", shell_complete=FILES)
@click.option(
    "--format",
    "written_as",
    type=click.Choice(["text", "md", "tex"]),
    default="text",
    show_default=True,
    help="Plain text in lines of 79 characters, Markdown, or LaTeX.",
)
@field_options(*WHERE)
@language_options
@field_options("epsilon", help="The ε of each word.")
@field_options("report")
@mechanism_options
@certificate_options
def describe(file: str, written_as: str, **_release: Any) -> None:
    """Say in words how a file was released, what that promises, and how to estimate from it.

    The text says which mechanism drew the words, what ε, k and the distance mean for neighbours, for a whole word and,
    if the release knew whose the words are, for a person; how the rate was proven; how accurate releases are; how
    'dpwords estimate' would answer questions about the population, or why it cannot; and what to cite.

    Only the released file and its receipt are read, as by 'dpwords estimate', and no privacy is spent. Options replace
    what the receipt says, and without a receipt they describe the release.

    \b
    Examples:
      dpwords describe private.csv
      dpwords describe private.parquet --format tex > methods.tex
      # without a receipt
      dpwords describe private.txt --alphabet a-z --epsilon 6
    """
    path = file.removesuffix(_RECEIPT)  # whoever names the receipt means the file beside it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice for who is about to release
        read = released_file(path, None, several_epsilons=True)
        found = ReleaseText(read)
        if found.length:
            note_proofs([(read.mechanism, found.length)])
            prepare(read.mechanism, [found.length])
        with status("averaging"):
            paragraphs = found.paragraphs()
    for text in (*read.notes, *found.warnings()):
        note(f"note: {text}")
    emit("\n\n".join(_written(text, written_as) for text in paragraphs).split("\n"))


def _written(text: str, written_as: str) -> str:
    """A paragraph; Markdown is not wrapped, because what begins a line can mean something there."""
    if written_as == "md":
        return markdown(text)
    return textwrap.fill(
        tex(text) if written_as == "tex" else text, _WIDTH, break_long_words=False, break_on_hyphens=False
    )


@dataclass(frozen=True, eq=False)
class ReleaseText:
    """A description of a released file, paragraph by paragraph. Everything in it is public."""

    read: ReleasedFile

    @cached_property
    def length(self) -> int:
        """The length that most of the released words have, the longest of several; 0 if that is not known."""
        import numpy as np

        from dpwords.core.symbols import Ragged

        codes, mechanism = self.read.contents.codes, self.read.mechanism
        if not isinstance(codes, Ragged):
            return 0
        least = mechanism.k if mechanism.distance == "hamming" else 1
        sizes, times = np.unique(codes.sizes[codes.sizes >= least], return_counts=True)
        return int(sizes[np.flatnonzero(times == times.max())[-1]]) if len(sizes) else 0

    @cached_property
    def summary(self) -> Summary | None:
        """What is known about words of that length; None if there is none, or if ε differ."""
        return self.read.mechanism.summary(self.length) if self.length and not self.several else None

    @property
    def several(self) -> bool:
        """Whether words have different ε."""
        return self.read.recipe.shares_budget

    @property
    def promise(self) -> PureDP:
        """The promise about each word; where they have different ε, the one about a person's only word."""
        from dpwords.privacy.guarantees import PureDP

        found = self.read.mechanism.guarantee
        if not isinstance(found, PureDP):
            raise InvalidValue("nothing is promised about releases of this mechanism: describe a proven one")
        return found

    def paragraphs(self) -> list[str]:
        """The release, the promise, people, estimates, and references."""
        found = [
            [self._what(), self._how(), self._calibration(), self._accuracy()],
            [*self._promised()],
            [self._people()],
            [self._estimates()],
            [f"References: {citation(self.version)}."],
        ]
        return [" ".join(filter(None, sentences)) for sentences in found]

    def warnings(self) -> tuple[str, ...]:
        """Why the promise is thin, or the releases of little use, and what would have been better."""
        found = () if self.summary is None else self.summary.warnings
        refused, reason = self._asked
        return (*found, reason) if refused else found

    @property
    def version(self) -> str:
        """That of the package that made the release."""
        from dpwords import __version__

        return str(self.read.receipt.get("version", __version__))

    def _what(self) -> str:
        answers, number = self.read.mechanism.answers is not None, self.read.receipt.get("words")
        many = "The" if number is None else f"{number:,}"
        which = "answers about private words were" if answers else "word was" if number == 1 else "words were"
        kind = "differential privacy" if self.promise.distance == "any" else "metric differential privacy"
        return f"{many} {which} released under {kind} with dpwords {self.version}. A private word is {self._words()}."

    def _words(self) -> str:
        """What words are, from the language that may be released."""
        mechanism = self.read.mechanism
        language = mechanism.projected_onto or mechanism.language
        if language.system is not None:
            symbols = "the moves" if language.symbols_are == "moves" or language.spelling else "the states entered"
            found = f"a run of a public system of {len(language.system.states)} states, written as {symbols}"
        elif language.alike:
            found = f"a sequence over a public alphabet of {len(language.alphabet)} symbols"
        elif language.listed:
            found = f"one of a public list of sequences over {len(language.alphabet)} symbols"
        else:
            found = f"a sequence of a public language over {len(language.alphabet)} symbols"
        return f"{found}, which obeys public rules" if self.read.recipe.rules else found

    def _in_force(self) -> InForce | None:
        answers = self.read.mechanism.answers is not None
        length = max(self.length, self.read.mechanism.least_length) if answers else self.length
        try:
            return self.read.mechanism.in_force(length) if length else None
        except TooLarge:
            return None

    def _how(self) -> str:
        found = self._in_force()
        return "" if found is None else f"Each release was drawn {found.drawn}."

    def _calibration(self) -> str:
        found = self._in_force()
        if found is None:
            return ""
        if self.several:
            return "Its rate was calibrated to the ε of each word." if found.calibration is not None else ""
        if found.c is not None and found.proof is not None:
            return (
                f"For words of length {self.length}, they fall by a factor e^{float(found.c):.4g} for each unit of the "
                f"distance, {found.c / self.promise.epsilon:.1%} of ε, which is proven {found.proof.in_words}."
            )
        return f"{'In detail' if found.calibration is None else 'Calibration'}: {found.text}."

    def _accuracy(self) -> str:
        lines = [] if self.summary is None else self.summary.figures()
        if not lines:
            return ""
        over = "" if self.read.mechanism.language.alike else " over words drawn uniformly from the language"
        texts = [line.removesuffix(", on average") for line in lines]
        return f"On average{over}, for words of length {self.length}, {', and '.join(texts)}."

    def _promised(self) -> list[str]:
        promise, mechanism = self.promise, self.read.mechanism
        if promise.distance == "any":
            odds = promise.odds(1)
            return [
                f"The promise is ε-differential privacy with ε = {promise.epsilon:g} for whole words: "
                f"{promise.in_words}. Any two words are neighbours: {odds.in_words}."
            ]
        most = "at most " if self.several else ""  # that of a person's only word
        found = [
            f"The promise about each word is {most}ε = {promise.epsilon:g} with k = {promise.k} under "
            f"{_NAMES[promise.distance]}: {promise.in_words}."
        ]
        within = promise.odds(promise.k)
        found.append(f"Neighbours are words that {within.apart('at most ')}: {within.in_words}.")
        nearest = None if self.summary is None else self.summary.nearest
        if nearest is not None and self.summary is not None and nearest.distance > promise.k:
            least = "" if self.summary.nearest_is_exact else "at least "
            found.append(
                f"No two words of length {self.length} are that near: the nearest two {nearest.apart(least)}, and any "
                f"output is {nearest.likelier} for one as for the other."
            )
        whole = promise.odds(self.length)
        if whole.loss > within.loss:
            found.append(
                f"About whole words of length {self.length}, which may differ everywhere, less is promised: any output "
                f"is {whole.likelier}, so that one {whole.surer} which of two such words it was."
            )
        if promise.distance == "hamming":
            found.append("The length of a word is not protected: its release has the same.")
        if mechanism.language.spelling is not None:
            found.append("The promise is about the states that a run enters, and not about its moves.")
        if promise.proof is not None:
            found.append(
                f"The bound includes what rounding costs; its proof is in section {promise.proof} of the theory of "
                "dpwords."
            )
        return found

    def _people(self) -> str:
        """What the words of one person spend together."""
        whole, each = self.read.whole, self.read.recipe.epsilon
        who, k = f'column "{whole.by or whole.id}"', self.promise.k
        if whole.budget is None:
            if whole.by is None:
                return (
                    "What the words of one person spend adds up: whoever has m words is promised m·ε for all of them. "
                    "The release did not record whose words they are."
                )
            return (
                f"Each word of a person ({who}) spends ε = {each:g}: whoever has m words is promised m·{each:g} for "
                "all of them."
            )
        if whole.shares_budget:
            spent = whole.budget
            same = "and each of m words had ε divided by m" if self.several else f"and each word had ε = {each:g}"
            how = f"The words of each person ({who}) shared a budget of ε = {spent:g} equally, {same}."
        else:
            from dpwords.frames.people import Division

            assert each is not None
            number = Division(each, whole.budget, "first").words or 1
            spent = number * each
            how = (
                f"At most {number} words of each person ({who}) were released, each with ε = {each:g}, within a budget "
                f"of {whole.budget:g}."
            )
        if self.promise.distance == "any":
            return (
                f"{how} Two tables that differ in the words of one person give any output within a factor e^{spent:g}."
            )
        apart = self.promise.odds(k).apart("at most ")
        steps = -(-self.length // k)
        words = f"; if they may differ in all of {self.length} symbols, e^{spent * steps:g}" if steps > 1 else ""
        return (
            f"{how} So two tables that differ in the words of one person only, where each word and the one in its "
            f"place {apart}, give any output with probabilities within a factor e^{spent:g} of each other{words}."
        )

    @cached_property
    def _asked(self) -> tuple[bool, str]:
        """Whether estimates would be refused, and for which reason, or how they are made."""
        from dpwords.estimate.approach import approach
        from dpwords.frames.receipts import refuse_several_epsilons

        try:
            refuse_several_epsilons(self.read.recipe)
            return False, approach(self.read.mechanism, max(self.length, 1))
        except DPWordsError as error:
            return True, rendered(error.message, as_option)

    def _estimates(self) -> str:
        beginning, (refused, how) = "Proportions in the population behind the releases", self._asked
        if refused:
            why = how.rsplit(": ", 1)[0]  # without the remedy
            whole = why.startswith("proportions of a population cannot be estimated")
            return f"{why[0].upper()}{why[1:]}." if whole else f"{beginning} cannot be estimated by dpwords: {why}."
        return (
            f"{beginning} can be estimated by {how}. The confidence intervals of 'dpwords estimate' take the noise "
            "into account; releases of one person count as if they came from several people."
        )
