"""Audits: measured losses beside what was claimed for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dpwords.errors import InvalidValue
from dpwords.plots.figures import drawable, matplotlib_as_it_comes, new_figure, one_line
from dpwords.plots.palette import COLOURS, INK, PALE, RELEASED
from dpwords.privacy.guarantees import keeps, steps_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_KEPT, _BROKEN = COLOURS["goal"].light, COLOURS["broken"].light
_CLAIMED = "claimed: ε·ceil(d/k)"


@runtime_checkable
class AuditedLosses(Protocol):
    """What is drawn of an exact audit: the largest loss at each distance."""

    k: int

    @property
    def claimed(self) -> float | None: ...

    @property
    def losses(self) -> Mapping[float, float]: ...


@runtime_checkable
class AuditedPair(Protocol):
    """What is drawn of a statistical audit: a lower bound on the loss of one pair."""

    loss: float
    reach: float
    distance: float
    confidence: float

    @property
    def allowed(self) -> float | None: ...


@matplotlib_as_it_comes()
def audit(found: AuditedLosses | AuditedPair, title: str = "") -> Figure:
    """The result of an audit beside its claim, as a function of `dw.audit` has returned it.

    For an exact audit, or that of a channel: the largest loss at each distance, and the line ε·ceil(d/k). For a
    statistical audit: the lower bound on the loss of the pair of words, and what was claimed for their distance.

    >>> import dpwords as dw
    >>> figure = audit(dw.audit.exact(dw.Exponential(dw.Words("ab"), epsilon=1), length=3))
    """
    figure = new_figure((6, 4 if isinstance(found, AuditedLosses) else 2.2), layout="constrained")
    axes = figure.subplots()
    if isinstance(found, AuditedLosses):
        _by_distance(axes, found)
    elif isinstance(found, AuditedPair):
        _bound(axes, found)
    else:
        raise InvalidValue("there is nothing to draw: pass what a function of dw.audit returned")
    axes.set_title(drawable(one_line(title)), fontsize=10, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def _by_distance(axes: Axes, found: AuditedLosses) -> None:
    """A point for each distance; infinite losses are arrows at the top."""
    distances = [*found.losses]
    if not distances:
        raise InvalidValue("there is nothing to draw: no two words are at a finite distance above 0")
    claimed = None if found.claimed is None else [found.claimed * steps_of(d, found.k) for d in distances]
    finite = [loss for loss in found.losses.values() if math.isfinite(loss)]
    top = 1.15 * max([*finite, *(claimed or ()), 1e-3])
    if claimed is not None:
        axes.plot(distances, claimed, color=INK, linewidth=1.2, drawstyle="steps-mid", label=_CLAIMED, gid="claimed")
        axes.plot(distances, claimed, "_", color=INK, markersize=14)
    limits = claimed or [math.inf] * len(distances)
    kept = {"within the claim": (_KEPT, "o"), "BROKEN: above the claim": (_BROKEN, "X")}
    for name, (colour, marker) in kept.items():
        broken = name.startswith("BROKEN")
        points = [
            (d, loss)
            for d, loss, most in zip(distances, found.losses.values(), limits, strict=True)
            if keeps(loss, most) != broken and math.isfinite(loss)
        ]
        if points:
            shown = f"largest loss, {name}" if claimed else "largest loss"
            look = colour if claimed else RELEASED
            axes.plot(*zip(*points, strict=True), marker, color=look, linestyle="none", label=shown, gid="loss")
    infinite = [d for d, loss in found.losses.items() if math.isinf(loss)]
    if infinite:
        axes.plot(infinite, [top] * len(infinite), "^", color=_BROKEN, linestyle="none", clip_on=False)
        axes.lines[-1].set(label="infinite loss: an output rules a word out", gid="infinite")
    axes.set(xlabel="distance d of two words", ylabel="loss: largest |ln p(w; x)/p(w; x′)|", ylim=(0, top))
    axes.margins(x=0.08)
    if all(float(d).is_integer() for d in distances) and max(distances) <= 20:
        axes.set_xticks(range(min(1, int(min(distances))), int(max(distances)) + 1))


def _bound(axes: Axes, found: AuditedPair) -> None:
    """Where the true loss is, as far as the draws tell, on a line with the claim."""
    finite = math.isfinite(found.loss)
    edge = 1.25 * max(found.reach, found.allowed or 0.0, found.loss if finite else 0.0, 1e-3)
    broken = found.allowed is not None and not keeps(found.loss, found.allowed)
    colour = _BROKEN if broken else RELEASED
    start = found.loss if finite else edge * 0.97
    said = f"the true loss is {found.loss:.3g} or more" if finite else "the loss is infinite: the draws repeat"
    axes.barh([0], [edge - start], left=[start], height=0.5, color=colour, alpha=0.35, label=said, gid="bound")
    axes.plot([start, start], [-0.25, 0.25], color=colour, linewidth=2.5)
    if found.allowed is not None:
        axes.axvline(found.allowed, color=INK, linewidth=1.6, linestyle="dashed", gid="claimed")
        verdict = "BROKEN" if broken else "not accused, and not proven"
        axes.lines[-1].set_label(f"claimed for distance {found.distance:g}: {found.allowed:.3g} ({verdict})")
    axes.axvspan(found.reach, edge, color=PALE, alpha=0.35, linewidth=0, label="more than so many draws can show")
    axes.set(xlabel=f"loss of the two words, with confidence {found.confidence:g}", xlim=(0, edge), ylim=(-0.6, 0.6))
    axes.set_yticks([])
    axes.spines[["left"]].set_visible(False)
