"""The meaning of colours and strokes, the same in every picture and every format."""

from __future__ import annotations

from dataclasses import dataclass

from dpwords.plots.palette import COLOURS, DIAGRAMS
from dpwords.plots.structure import Diagram, Kind

INK = COLOURS["private"].light  # also that of plain text
RELEASED = COLOURS["released"].light
CHANGED = COLOURS["changed"].light
MARK = COLOURS["mark"].light
WALL = COLOURS["wall"].light
PALE = COLOURS["pale"].light
COMPLETIONS, PROPORTION, ROAD = DIAGRAMS["completions"], DIAGRAMS["proportion"], DIAGRAMS["road"]

Line = str | tuple[float, tuple[float, ...]]  # a line style of matplotlib


@dataclass(frozen=True)
class Stroke:
    """The appearance of one kind of arrow, and its meaning in the legend."""

    meaning: str
    colour: str
    line: Line
    dot: str  # the style in Graphviz


_PLAIN, _ERROR = (INK, "solid", "solid"), (CHANGED, (0.0, (5.0, 2.0)), "dashed")
KINDS: dict[Kind, Stroke] = {
    "match": Stroke("match: reads the word's own symbol", *_PLAIN),
    "substitution": Stroke("substitution: reads another symbol", *_ERROR),
    "insertion": Stroke("insertion: reads any symbol", DIAGRAMS["insertion"], (0.0, (1.5, 1.5)), "dotted"),
    "deletion": Stroke("deletion: reads nothing", DIAGRAMS["deletion"], (0.0, (6.0, 2.0, 1.5, 2.0)), "bold"),
    "same errors": Stroke("the least number of errors stays the same", *_PLAIN),
    "more errors": Stroke("the least number of errors grows by one", *_ERROR),
    "move": Stroke("move of the system", *_PLAIN),
    "symbol": Stroke("symbol that is read", *_PLAIN),
    "step": Stroke("comes directly after; the wider, the larger the proportion", RELEASED, "solid", "solid"),
}

_SIGNS = {"≠": "≠a: any symbol except a", "*": "*: any symbol", "ε": "ε: no symbol"}


@dataclass(frozen=True)
class Note:
    """A line of a legend, with a sample of the stroke if it is about arrows."""

    text: str
    colour: str = INK
    line: Line | None = None


def legend(diagram: Diagram) -> list[Note]:
    """The meaning of the colours, strokes and signs that occur in a diagram."""
    used = {arrow.kind for arrow in diagram.arrows}
    notes = [Note(stroke.meaning, stroke.colour, stroke.line) for kind, stroke in KINDS.items() if kind in used]
    if any(node.completions for node in diagram.nodes):
        notes.append(Note("V, blue: the number of words that lead from a state to the end", COMPLETIONS))
    if any(arrow.proportion for arrow in diagram.arrows):
        notes.append(Note("μ, red: the probability of each symbol that an arrow reads", PROPORTION))
    reads = [arrow.reads for arrow in diagram.arrows]
    notes += [Note(text) for sign, text in _SIGNS.items() if any(text.startswith(sign) for text in reads)]
    if diagram.arranged == "layers":
        each = "a box lists all possible i,e: " if used & {"same errors", "more errors"} else "i,e: "
        notes.append(Note(each + "i symbols of the word are read, e errors are spent"))
    if diagram.in_product:
        notes.append(Note("below i,e: the state of the system"))
    if any(node.is_accepting for node in diagram.nodes):
        notes.append(Note("double line: accepting"))
    return notes
