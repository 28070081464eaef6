"""dpwords release"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpwords.cli.options import described, language_options, mechanism_options, public_language
from dpwords.cli.terminal import emit, lines_of_stdin, shown
from dpwords.errors import DPWordsError, InvalidValue, NotInLanguage


@click.command()
@click.argument("words_given", metavar="[WORD]...", nargs=-1)
@language_options
@click.option("--epsilon", "-e", type=float, required=True, help="The privacy budget that each word spends.")
@mechanism_options
@click.option("--separator", help="What stands between symbols.  [default: nothing, or a space if symbols are longer]")
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="A file that keeps the certificates of a system or lexicon for next time; what is in it is checked again. "
    "Those of a large lexicon, which take minutes, are made only with this option.",
)
def release(
    words_given: tuple[str, ...], separator: str | None, epsilon: float, certificates: Path | None, **options: Any
) -> None:
    """Release a private version of each WORD, or of each line of a file or pipe on standard input.

    One line comes out for each word that goes in; all of them, or after an error none. Words keep their length, unless
    --edits all hides insertions and deletions too. The alphabet or system is public: declare it, never read it off the
    data.

    \b
    Examples:
      dpwords release "american control conference 2019" --alphabet "a-z0-9 " --epsilon 6
      dpwords release SSEE EESS --system grid:15x15 --epsilon 5
      dpwords release "0,1 0,2 1,2" --system grid:15x15 --words states --epsilon 5
      dpwords release --system roads.csv --epsilon 5 < routes.txt
      dpwords release SSEE --system grid:15x15 --epsilon 2 --mechanism online
      dpwords release "meet me at noon" --alphabet "a-z " --epsilon 8 --edits all
      dpwords release bern --lexicon cities.txt --epsilon 6 --edits all
      dpwords release --alphabet @activities.txt --separator ";" --epsilon 3 < traces.txt
    """
    from dpwords.bridges.notation import Notation
    from dpwords.mechanisms.exponential import Exponential

    notation = Notation(public_language(**options), separator)
    mechanism = described(notation.language, epsilon, **options)
    if certificates is not None:
        if not isinstance(mechanism, Exponential):
            raise InvalidValue("--certificates are of the exponential mechanism: leave the option out")
        if certificates.exists():
            mechanism.certificate.load(certificates)
    released: list[str] = []
    texts = list(words_given) if words_given else list(lines_of_stdin())
    few = 2 if options["system"] is not None else 1000  # on systems each new length takes a while
    for number, text in enumerate(shown(texts, "releasing", least=few), start=1):
        try:
            word = notation.read(text)
            if certificates is not None and isinstance(mechanism, Exponential) and notation.language.accepts(word):
                mechanism.certificate(len(word) if mechanism.distance == "hamming" else None)
            released.append(notation.write(mechanism.release(word)))
        except DPWordsError as error:
            reading = f", read {notation.manner}" if isinstance(error, NotInLanguage) else ""
            raise type(error)(f"word {number}{reading}: {error}") from None
    if certificates is not None and isinstance(mechanism, Exponential):
        mechanism.certificate.save(certificates)
    emit(released)
