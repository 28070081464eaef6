"""Short texts that stand for much, for `test_hostile_texts.py`: what becomes of each under a limit of memory, as JSON.

Each parser gets a text of up to a few hundred kilobytes. The process may then take only `ROOM` more address space.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable
from pathlib import Path

import dpwords as dw
from dpwords.bridges import probability_files, system_files
from dpwords.core.files import FileContent
from dpwords.recipes import notation

MEMORY = 512 * 2**20  # bytes
WORDS = dw.Words("ab")


def names(number: int, between: str, before: str = "") -> str:
    return between.join(f"{before}n{each}" for each in range(number))


def system(suffix: str, text: str) -> object:
    content = FileContent(f"s{suffix}", text.encode())
    return system_files.read_system(content, words=None, start=None, action=None)


def channel(text: str) -> object:
    return probability_files.read_channel(FileContent("m.csv", text.encode()))


def laughs() -> str:
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    return f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]><graphml><graph><node id="p">&e9;</node></graph></graphml>'


CASES: dict[str, Callable[[], object]] = {
    "edges between sets": lambda: system(".dot", f"digraph{{{{{names(17_000, ' ')}}}->{{{names(980, ' ')}}}}}"),
    "defaults of nodes": lambda: system(".dot", f"digraph{{node[{names(20_000, ',')}];{names(4000, ' ')}}}"),
    "defaults of edges": lambda: system(".dot", f"digraph{{edge[{names(20_000, ',')}];{names(4000, ';', 'a->')}}}"),
    "more and more defaults": lambda: system(".dot", f"digraph{{{names(8000, ']x->y;', 'edge[')}]}}"),
    "nested sets": lambda: system(".dot", f"digraph{{{'{' * 250}{names(20_000, ' ')}{'}' * 250}}}"),
    "a long path": lambda: system(".dot", f"digraph{{{'a->' * 100_000}a}}"),
    "columns of edges": lambda: system(".csv", f"source,target,{names(60_000, ',')}\n"),
    "columns of a channel": lambda: channel(f",{names(60_000, ',')}\na\n"),
    "entities": lambda: system(".graphml", laughs()),
    "a grid": lambda: dw.Recipe(system="grid:99999x99999").language(),
    "ranges": lambda: dw.Words(notation.alphabet_symbols("\x01-\U0010ffff" * 2000)),
    "repetitions": lambda: notation.rule("re:(((a{1000}){1000}){1000}){1000}", WORDS).accepts("ab"),
    "states of a pattern": lambda: notation.rule("re:(a|b)*a(a|b){18}", WORDS).accepts("ab"),
    "nested groups": lambda: notation.rule(f"re:{'(' * 100_000}{')' * 100_000}", WORDS),
    "nested JSON": lambda: system(".json", "[" * 100_000),
}


def outcome(parse: Callable[[], object]) -> str:
    try:
        parse()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "read"


if __name__ == "__main__":
    system(".dot", "digraph{a->b;b->a}"), outcome(lambda: system(".graphml", "<graphml/>"))  # import what is needed
    taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, resource.RLIM_INFINITY))
    print(json.dumps({name: outcome(parse) for name, parse in CASES.items()}))
