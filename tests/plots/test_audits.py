"""Pictures of audits: points are losses, lines are claims, and what is broken is marked as such."""

from __future__ import annotations

import math
from typing import Any

import pytest
from matplotlib.artist import Artist
from matplotlib.figure import Figure

import dpwords as dw
from dpwords import plots
from dpwords.plots.palette import COLOURS


def of_kind(figure: Figure, gid: str) -> list[Any]:
    return [part for part in figure.findobj(Artist) if part.get_gid() == gid]


def said(figure: Figure) -> str:
    return " | ".join(part.get_text() for part in figure.findobj() if hasattr(part, "get_text") and part.get_text())


def test_losses_by_distance_beside_the_claim() -> None:
    """Randomised response of two letters: ln 3 for each position, and claimed is 1."""
    each = [[0.75, 0.25], [0.25, 0.75]]
    table = [[a * b for a in one for b in other] for one in each for other in each]
    found = dw.audit.channel(table, "hamming", inputs=["aa", "ab", "ba", "bb"], claimed=1)
    figure = plots.audit(found, "two letters")
    (losses,) = of_kind(figure, "loss")
    assert losses.get_xydata().tolist() == [[1, pytest.approx(math.log(3))], [2, pytest.approx(2 * math.log(3))]]
    assert losses.get_color() == COLOURS["broken"].light
    (claimed,) = of_kind(figure, "claimed")
    assert claimed.get_xydata().tolist() == [[1, 1], [2, 2]]
    assert "BROKEN" in said(figure)
    kept = plots.audit(dw.audit.exact(dw.Exponential(dw.Words("ab"), 1.0, k=2), 3))
    assert of_kind(kept, "claimed")[0].get_xydata().tolist() == [[1, 1], [2, 1], [3, 2]]
    assert of_kind(kept, "loss")[0].get_color() == COLOURS["goal"].light
    assert "BROKEN" not in said(kept)


def test_a_claim_that_is_broken_at_distance_0_is_drawn_as_broken() -> None:
    table, apart = [[0.75, 0.25], [0.5, 0.5], [0.5, 0.5]], [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    figure = plots.audit(dw.audit.channel(table, apart, claimed=2))
    broken = [line for line in of_kind(figure, "loss") if line.get_color() == COLOURS["broken"].light]
    assert broken[0].get_xydata().tolist() == [[0, pytest.approx(math.log(2))]]
    assert figure.axes[0].get_xticks().tolist() == [0, 1]


def test_infinite_losses_are_arrows() -> None:
    figure = plots.audit(dw.audit.channel([[1, 0], [0.5, 0.5]], [[0, 3], [3, 0]]))
    (arrows,) = of_kind(figure, "infinite")
    assert arrows.get_xdata().tolist() == [3]
    assert not of_kind(figure, "claimed")


@pytest.mark.parametrize(("claimed", "verdict"), [(1.0, "BROKEN"), (20.0, "not accused, and not proven"), (None, "")])
def test_a_lower_bound_is_where_the_bar_starts(claimed: float | None, verdict: str) -> None:
    found = dw.audit.statistical(lambda word: word, "a", "b", 2000, claimed=claimed)
    figure = plots.audit(found)
    (bar,) = of_kind(figure, "bound")
    assert bar.get_x() == pytest.approx(found.loss)
    assert [line.get_xdata()[0] for line in of_kind(figure, "claimed")] == ([] if claimed is None else [claimed])
    assert verdict in said(figure)


def test_draws_that_repeat_have_an_infinite_loss() -> None:
    kept: dict[str, list[int]] = {}
    found = dw.audit.statistical(
        lambda word, draws: kept.setdefault(word, list(range(draws)))[:draws], "a", "b", 2000, claimed=1.0
    )
    assert "the loss is infinite: the draws repeat" in said(plots.audit(found))


def test_only_audits_are_drawn() -> None:
    with pytest.raises(dw.InvalidValue, match="there is nothing to draw: pass what"):
        plots.audit(3)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="no two words are at a finite distance"):
        plots.audit(dw.audit.channel([[1.0], [1.0]], [[0, 0], [0, 0]]))
