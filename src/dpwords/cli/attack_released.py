"""dpwords attack --released: what is guessed of the words behind a released file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpwords.cli.options import refuse
from dpwords.cli.released import need_receipt, released_file
from dpwords.cli.tables import table
from dpwords.cli.targets import csv_content, json_content
from dpwords.cli.terminal import Terminal, emit, note, status
from dpwords.errors import InvalidValue
from dpwords.recipes.table_formats import STANDARD

if TYPE_CHECKING:
    from dpwords.attack import ReleasedGuess
    from dpwords.attack.results import Success
    from dpwords.recipes.recipe import Recipe

_FIT = "(a prior fitted to the released file guesses more, as whoever has the file can: dpwords attack --released FILE)"
_KNOW = "(somebody who knows which words are usual guesses more: name such a --prior)"
_ROWS = ("uniform prior", "prior fitted to the released file")
_REMEDY = "leave out --released and attack with --length, --epsilon and --alphabet or --system"


def hint(recipe: Recipe) -> str:
    """Who guesses more than somebody to whom all words are equally likely, and how to see it."""
    return _KNOW if recipe.edits == "all" or recipe.report is not None or recipe.k > 1 else _FIT


def attack_released(path: str, form: str | None, samples: int, output: Path | None) -> None:
    """Fit a prior to a released file, and show what is guessed with it and with the uniform one."""
    if path == STANDARD:
        raise InvalidValue("standard input comes without a receipt: give --released a file that has one")
    need_receipt(path, form, _REMEDY)
    refuse("the receipt of the file says how it was released", "epsilon", "mechanism", "report", "edits", "k")
    refuse("the released words have their lengths", "length")
    refuse("each word behind the file is seen through its one release", "releases")
    refuse("the prior is fitted to the released file, and the uniform one is shown beside it", "prior")
    refuse("a released file has one ε, so there is no curve to plot", "plot")
    from dpwords.attack import guess

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "of each word only")  # advice for who is about to release
        read = released_file(path, form, () if output is None else (output,), _REMEDY)
    if read.mechanism.answers is not None:
        raise InvalidValue(
            "the file has answers of a report, to which no prior of words is fitted: attack with --length, --epsilon "
            "and --report"
        )
    if not len(read.contents):
        raise InvalidValue(f"{read.name} has no released words: name a file that has some")
    read.prepare()
    with status("fitting a prior") as say:
        found = guess(read.mechanism, released=read.contents.codes, samples=samples, progress=say)
    contents = {} if output is None else {output: _content(found, output.suffix.lower())}
    emit(_lines(found, read.name, Terminal.of_output()), contents)
    for text in read.notes:
        note(f"note: {text}")


def _rows(found: ReleasedGuess) -> list[tuple[str, str, Success, Success]]:
    """The name of each prior, what it assumes, and what is guessed with it, and without any release."""
    from dpwords.models.priors import UNIFORM

    informed = (_ROWS[1], found.assumed, found.informed, found.without)
    return [(_ROWS[0], UNIFORM, found.uniform, found.uniform_without), informed]


def _lines(found: ReleasedGuess, name: str, terminal: Terminal) -> list[str]:
    from dpwords.attack.results import in_a_crowd
    from dpwords.models.priors import NOTHING_FITTED

    sizes = sorted(found.lengths)
    long = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    words = f"{found.words:,} words" if found.words > 1 else "one word"
    title = f"what is guessed of the {words} behind {name}, of length {long}, through one release of each"
    cells = [
        (prior, _positions(each, found), _percent(each), f"{in_a_crowd(each.whole, 'about')} guessed")
        for prior, _, each, _ in _rows(found)
    ]
    (*_, plain), (*_, known) = _rows(found)
    before = f"{plain.hits:.3g} of {found.length:.4g} positions and {_percent(plain)} of the words"
    informed = f"{known.hits:.3g} and {_percent(known)}"
    notes = [f"(without any release: {before}; with the fitted prior, {informed})", f"({found.how})"]
    if found.error.hits:
        notes.append(
            f"(standard error of the fitted row, from the sample of words alone: {found.error.hits:.2g}, and "
            f"{100 * found.error.whole:.2g}%)"
        )
    if found.doubt:
        notes.append(f"({found.doubt})")
    if found.assumed == NOTHING_FITTED:
        notes.append("(the releases do not show which words are common: the fitted prior is the uniform one)")
    return [title, *table(("adversary", "positions", "whole word", "in words"), cells, terminal), *notes]


def _content(found: ReleasedGuess, suffix: str) -> bytes:
    rows: list[dict[str, Any]] = [
        {
            "prior": prior,
            "assumed": assumed,
            "hits": each.hits,
            "whole": each.whole,
            "hits_without": without.hits,
            "whole_without": without.whole,
        }
        for prior, assumed, each, without in _rows(found)
    ]
    if suffix == ".csv":
        return csv_content(list(rows[0]), [list(row.values()) for row in rows])
    about = {
        "lengths": {str(size): number for size, number in sorted(found.lengths.items())},
        "words": found.words,
        "samples": found.samples,
        "rehearsed": found.rehearsed,
        "exact": found.exact,
        "fits": found.fits,
        "standard_error": found.error._asdict(),
    }
    return json_content({**about, "rows": rows})


def _positions(each: Success, found: ReleasedGuess) -> str:
    return f"{each.hits:.4g} of {found.length:.4g}"


def _percent(each: Success) -> str:
    return f"{100 * each.whole:.3g}%"
