"""Small languages of every shape, and strategies that make random ones."""

from __future__ import annotations

from hypothesis import strategies as st

import dpwords as dw
from dpwords.languages.language import Language

CORRIDOR = dw.TransitionSystem(  # "b" from s1 and "c" from s2 lead to dead ends
    {"s0": {"a": "s1", "b": "s2"}, "s1": {"a": "s0", "b": "dead"}, "s2": {"a": "s2", "c": "dead"}}, start="s0"
)
PARALLEL = dw.TransitionSystem(  # two actions between the same states
    {0: {"x": 1, "y": 1, "z": 0}, 1: {"x": 0, "y": 1, "z": 1}}, start=0
)
ENDING = dw.TransitionSystem(  # words with an even number of a's
    {"even": {"a": "odd", "b": "even"}, "odd": {"a": "even", "b": "odd"}}, start="even", accepting=["even"]
)
LONELY = dw.TransitionSystem({"s": {"only": "s"}}, start="s")
NO_NEIGHBOURS = dw.TransitionSystem(  # two words, at distance 3
    {"s": {"a": "a1", "b": "b1"}, "a1": {"a": "a2"}, "a2": {"a": "end"}, "b1": {"b": "b2"}, "b2": {"b": "end"}},
    start="s",
)
ROADS = dw.from_edges([("p", "q"), ("q", "p"), ("q", "r"), ("r", "p"), ("r", "r")], start=None)

SYSTEMS: dict[str, tuple[Language, int]] = {
    "dead ends": (CORRIDOR, 4),
    "parallel actions": (PARALLEL, 3),
    "parallel actions, by states": (PARALLEL.by_states(), 4),
    "accepting set": (ENDING, 4),
    "one symbol": (LONELY, 3),
    "no neighbours": (NO_NEIGHBOURS, 3),
    "any start": (ROADS, 3),
    "grid": (dw.GridWorld(2, 3, start=(0, 1)), 3),
    "grid by states": (dw.GridWorld(3, 3).by_states(), 4),
    "walls": (dw.GridWorld(3, 3, start=(0, 0), walls={(1, 1), (0, 2)}), 4),
    "grid with stay": (dw.GridWorld(2, 2, stay=True), 3),
    "grid from anywhere": (dw.GridWorld(2, 2, start=None).by_states(), 3),
    "lexicon": (dw.Lexicon(["bern", "bonn", "kiel", "born", "köln", "riga", "rom", "baku", "bahn", "bart"]), 4),
    "up to a length": (dw.GridWorld(2, 3).up_to(3), 3),
    "goal": (dw.GridWorld(2, 3, goal=(1, 2)), 3),
    "moves under a rule": (dw.GridWorld(3, 3) & dw.rules.contains((1, 1)), 4),
    "states under a rule": (dw.GridWorld(3, 3).by_states() & dw.rules.contains((1, 1)), 4),
    "states under a rule about the ends": (
        dw.GridWorld(3, 3, start=None).by_states()
        & dw.rules.starts_in((0, 0), (1, 1))
        & dw.rules.ends_in((0, 2), (2, 2))
        & dw.rules.never((0, 1)),
        3,
    ),
    "pattern": (dw.Pattern("(ab|c)*d?"), 4),
    "words under a pattern": (dw.Words("abc") & dw.Pattern(".*a[^a].*"), 3),
    "complement": (~dw.rules.contains("a", "b", alphabet="abc"), 3),
    "union": (dw.GridWorld(2, 2) | dw.Pattern("(E|x)+"), 3),
    "difference": (PARALLEL - dw.rules.at_most(1, "x"), 3),
}
FREE: dict[str, tuple[Language, int]] = {
    "two letters": (dw.Words("ab"), 5),
    "three letters": (dw.Words("abc"), 4),
    "one letter": (dw.Words("a"), 4),
    "bounded": (dw.Words("xyz", max_length=3), 3),
}
ALL = SYSTEMS | FREE
PLANS: dict[str, tuple[Language, int]] = {  # which are written as moves, and whose symbols are states
    "walls": (dw.GridWorld(3, 3, walls={(0, 2)}).plans(), 4),
    "goal under a rule": (dw.GridWorld(3, 3, goal=(1, 2)).plans() & dw.rules.contains((1, 1)), 5),
    "dead ends": (CORRIDOR.plans(), 4),
    "accepting set": (ENDING.plans(), 4),
    "bounded": (dw.GridWorld(2, 2, stay=True).plans().up_to(3), 3),
}

FINITE: dict[str, tuple[Language, int]] = {  # with the length of the longest word, for Levenshtein distance
    "cities": (dw.Lexicon(["bern", "berlin", "bonn", "basel", "born", "b", "ulm", "köln", "a"]), 6),
    "with the empty word": (dw.Lexicon(["", "a", "ab", "abc", "ba", "c"]), 3),
    "one word": (dw.Lexicon(["only"]), 4),
    "other symbols": (dw.Lexicon([(-1, -2), (-2, -1, None), [-1], ((0, 1), (0, 2)), [(0, 1)]]), 3),
    "far apart": (dw.Lexicon(["aaaa", "bbbbbb", "c"]), 6),
    "bounded words": (dw.Words("ab", max_length=3), 3),
    "dead ends, bounded": (CORRIDOR.up_to(4), 4),
    "accepting set, bounded": (ENDING.up_to(3), 3),
    "no cycles": (NO_NEIGHBOURS, 3),
    "any start, bounded": (ROADS.up_to(3), 3),
    "grid, bounded": (dw.GridWorld(2, 2).up_to(3), 3),
    "pattern without repetition": (dw.Pattern("(ab?|b)(c|ca)?", alphabet="abc"), 4),
    "rule, bounded": ((dw.Words("ab") & dw.rules.before("a", "b")).up_to(3), 3),
    "bounded words under a rule": (dw.Words("ab", max_length=3) & dw.rules.at_least(2, "a"), 3),
}


@st.composite
def random_lexicons(draw: st.DrawFn) -> tuple[dw.Lexicon, int]:
    """A few random words over two or three letters, and the length of the longest; the empty word may be among them."""
    letters = "abc"[: draw(st.integers(2, 3))]
    words = draw(st.sets(st.text(letters, max_size=6), min_size=1, max_size=24))
    lexicon = dw.Lexicon(words, alphabet=letters)
    return lexicon, max(map(len, words))


@st.composite
def random_systems(draw: st.DrawFn) -> tuple[Language, int]:
    """A random partial system (moves, states, or states from anywhere) and a length at which it has words."""
    size = draw(st.integers(1, 4))
    actions = "abc"[: draw(st.integers(1, 3))]
    targets = st.one_of(st.none(), st.integers(0, size - 1))
    rows = {state: {action: draw(targets) for action in actions} for state in range(size)}
    transitions = {s: {a: t for a, t in row.items() if t is not None} for s, row in rows.items()}
    known = sorted(set(transitions) | {t for row in transitions.values() for t in row.values()})
    accepting = draw(st.one_of(st.none(), st.sets(st.sampled_from(known), min_size=1)))
    shape = draw(st.sampled_from(["moves", "states", "anywhere"]))
    system = dw.TransitionSystem(transitions, start=None if shape == "anywhere" else 0, accepting=accepting)
    language = system if shape == "moves" else system.by_states()
    lengths = [n for n in range(1, 5) if 0 < language.count(n) <= 60]
    if not lengths:
        return LONELY, 2
    return language, draw(st.sampled_from(lengths))
