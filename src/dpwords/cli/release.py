"""dpwords release"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.options import (
    certificate_options,
    described,
    language_options,
    mechanism_options,
    public_language,
    refuse,
)
from dpwords.cli.terminal import emit, lines_of_stdin, note, progress_bar, shown
from dpwords.errors import NotInLanguage

if TYPE_CHECKING:
    from dpwords.mechanisms.by_length import ByLength
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.private import Private


@click.command()
@click.argument("words_given", metavar="[WORD]...", nargs=-1)
@language_options
@click.option("--epsilon", "-e", type=float, required=True, help="The privacy budget that each word spends.")
@mechanism_options
@click.option("--separator", help="What stands between symbols.  [default: nothing, or a space if symbols are longer]")
@certificate_options
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="A file that keeps the certificates of a system or lexicon for the next run; each is proved again when it is "
    "read. Those of a large lexicon, which take minutes, are made only with this option.",
)
def release(
    words_given: tuple[str, ...], separator: str | None, epsilon: float, certificates: Path | None, **options: Any
) -> None:
    """Release a private version of each WORD, or of each line of standard input.

    The output has one line for each word, or is empty if there is an error. Blank lines at the end of the input are
    ignored; where --edits all takes the empty word, each blank line is one. Words keep their length, unless --edits all
    hides insertions and deletions too. The alphabet or system is public: declare it, and never derive it from the data.
    On a system, words of each length use the mechanism with the least public expected distance at that length; a line
    on standard error names it. --mechanism fixes one instead.

    \b
    Examples:
      dpwords release "american control conference 2019" --alphabet "a-z0-9 " --epsilon 6
      dpwords release SSEE EESS --system grid:15x15 --epsilon 5
      dpwords release "0,1 0,2 1,2" --system grid:15x15 --words states --epsilon 5
      dpwords release --system roads.csv --epsilon 5 < routes.txt
      dpwords release SSEE --system grid:15x15 --epsilon 2 --mechanism online
      dpwords release SSEE --system grid:15x15 --epsilon 2 --mechanism best    # the default on systems
      dpwords release "meet me at noon" --alphabet "a-z " --epsilon 8 --edits all
      dpwords release bern --lexicon cities.txt --epsilon 6 --edits all
      dpwords release --alphabet @activities.txt --separator ";" --epsilon 3 < traces.txt
    """
    from dpwords.bridges.notation import Notation
    from dpwords.core.files import check_output
    from dpwords.mechanisms.by_length import ByLength

    notation = Notation(public_language(**options), separator)
    mechanism = described(notation.language, epsilon, **options)
    certified = _certified(mechanism)
    if certified is None or not certified.has_certificates:
        refuse(
            "certificates are for tight calibration on systems and lexicons, which is not in use here", "certificates"
        )
    if certificates is not None:
        check_output(certificates)
    empty_word = mechanism.distance == "levenshtein" and notation.language.accepts([])
    words = [notation.read(text) for text in words_given or lines_of_stdin(ends_blank=empty_word)]
    if certified is not None and all(map(notation.language.accepts, words)):
        _certify(certified, certificates, {len(word) for word in words if word})
    try:
        released = mechanism.release_all(words, progress=partial(shown, label="releasing"))
    except NotInLanguage as error:
        raise NotInLanguage(f"{error}; words are read {notation.manner}") from None
    if certificates is not None and certified is not None:
        certified.certificate.save(certificates)
    emit([notation.write(word) for word in released])
    lengths = sorted({len(word) for word in words if word})
    if isinstance(mechanism, ByLength) and words:
        note(_chosen(mechanism, lengths))
    elif certified is not None and options["calibration"] == "tight":
        _note_textbook(certified, lengths)


def _certified(mechanism: Private) -> Exponential | None:
    """The mechanism, or the candidate, that has certificates; None if there is none."""
    from dpwords.mechanisms.by_length import ByLength
    from dpwords.mechanisms.exponential import Exponential

    candidates = mechanism.candidates.values() if isinstance(mechanism, ByLength) else [mechanism]
    return next((each for each in candidates if isinstance(each, Exponential)), None)


def _chosen(mechanism: ByLength, lengths: list[int]) -> str:
    """Which candidate words of each length have used, in one line."""
    used: dict[str, list[int]] = {}
    for length in lengths:
        used.setdefault(mechanism.chosen(length) + _rate(mechanism, length), []).append(length)
    parts = [f"{name} for words of length {', '.join(map(str, some))}" for name, some in used.items()]
    if len(lengths) == 1:
        found, name = mechanism.compared(lengths[0]), mechanism.chosen(lengths[0])
        figures = ", ".join(f"{each} {found[each]:.3g}" for each in sorted(found, key=lambda each: each != name))
        parts[0] += f" (expected distance: {figures})"
    return f"best mechanism: {'; '.join(parts)}"


def _rate(mechanism: ByLength, length: int) -> str:
    """What to add to the name of the candidate where nothing better than the textbook rate is proven."""
    at_half = mechanism.in_force(length).calibration == "textbook"
    return " (at the textbook rate)" if at_half and "textbook" not in mechanism.chosen(length) else ""


def _note_textbook(mechanism: Exponential, lengths: list[int]) -> None:
    """Say for which lengths nothing better than the textbook rate is proven."""
    some = [length for length in lengths if mechanism.in_force(length).calibration == "textbook"]
    if some:
        note(f"the textbook rate, half of ε, is in force for words of length {', '.join(map(str, some))}")


def _certify(mechanism: Exponential, path: Path | None, lengths: set[int]) -> None:
    """Load the certificates that a file keeps, and make those that are missing."""
    if path is None and not mechanism.certifies_by_itself:
        return

    def label() -> str:
        seconds = max((mechanism.certificate.seconds(length) for length in lengths), default=0.0)
        return f"certifying, up to about {seconds:.0f} s" if seconds >= 1 else "certifying"

    with progress_bar(label) as progress:
        if path is not None and path.exists():
            mechanism.certificate.load(path, progress)
        if path is not None and mechanism.distance == "levenshtein":
            mechanism.certificate(progress=progress)
            return
        for length in sorted(lengths):
            mechanism.certificate(length, progress)
