"""A released file and its receipt: what it has, and the mechanism that it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpwords.cli.options import given_recipe, was_given
from dpwords.cli.targets import refuse_overwriting
from dpwords.cli.terminal import note_proofs, prepare
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import FIELDS, WHERE
from dpwords.recipes.table_formats import STANDARD

if TYPE_CHECKING:
    from dpwords.frames.formats import FileForm
    from dpwords.frames.sources import Released
    from dpwords.frames.streams import Input
    from dpwords.mechanisms.private import Private
    from dpwords.recipes.recipe import Recipe


_DESCRIBE = "say how the words were released, with --epsilon and --alphabet or --system"
_DESCRIBING = tuple(key for key, each in FIELDS.items() if each.in_receipt)


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """What a released file has, and the mechanism that released it."""

    mechanism: Private
    contents: Released
    name: str
    separator: str | None  # between symbols, in words that are texts
    notes: tuple[str, ...]  # where the file differs from its receipt
    recipe: Recipe  # by which each word was released
    whole: Recipe  # the one of the receipt, which may have a budget where `recipe` has the ε of each word
    receipt: Mapping[str, Any]  # empty if there is none

    def prepare(self) -> None:
        """Make what computations with its words need from calibration, where it can be seen."""
        from dpwords.core.symbols import Ragged

        assert isinstance(self.contents.codes, Ragged)
        lengths = sorted(set(self.contents.codes.sizes.tolist()) - {0})
        note_proofs([(self.mechanism, length) for length in lengths])
        for number, length in enumerate(lengths, start=1):
            if self.mechanism.certificates is not None:
                prepare(self.mechanism, [length], about=f" ({number} of {len(lengths)})")


def released_file(
    path: str,
    named: str | None,
    outputs: Sequence[Path] = (),
    remedy: str = _DESCRIBE,
    several_epsilons: bool = False,
) -> ReleasedFile:
    """Read a file that `dpwords release` wrote. The receipt says how; options of the running command come first.

    Raises `InvalidValue` if one of the `outputs` is a file that the receipt names, if there is no receipt and options
    do not replace it, where the `remedy` is what to do without one, if there are more words than the receipt is about,
    and where words have different ε unless `several_epsilons` are allowed; the mechanism is then the one of a person's
    only word.
    """
    from dpwords import __version__
    from dpwords.frames import need_pyarrow

    need_pyarrow()
    from dpwords.frames import receipts
    from dpwords.frames.formats import FileForm
    from dpwords.frames.requests import Request
    from dpwords.frames.sources import TableSource, released
    from dpwords.frames.streams import Input
    from dpwords.recipes.recipe import Recipe
    from dpwords.recipes.table_formats import DELIMITED

    form = FileForm.of(path, named)
    with Input(path) as source:
        document = _receipt(path, form, source, remedy, described=was_given("epsilon"))
        base = receipts.recipe_of(document, source.name) if document else Recipe()
        recipe = given_recipe(_DESCRIBING, base).located(Path(path).parent)
        for output in outputs:
            refuse_overwriting(output, recipe=recipe)
        form = FileForm.of(path, named, not (recipe.no_header and form.kind in DELIMITED))
        mechanism = recipe.mechanism()
        if not several_epsilons:
            receipts.refuse_several_epsilons(recipe)
        if document:
            receipts.check_facts(document, base, mechanism, recipe)
        number = document.get("words")
        request = Request(**{name: getattr(recipe, name) for name in WHERE})
        found = released(TableSource(source, form, form.reader(source)), mechanism, request, number)
        receipts.check_number(document, len(found), source.name)
        notes = []
        if number is not None and len(found) != number:
            notes.append(f"the receipt is about {number:,} releases, and {source.name} has {len(found):,}")
        if document.get("version", __version__) != __version__:
            notes.append("the file was released by another version of dpwords, whose calibration may be another one")
        whole = receipts.whole_recipe_of(document, source.name) if document else recipe
        return ReleasedFile(
            mechanism, found, source.name, recipe.separator, tuple(notes), recipe, whole, document or {}
        )


def need_receipt(path: str, named: str | None, remedy: str) -> None:
    """Raise `InvalidValue` if a released file has no receipt, whatever the options are."""
    from dpwords.frames import need_pyarrow

    need_pyarrow()
    from dpwords.frames.formats import FileForm
    from dpwords.frames.streams import Input

    with Input(path) as source:
        _receipt(path, FileForm.of(path, named), source, remedy, described=False)


def _receipt(path: str, form: FileForm, source: Input, remedy: str, described: bool) -> Mapping[str, Any]:
    """The receipt; empty if there is none, and the release is `described` by options without it."""
    from dpwords.frames import receipts

    place, given = receipts.path_of(Path(path)), described
    if not form.is_text:
        try:
            return receipts.inside(form.reader(source).schema, Path(path).name)
        except receipts.NoReceipt as error:
            if given:
                return {}
            raise InvalidValue(f"{error.message}; without it, {remedy}") from None
    if path != STANDARD and place.exists():
        return receipts.read(path, form.kind)
    if given:
        return {}
    if path == STANDARD:
        raise InvalidValue(f"standard input comes without a receipt: {remedy}")
    raise InvalidValue(f"there is no receipt {place.name} beside the file: put it there, or {remedy}")
