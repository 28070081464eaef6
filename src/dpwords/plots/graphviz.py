"""Diagrams as text for Graphviz."""

from __future__ import annotations

from collections.abc import Mapping

from dpwords.plots.structure import Diagram
from dpwords.plots.style import COMPLETIONS, KINDS, PROPORTION, legend


def text(diagram: Diagram, title: str) -> str:
    """The diagram in the DOT language; states of one column share a rank. Cost: its arrows."""
    lines = ["digraph {", "  rankdir=LR", *(f'  {part} [fontname="sans-serif"]' for part in ("graph", "node", "edge"))]
    columns: dict[float, list[str]] = {}
    for number, node in enumerate(diagram.nodes):
        label = _html(node.label, node.completions, COMPLETIONS)
        lines.append(f"  {number} [label={label}, shape=box, style=rounded, peripheries={1 + node.is_accepting}]")
        columns.setdefault(node.column, []).append(str(number))
        if node.is_start:
            lines += ['  start [shape=none, label=""]', f"  start -> {number}"]
    if diagram.arranged == "layers":
        lines += [f"  {{ rank=same; {'; '.join(together)} }}" for together in columns.values()]
    for arrow in diagram.arrows:
        kind = KINDS[arrow.kind]
        lines.append(
            f"  {arrow.source} -> {arrow.target} [label={_html((arrow.reads,), arrow.proportion, PROPORTION)}, "
            f'color="{kind.colour}", fontcolor="{kind.colour}", style={kind.dot}]'
        )
    used = {arrow.kind for arrow in diagram.arrows}
    strokes = {stroke.meaning: f"{stroke.dot} line, " for kind, stroke in KINDS.items() if kind in used}
    notes = [_font(strokes.get(note.text, "") + note.text, note.colour) for note in legend(diagram)]
    label = "".join(f"{note}<br align='left'/>" for note in ([title.translate(_ESCAPES)] if title else []) + notes)
    return "\n".join([*lines, f"  label=<{label}>", "  labeljust=l", "}", ""])


_ESCAPES: Mapping[int, str] = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def _html(lines: tuple[str, ...], note: str, colour: str) -> str:
    """An HTML-like label: the lines in black, the note in its colour."""
    parts = [line.translate(_ESCAPES) for line in lines]
    if note:
        parts.append(_font(note, colour))
    return f"<{'<br/>'.join(parts)}>"


def _font(text: str, colour: str) -> str:
    return f'<font color="{colour}">{text.translate(_ESCAPES)}</font>'
