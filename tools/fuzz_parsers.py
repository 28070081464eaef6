"""Coverage-guided fuzzing, with atheris, of everything that parses a text or a file.

Usage: python tools/fuzz_parsers.py SECONDS [TARGET]... [OPTION OF LIBFUZZER]...
       python tools/fuzz_parsers.py --one TARGET [OPTION OF LIBFUZZER]... [FILE]

The first form runs each target, or the ones named, for so many seconds, and says how many inputs it tried; 0 seconds
stand for no limit, as with -runs=1000. The second runs one target in this process. A target is a parser; the target
"every" is all of them, with inputs whose first byte chooses one. The seeds of the corpus are the valid files of
tests/test_fuzz.py and tests/test_fuzz_files.py.

One rule holds for every input: it is read, or it is refused with a `DPWordsError` of one line, within seconds and
without much memory. An input that breaks it is kept in the current directory as TARGET-crash-…, TARGET-timeout-… or
TARGET-oom-…; the second form with its path runs it again.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, NoReturn

import atheris

TESTS = Path(__file__).parents[1] / "tests"
LIMITS = ("-timeout=20", "-rss_limit_mb=2048", "-max_len=4096")  # seconds, MiB, bytes
sys.path[:0] = [str(TESTS), str(TESTS / "helpers")]

with atheris.instrument_imports(include=["dpwords"], enable_loader_override=False):
    import dpwords as dw
    import test_fuzz as texts
    import test_fuzz_files as tables
    from dpwords.bridges import event_logs, system_files
    from dpwords.cli import released
    from dpwords.cli.estimate import estimate
    from dpwords.core.files import FileContent
    from dpwords.errors import one_line
    from dpwords.frames import jobs, receipts, requests, samples, sources
    from dpwords.frames.unfinished import Unfinished
    from dpwords.languages import patterns
    from dpwords.recipes import notation

POSITION = Path(tempfile.mkdtemp(prefix="dpwords-fuzz-"))
WORDS, CELLS = dw.Words("ab"), dw.GridWorld(2, 2).by_states()
LANGUAGES = (WORDS, dw.Words(["pay", "ship", "cancel"]), dw.GridWorld(3, 3), CELLS)
FREE = dw.Exponential(WORDS, 3.0)
FACTS = {"input": "0" * 64, "options": {"epsilon": 3.0, "column": "w"}, "version": "0"}


class Target(NamedTuple):
    """What parses bytes, and valid bytes from which fuzzing begins."""

    parse: Callable[[bytes], object]
    seeds: Iterable[bytes]


def text_of(content: bytes) -> str:
    """Bytes as an argument of the command line: a surrogate for each byte that is not UTF-8, and no null."""
    return content.decode("utf-8", "surrogateescape").replace("\0", "")


def file_of(name: str, content: bytes) -> Path:
    """A file with this content."""
    position = POSITION / name
    position.write_bytes(content)
    return position


def alphabet(content: bytes) -> object:
    return notation.Notation(dw.Words(notation.alphabet_symbols(text_of(content))))


def alphabet_file(content: bytes) -> object:
    return notation.Notation(dw.Recipe(alphabet=f"@{file_of('a.txt', content)}").language())


def lexicon(content: bytes) -> object:
    return notation.Notation(dw.Recipe(lexicon=str(file_of("l.txt", content))).language())


def grid(content: bytes) -> object:
    system, walls, goal = (*text_of(content).split("|"), "", "")[:3]
    small = re.sub(r"(?<!\d)\d{3,6}(?!\d)", "99", system)  # a large grid is only slow
    return dw.Recipe(system=f"grid:{small}", walls=walls or None, goal=goal or None).language()


def system(suffix: str, **options: str) -> Callable[[bytes], object]:
    named = {"words": None, "start": None, "action": None} | options

    def parse(content: bytes) -> object:
        return notation.Notation(system_files.read_system(FileContent(f"s{suffix}", content), **named))

    return parse


def rule(content: bytes) -> object:
    some = LANGUAGES[content[0] % len(LANGUAGES)] if content else WORDS
    found = notation.rule(text_of(content[1:]), some)
    return found.accepts(["a", "b"]), found.count(3)


def pattern(content: bytes) -> object:
    separator = (None, " ", "->")[content[0] % 3] if content else None
    return patterns.Pattern(text_of(content[1:]), separator, "ab " if separator is None else None).accepts("ab")


def table(kind: str, **options: str) -> Callable[[bytes], object]:
    request = requests.Request(**({"column": "w"} | options if "case" not in options else options), invalid="skip")

    def parse(content: bytes) -> object:
        source = sources.memory_source(f"t.{kind}", content)
        samples.guessed(samples.sample_of(source))
        run = jobs.MemoryRelease(FREE, source, request)
        return run.write(run.survey())

    return parse


def public_log(content: bytes) -> object:
    return event_logs.from_log(file_of("log.csv", content), "case", "event", "time")


def certificates(content: bytes) -> object:
    mechanism = dw.Exponential(CELLS, 2.0)
    return mechanism.certificate.load(file_of("c.json", content))


def receipt(content: bytes) -> object:
    released_words = file_of("r.csv", tables.delimited(tables.WORDS))
    file_of("r.csv.receipt.json", content)
    arguments = ["--input", str(released_words), "--question", "lengths"]
    with estimate.make_context("estimate", arguments):
        return released.released_file(str(released_words), None)


def unfinished(content: bytes) -> object:
    run = Unfinished(POSITION / "out.csv")
    run.folder.mkdir(exist_ok=True)
    (run.folder / "run.json").write_bytes(content)
    return run.check_same(FACTS)


def made_certificates() -> bytes:
    mechanism, position = dw.Exponential(CELLS, 2.0), POSITION / "made.json"
    mechanism.certificate(3)
    mechanism.certificate.save(position)
    return position.read_bytes()


def made_receipt() -> bytes:
    recipe = dw.Recipe(alphabet="ab", epsilon=3.0, column="w")
    return receipts.encoded(receipts.receipt(FREE, recipe, len(tables.WORDS)))


def recipe(content: bytes) -> object:
    found = dw.Recipe.from_json(text_of(content)).closed("the recipe")
    return found.to_json(), found.command(), found.language().alphabet if found.alphabet else None


RULES = (
    b"contains:a;b",
    b"at_most:2;a",
    b"before:a;b",
    b"never:pay",
    b"starts_in:0,1",
    b"re:a(b|a)*",
    b"re:pay (ship|cancel)+",
)
PATTERNS = (b"(ab|b)*a", b"a{2,4}[ab]?.", b"[^a]+\\*", b"pay (ship | cancel)*", b"a{,3}->b")
PARSERS = {
    "alphabet": Target(alphabet, [b"a-cx-z0-9_\\-", b"name:dna", "à-ü路".encode()]),
    "alphabet_file": Target(alphabet_file, [texts.ACTIVITIES, b"\xef\xbb\xbfa\r\nb\r\n"]),
    "lexicon": Target(lexicon, [texts.CITIES]),
    "grid": Target(grid, [b"3x3@1,1|0,0;2,2|1,2", b"15x15", b"4x4@any"]),
    "json": Target(system(".json"), [texts.JSON]),
    "edges": Target(system(".csv", start="10"), [texts.ROADS]),
    "map": Target(system(".txt"), [b"S.#\n..G\n", b"...\n.#.\n"]),
    "dot": Target(
        system(".dot"), [texts.LEARNED, b"strict graph{a--b;node[shape=point]}", b"digraph{{a b}->c:n[l=<<b>>]}"]
    ),
    "graphml": Target(system(".graphml", action="do", start="p"), [texts.GRAPHML]),
    "rule": Target(rule, [bytes([number]) + each for number, each in enumerate(RULES)]),
    "pattern": Target(pattern, [bytes([number]) + each for number, each in enumerate(PATTERNS)]),
    "csv": Target(table("csv"), [tables.delimited(tables.WORDS), tables.delimited(tables.OTHERS)]),
    "jsonl": Target(table("jsonl"), [tables.json_lines(tables.WORDS), tables.json_lines(tables.OTHERS)]),
    "log": Target(table("csv", case="case", symbol="event", order="time"), [tables.LOG]),
    "arrow": Target(
        table("arrow"), [tables.arrow(tables.TABLE, stream=True), tables.arrow(tables.LISTS, stream=False)]
    ),
    "parquet": Target(table("parquet"), [tables.parquet(tables.TABLE), tables.parquet(tables.LISTS)]),
    "public_log": Target(public_log, [tables.LOG]),
    "certificates": Target(certificates, [made_certificates()]),
    "receipt": Target(receipt, [made_receipt()]),
    "recipe": Target(recipe, [b'{"alphabet": "ab", "epsilon": 3}', b'{"system": {"start": "s", "transitions": {}}}']),
    "unfinished": Target(unfinished, [b'{"input": "0", "options": {"epsilon": 3.0}, "version": "0"}']),
}


def every(content: bytes) -> object:
    """All parsers, in one process: the first byte chooses."""
    chosen = int.from_bytes(content[:1], "big") % len(PARSERS)
    return list(PARSERS.values())[chosen].parse(content[1:])


SEEDS = [bytes([number]) + seed for number, target in enumerate(PARSERS.values()) for seed in target.seeds]
TARGETS = PARSERS | {"every": Target(every, SEEDS)}


def check(content: bytes, name: str) -> None:
    """The rule that holds for every input; one that breaks it is kept."""
    try:
        TARGETS[name].parse(content)
    except dw.DPWordsError as error:
        message = str(error)
        assert message == one_line(message) != "", "the message is not one line"
    except Exception:
        Path(f"{name}-crash-{hashlib.sha256(content).hexdigest()[:16]}").write_bytes(content)
        raise


def run_one(name: str, *options: str) -> NoReturn:
    """Fuzz one target in this process, which ends with it."""
    target = TARGETS[name]
    corpus, words = POSITION / f"{name}-corpus", POSITION / f"{name}-words"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(seed)
    tokens = {token for seed in target.seeds for token in re.findall(rb"\w+|[^\w\s]", seed[:1000])}
    lines = ["".join(f"\\x{byte:02x}" for byte in token) for token in sorted(tokens)]
    words.write_text("".join(f'"{line}"\n' for line in lines), encoding="utf-8")
    positions = [] if any(not each.startswith("-") for each in options) else [str(corpus)]
    arguments = [sys.argv[0], *LIMITS, f"-dict={words}", f"-artifact_prefix={name}-", *options, *positions]
    atheris.Setup(arguments, lambda content: check(content, name))
    atheris.Fuzz()
    raise AssertionError


def run_all(names: Iterable[str], *options: str) -> int:
    """Fuzz targets one after the other, each in a process of its own; 1 if one of them failed, otherwise 0."""
    failed = []
    for name in names:
        command = [sys.executable, __file__, "--one", name, "-print_final_stats=1", *options]
        position = os.environ | {"TMPDIR": str(POSITION)}  # libFuzzer ends a process before that can tidy up
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env=position)
        text = done.stdout.decode("utf-8", "replace")
        tried = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        failed += [name] if done.returncode or not tried else []
        how = f"failed\n{text[-5000:]}" if name in failed else "none of them broke the rule"
        print(f"{name}: {int(tried[1]) if tried else 0:,} inputs, {how}", flush=True)
    return 1 if failed else 0


def main(first: str, *others: str) -> int:
    if first == "--one":
        run_one(*others)
    chosen = [each for each in others if not each.startswith("-")]
    options = [each for each in others if each.startswith("-")]
    seconds = [] if first == "0" else [f"-max_total_time={first}"]
    return run_all(chosen or PARSERS, *seconds, *options)


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    finally:
        shutil.rmtree(POSITION, ignore_errors=True)
