"""Mutation testing: change one position of a module at a time, and see whether its tests notice.

Usage: python tools/mutants.py [--most NUMBER] [--seed NUMBER] [MODULE]...

A module is named by its path in src/dpwords, such as core/sampling.py; by default all of `TESTS` are tried. The tests
run in a copy of the tree, so nothing of it is touched. At most `--most` mutants of a module are tried, which `--seed`
chooses; 0 stands for all. A mutant that no test notices is printed: it asks for a test, unless the program does the
same with it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src", "dpwords")
MOST = 60
TESTS = {  # the quickest tests of a module, those first that notice most: files beside its own tests, or in tests/
    "core/sampling.py": "test_sampling spaces/test_arrays",
    "core/keyed.py": "test_keyed mechanisms/test_release_all",
    "core/files.py": "test_files test_faults_of_files::test_faults_of_whole_files",
    "core/cache.py": "test_cache test_faults_of_files::test_faults_of_certificates",
    "privacy/calibration.py": "test_calibration test_proofs mechanisms/test_exponential spaces/test_lists",
    "privacy/channel_parameters.py": "test_channel_parameters mechanisms/test_edit_channel",
    "privacy/guarantees.py": "test_guarantees mechanisms/test_summary mechanisms/test_paper_literal",
    "privacy/subset_selection.py": "mechanisms/test_report",
    "privacy/utilities.py": (
        "test_calibration test_guarantees mechanisms/test_exponential privacy/certificates/test_staircases test_claims"
    ),
    "privacy/certificates/certificate.py": "test_forged_certificates test_small_languages test_certificates",
    "privacy/certificates/certifier.py": "test_certificates test_forged_certificates core/test_cache",
    "privacy/certificates/reweighted_blocks.py": "test_reweighted_blocks_boxes test_reweighted_blocks",
    "privacy/certificates/lists.py": (
        "spaces/test_lists spaces/test_edit_counts test_forged_certificates test_outward_rounding"
    ),
    "privacy/certificates/constant_range.py": "test_certificates test_outward_rounding",
    "privacy/certificates/rounding.py": "test_outward_rounding",
    "privacy/certificates/small_languages.py": "test_small_languages test_outward_rounding",
    "privacy/certificates/systems.py": (
        "test_certificates test_reweighted_blocks test_forged_certificates test_staircases"
    ),
    "frames/arrow_files.py": "test_formats test_jobs test_shapes test_hostile_tables",
    "frames/arrays.py": "test_differential_frames test_batches test_hostile_tables test_formats",
    "frames/rows.py": "test_formats test_differential_files",
    "frames/text_files.py": "test_formats test_jobs test_shapes",
    "frames/receipts.py": "test_jobs test_formats",
    "frames/jobs.py": "test_jobs test_faults_of_files::test_faults_of_a_release_with_a_fresh_key",
    "frames/word_table.py": "test_word_table test_jobs test_batches",
    "frames/unfinished.py": "test_jobs test_faults_of_files::test_faults_of_a_release_with_a_fresh_key",
}
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}  # fmt: skip
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
BLOCKS = ("body", "orelse", "finalbody")


class Mutant(NamedTuple):
    """A module with one change: its text, the line, and what was changed."""

    text: str
    line: int
    change: str


def mutants(text: str) -> list[Mutant]:
    """All changes of a module, each alone. Annotations and messages stay as they are."""
    tree = ast.parse(text)
    left_out = _left_out(tree)
    every = (node for node in ast.walk(tree) if node not in left_out)
    found = [Mutant(ast.unparse(tree), line, change) for node in every for line, change in _changes(node)]
    return sorted(found, key=lambda each: (each.line, each.change))


def _left_out(tree: ast.AST) -> set[ast.AST]:
    """The nodes of annotations and messages."""
    tops = [getattr(node, name, None) for node in ast.walk(tree) for name in ("annotation", "returns")]
    tops += [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    return {node for top in tops if top is not None for node in ast.walk(top)}


def _changes(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of each change of a node, which is made while its name is looked at, and then undone."""
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            node.ops[position] = COMPARED[type(operator)]()
            yield line, f"{_name(operator)} becomes {_name(node.ops[position])}"
            node.ops[position] = operator
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in COMPUTED:
        yield from _swapped(node, "op", COMPUTED[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield from _swapped(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _swapped(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.UnaryOp):
        yield from _swapped(node, "op", ast.UAdd())
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        value = node.value
        yield from _swapped(
            node, "value", not value if isinstance(value, bool) else value * 1.5 if value % 1 else value + 1
        )
    elif isinstance(node, ast.Name) and node.id in CALLED:
        yield from _swapped(node, "id", CALLED[node.id])
    elif isinstance(node, ast.Attribute) and node.attr in CALLED:
        yield from _swapped(node, "attr", CALLED[node.attr])
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, (ast.Compare, ast.UnaryOp)):
        yield from _swapped(node, "test", ast.UnaryOp(ast.Not(), node.test))
    for name in BLOCKS:
        yield from _shortened(getattr(node, name, None))


def _swapped(node: ast.AST, name: str, value: Any) -> Iterator[tuple[int, str]]:
    before = getattr(node, name)
    setattr(node, name, value)
    yield getattr(node, "lineno", 0), f"{_name(before)} becomes {_name(value)}"
    setattr(node, name, before)


def _shortened(statements: Any) -> Iterator[tuple[int, str]]:
    """Leave out one statement of a block; what is returned becomes None."""
    for position, statement in enumerate(statements if isinstance(statements, list) else ()):
        if isinstance(statement, ast.Return) and _name(statement.value) != "None":
            statements[position] = ast.Return(ast.Constant(None))
            yield statement.lineno, "None is returned"
        elif _can_go(statement):
            statements[position] = ast.Pass()
            yield statement.lineno, "left out"
        statements[position] = statement


def _can_go(statement: ast.stmt) -> bool:
    """Whether a program without this statement can still run; of assignments, those that change something."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)  # a docstring
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets)
    return isinstance(statement, (ast.AugAssign, ast.Raise, ast.Break, ast.Continue))


def _name(thing: Any) -> str:
    if isinstance(thing, ast.expr):
        return ast.unparse(thing)
    return type(thing).__name__ if isinstance(thing, ast.AST) else str(thing)


def named_tests(module: str) -> list[str]:
    """The tests of a module, as pytest wants them to be named."""
    found = []
    for name in TESTS[module].split():
        file, colons, test = name.partition("::")
        beside = Path("tests", module).parent / f"{file}.py"
        found.append(f"{beside if (ROOT / beside).exists() else Path('tests', f'{file}.py')}{colons}{test}")
    return found


class Bench:
    """A copy of the tree in which tests are run."""

    def __init__(self, position: Path) -> None:
        self._position, self._stamp = position, 0
        for name in ("src", "tests", "docs", "examples", "tools", "benchmarks"):
            if (ROOT / name).exists():
                shutil.copytree(ROOT / name, position / name)  # with compiled loops, whose times count
        for path in ROOT.iterdir():
            if path.is_file() and path.name != ".git":
                shutil.copy2(path, position)

    def text(self, module: str) -> str:
        return (self._position / PACKAGE / module).read_text("utf-8")

    def passes(self, module: str, text: str, seconds: float) -> bool:
        """Whether the tests of a module pass with this text in its place, within so much time."""
        path = self._position / PACKAGE / module
        before = path.read_bytes(), path.stat().st_mtime
        self._stamp += 1
        path.write_text(text, encoding="utf-8")
        os.utime(path, (self._stamp, self._stamp))  # or Python would take what it compiled before
        try:
            return self._tests_pass(named_tests(module), seconds)
        finally:
            path.write_bytes(before[0])
            os.utime(path, (before[1], before[1]))

    def _tests_pass(self, names: list[str], seconds: float) -> bool:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *names]
        process = subprocess.Popen(
            command,
            cwd=self._position,
            env=os.environ | {"PYTHONPATH": str(self._position / "src")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def tried(bench: Bench, module: str, most: int, seed: int) -> str:
    """Try the mutants of a module, print those that no test notices, and return a row of the table."""
    text = bench.text(module)
    begin = time.monotonic()
    if not bench.passes(module, text, 3600):
        sys.exit(f"the tests of {module} fail without any change: {TESTS[module]}")
    seconds = 10 + 3 * (time.monotonic() - begin)
    every = mutants(text)
    chosen = every if not 0 < most < len(every) else random.Random(f"{module} {seed}").sample(every, most)
    survivors = 0
    for mutant in sorted(chosen, key=lambda each: each.line):
        if bench.passes(module, mutant.text, seconds):
            survivors += 1
            line = text.splitlines()[mutant.line - 1].strip()
            print(f"{module}:{mutant.line}: {mutant.change}: {line}", flush=True)
    return f"{module:45} {len(every):7} {len(chosen):6} {len(chosen) - survivors:7} {survivors:9}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    options = parser.parse_args()
    unknown = [name for name in options.modules if name not in TESTS]
    if unknown:
        parser.error(f"no tests are named for {', '.join(unknown)}: add a line to TESTS of tools/mutants.py")
    rows = []
    with tempfile.TemporaryDirectory(prefix="dpwords-mutants-") as position:
        bench = Bench(Path(position))
        for module in options.modules or TESTS:
            rows.append(tried(bench, module, options.most, options.seed))
            print(rows[-1], flush=True)
    print("", f"{'module':45} mutants tried  noticed survivors", *rows, sep="\n")


if __name__ == "__main__":
    main()
