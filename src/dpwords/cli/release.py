"""dpwords release"""

from __future__ import annotations

import logging
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpwords.cli.completion import FILES
from dpwords.cli.options import (
    SectionedCommand,
    certificate_options,
    field_options,
    given_recipe,
    language_options,
    mechanism_options,
    refuse,
)
from dpwords.cli.release_files import NEED_INPUT, file_options, release_file
from dpwords.cli.terminal import check_standard_output, emit, lines_of_stdin, note, note_proofs, prepare, shown
from dpwords.errors import NotInLanguage
from dpwords.recipes.recipe import Recipe

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private
    from dpwords.recipes.notation import Notation

_WARNED = 3  # lengths, the largest ones, whose warnings are shown


def _silence(_context: click.Context, _parameter: click.Parameter, chosen: bool) -> bool:
    """Show no warnings in this process, and nothing that is logged."""
    if chosen:
        warnings.simplefilter("ignore")
        logging.getLogger("dpwords").setLevel(logging.CRITICAL)
    return chosen


@click.command(cls=SectionedCommand, short_help="Release private versions of words, of lines, or of a table.")
@click.argument("words_given", metavar="[WORD]...", nargs=-1)
@click.option(
    "--recipe",
    "recipe_file",
    shell_complete=FILES,
    help="A JSON file that describes the release, as --print-recipe writes it, or a receipt. Options that are given "
    "beside it come before what it says.",
)
@click.option(
    "--print-recipe", is_flag=True, help="Write the recipe that the options describe, as JSON, and release nothing."
)
@language_options
@field_options("epsilon", "report")
@mechanism_options
@field_options("separator")
@certificate_options
@click.option(
    "--certificates",
    type=click.Path(path_type=Path),
    help="A file that keeps the certificates of a system or lexicon for later use; each is proved again when it is "
    "read. Those of a large lexicon, which take minutes, are made only with this option.",
)
@field_options("any_word")
@file_options
@click.option("--quiet", "-q", is_flag=True, callback=_silence, help="Write nothing to standard error but errors.")
def release(
    words_given: tuple[str, ...],
    recipe_file: str | None,
    print_recipe: bool,
    certificates: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Release a private version of each WORD, of each line of standard input, or of each word in a table.

    With --input the words are in a file: lists or text in a --column, one of the --columns for each step, or one row
    for each event of a --case. They may have any lengths; k is at most the length of each. Other columns are copied as
    they are, and are not protected. The output appears when it is complete. With --resume an interrupted release goes
    on.

    For words and lines, the output has one line for each word, or is empty if there is an error. Blank lines at the end
    of the input are ignored; where --edits all takes the empty word, each blank line is one. Words keep their length,
    unless --edits all hides insertions and deletions too. The alphabet or system is public: declare it, and never
    derive it from the data. On a system, words of each length use the mechanism with the least public expected distance
    at that length; a line on standard error names it. --mechanism fixes one instead.

    With --report, what is released are not words: each line, or each row of the column of words, has the answers that
    are named, the true one perhaps among them. Words in --columns are answered in one column, answer, and events in one
    row for each --case.

    \b
    Examples:
      dpwords release "american control conference 2019" --alphabet "a-z0-9 " --epsilon 6
      dpwords release SSEE EESS --system grid:15x15 --epsilon 5
      dpwords release SSEE EESS --system grid:15x15 --protect states --epsilon 3
      dpwords release "0,1 0,2 1,2" --system grid:15x15 --words states --epsilon 5
      dpwords release --system roads.csv --epsilon 5 < routes.txt
      dpwords release SSEE --system grid:15x15 --epsilon 2 --mechanism online
      dpwords release "meet me at noon" --alphabet "a-z " --epsilon 8 --edits all
      dpwords release bern --lexicon cities.txt --epsilon 6 --edits all
      dpwords release --alphabet @activities.txt --separator ";" --epsilon 3 < traces.txt
      dpwords release EESS SSEE --system grid:15x15 --report visits --epsilon 4
      dpwords release --system grid:15x15 --epsilon 5 --print-recipe > release.json
      dpwords release SSEE --recipe release.json
    \b
      # routes in Parquet on a road network
      dpwords release --input routes.parquet --column route --system roads.csv --epsilon 5 \\
          --by user --output private.parquet
      # the same, but all words of a user together spend ε = 10
      dpwords release --input routes.parquet --column route --system roads.csv --by user --budget 10 \\
          --output private.parquet
      # runs on a grid, JSON Lines with arrays of cells
      dpwords release --input runs.jsonl --column cells --system grid:15x15@any --words states \\
          --epsilon 5 --output private.jsonl
      # a wide table with a column for each month, and an event log
      dpwords release --input months.csv --columns "Jul.93:Jun.99" --alphabet @states.txt --epsilon 4 \\
          --output private.csv
      dpwords release --input log.csv --case case:concept:name --symbol concept:name --order time:timestamp \\
          --alphabet @activities.txt --epsilon 3 --output private.csv
      # one answer of each person about a run that is secret as a whole
      dpwords release --input runs.jsonl --column run --system grid:15x15 --words states --report visits \\
          --epsilon 4 --output answers.parquet
      # from standard input to standard output
      zcat words.csv.gz | dpwords release --input - --format csv --column word --alphabet a-z --epsilon 6 \\
          > private.csv
    """
    from dpwords.cli.targets import check_target
    from dpwords.recipes.notation import Notation

    recipe = given_recipe(base=None if recipe_file is None else Recipe.from_json(Path(recipe_file)))
    recipe = recipe.located(Path(recipe_file or "").parent)
    budget = recipe.budget
    if options["ledger"] is not None and "split" not in recipe.given:
        recipe = recipe.without("budget")  # it is the ledger's, and nothing is divided
    mechanism = recipe.mechanism()
    if print_recipe:
        refuse("--print-recipe releases nothing", "words_given", "certificates", "ledger", "resume", "key_file")
        check_standard_output(source=recipe.input)
        emit(recipe.to_json().splitlines())
        return
    if mechanism.certificates is None:
        refuse(
            "certificates are for tight calibration on systems and lexicons, which is not in use here", "certificates"
        )
    if certificates is not None:
        check_target(certificates, "certificates", recipe)
    inside = recipe.inside(mechanism)
    if recipe.input is not None:
        release_file(recipe, mechanism, inside, certificates, options | {"budget": budget})
        return
    refuse("without --input there is no file", *NEED_INPUT, recipe=recipe)
    language = recipe.language()
    notation = Notation(language, recipe.separator)
    empty_word = mechanism.distance == "levenshtein" and language.accepts([])
    words = [notation.read(text) for text in words_given or lines_of_stdin(ends_blank=empty_word)]
    if inside is not None:
        _refuse_others(inside, words)
    if all(map(language.accepts, words)):
        lengths = {len(word) for word in words if word}
        note_proofs([(mechanism, length) for length in lengths])
        prepare(mechanism, lengths, certificates)
    try:
        released = mechanism.release_all(words, progress=partial(shown, label="releasing"))
    except NotInLanguage as error:
        raise _refusal(error, words, recipe, notation) from None
    if certificates is not None and mechanism.certificates is not None:
        mechanism.certificates.save(certificates)
    write = notation.write
    if mechanism.answers is not None:
        write = partial(mechanism.answers.written, separator=recipe.separator or " ")
    emit([write(each) for each in released])
    if not quiet and words:
        _report(mechanism, sorted({len(word) for word in words if word}))


def _refusal(error: NotInLanguage, words: list[Any], recipe: Recipe, notation: Notation) -> NotInLanguage:
    """What is said if a word is not in the language: the rule that it breaks, or how words are read."""
    for number, word in enumerate(words, start=1):
        rule = recipe.broken_rule(word)
        if rule is not None:
            return NotInLanguage(f"word {number} breaks the rule {rule}: correct it, or leave out the rule")
    change = " (--separator changes that)" if notation.as_characters else ""
    return NotInLanguage(f"{error.message}; words are read {notation.manner}{change}")


def _report(mechanism: Private, lengths: list[int]) -> None:
    """How words of these lengths were released, and what is to be said about the promise."""
    for line in mechanism.notes(lengths):
        note(line)
    for length in lengths[-_WARNED:]:
        for text in mechanism.known_warnings(length):
            note(f"warning: {text}" if len(lengths) == 1 else f"warning for words of length {length}: {text}")


def _refuse_others(inside: Language, words: list[Any]) -> None:
    for number, word in enumerate(words, start=1):
        fault = inside.fault(tuple(word))
        if fault is not None:
            raise NotInLanguage(
                f"word {number}: the word is not in the language ({fault}): correct it, or use --any-word to take "
                "every word over the symbols"
            )
