"""dpwords draw"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from dpwords.cli.options import LANGUAGE, given_recipe, language_options, refuse
from dpwords.cli.targets import check_target
from dpwords.cli.terminal import emit, shown
from dpwords.errors import InvalidValue, NotInLanguage

if TYPE_CHECKING:
    from dpwords.languages.automata import Automaton
    from dpwords.languages.language import Language


@click.command(short_help="Draw automata, systems, and runs on them.")
@click.argument("words_given", metavar="[WORD]...", nargs=-1)
@language_options
@click.option("-k", type=int, help="The largest number of edits.  [default: that of --exactly, or 1]")
@click.option(
    "--edits",
    type=click.Choice(["all", "substitutions"]),
    help="Which edits are allowed.  [default: all; with --system, substitutions]",
)
@click.option("--of-length", is_flag=True, help="Only words as long as WORD, as a deterministic automaton.")
@click.option("--exactly", type=int, help="Only words at exactly this distance, with completions V and policy μ.")
@click.option(
    "--runs",
    is_flag=True,
    help="Draw each WORD as a run on a grid or map: first the private run, then released ones, their changes marked.",
)
@click.option("--released", is_flag=True, help="With --runs: no run is private, all of them are released ones.")
@click.option("--paper", is_flag=True, help="Draw the paper's automata in all formats; --output is a directory.")
@click.option("--title", default="", help="A title above the picture.")
@click.option("--separator", help="What separates symbols.  [default: nothing, or a space if symbols are longer]")
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="A file that ends in .svg, .png or .dot.  [default: DOT on standard output]",
)
def draw(
    words_given: tuple[str, ...],
    paper: bool,
    runs: bool,
    released: bool,
    title: str,
    output: Path | None,
    **options: Any,
) -> None:
    """Draw the automaton of a WORD, its policy, its product with a system, a system, or runs on it.

    SVG and PNG do not need Graphviz. A picture of a private word's automaton shows the word: do not publish it.

    \b
    Examples:
      dpwords draw abc --alphabet abc -k 2 --output automaton.svg
      dpwords draw abc --alphabet abc -k 2 --of-length --output length.png
      dpwords draw abc --alphabet abc --edits substitutions --exactly 2 --output policy.svg
      dpwords draw EES --system grid:2x3 -k 3 --output product.svg
      dpwords draw --system grid:3x3 --output system.dot
      dpwords draw --system grid:2x3 --rule contains:0,2 --output rule.svg
      dpwords draw EESS SESE --runs --system grid:4x4 --output runs.png
      dpwords draw EESS SES --runs --released --system grid:4x4 --output released.png
      dpwords draw --system roads.graphml --output roads.svg
      dpwords draw --paper --output figures
    """
    from dpwords import plots
    from dpwords.recipes.notation import Notation

    if output is not None and not paper:
        plots.checked_form(output)
        check_target(output)
    if paper:
        refuse("--paper draws the paper's figures", "words_given", "runs", "released", "title", *options)
        _draw_paper(output)
    elif runs:
        refuse("--runs draws words as they are", *_OF_AUTOMATA)
        public = given_recipe(LANGUAGE).language()
        if not words_given or output is None or public.system is None:
            raise InvalidValue("runs need words, a --system, and an --output that ends in .svg or .png")
        notation = Notation(public, options["separator"])
        read = [notation.read(text) for text in words_given]
        plots.save(plots.runs(public, {"": read}, title, compared=not released), output)
    else:
        refuse("only --runs draws released runs", "released")
        drawn = _drawn(words_given, **options)
        if output is None:
            emit(plots.dot(drawn, title).splitlines())
        else:
            plots.save(drawn, output, title)


_OF_AUTOMATA = ("k", "edits", "of_length", "exactly")


def _drawn(
    words_given: tuple[str, ...],
    k: int | None,
    edits: Literal["all", "substitutions"] | None,
    of_length: bool,
    exactly: int | None,
    separator: str | None,
    **options: Any,
) -> Automaton | Language:
    """The automaton or system that the options describe."""
    from dpwords.languages.automata import LevenshteinAutomaton
    from dpwords.languages.free_words import Words
    from dpwords.recipes.notation import Notation

    public = given_recipe(LANGUAGE).language()
    if not words_given and (public.system is not None or options["rules"]):
        refuse("a system without a word is drawn as it is", *_OF_AUTOMATA, "separator")
        return public
    if len(words_given) != 1:
        raise InvalidValue("an automaton belongs to one word: give one WORD, or --system alone, or --runs")
    free = isinstance(public, Words)
    if edits == "all" and not free:
        raise InvalidValue("the product with a system allows only substitutions: leave out --edits all")
    word = Notation(public, separator).read(words_given[0])
    fault = None if free else public.fault(tuple(word))
    if fault is not None:
        raise NotInLanguage(f"the word is not in the language ({fault}): only words of the system can be drawn")
    word = word if public.spelling is None else list(public.read(tuple(word)))
    most = max(exactly or 0, 1) if k is None else k
    whole = LevenshteinAutomaton(word, most, public.alphabet.symbols, edits or ("all" if free else "substitutions"))
    near = whole.of_length() if of_length else whole
    drawn = near if free else near.product(public)
    return drawn if exactly is None else drawn.exactly(exactly)


def _draw_paper(output: Path | None) -> None:
    from dpwords import plots
    from dpwords.core.files import check_output, write_whole
    from dpwords.studies.figures import figures

    if output is None:
        raise InvalidValue("--paper needs a directory: name one with --output")
    if output.suffix:
        raise InvalidValue("--paper writes a directory: give --output a name without a suffix")
    check_output(output / "system.svg")
    contents: dict[Path, bytes] = {}
    for name, (title, drawn) in shown(list(figures().items()), "drawing"):
        paths = [output / f"{name}.{form}" for form in plots.FORMATS]
        contents |= {path: plots.content_for(drawn, path, title) for path in paths}
    write_whole(contents)
