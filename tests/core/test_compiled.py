"""Compiled loops never stand in the way: without a cache, with a damaged one, and where they are not needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core import scaled
from dpwords.core.compiled import interpreted, kernel
from dpwords.core.randomness import SeededSource
from dpwords.spaces.graph import Graph
from dpwords.spaces.runs import Runs
from zoo import ALL

PACKAGE = Path(dw.__file__).parent
USE_KERNELS = (
    "import dpwords as dw; mechanism = dw.Exponential(dw.GridWorld(9, 9), 3.0, calibration='textbook'); "
    "print(mechanism.release('EW' * 200)[:0] == '')"
)

ONCE = "compiling loops .* once after an installation\n"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the package whose kernels have no cache yet."""
    shutil.copytree(PACKAGE, tmp_path / "dpwords", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(code: str, installed: Path, home: str) -> subprocess.CompletedProcess[str]:
    hidden = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPYCACHEPREFIX"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"PYTHONPATH": str(installed), "HOME": home}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=installed)


def test_without_a_position_for_a_cache(installed: Path) -> None:
    """A read-only installation and an unwritable home, as in a container: nothing can be kept, and all works."""
    (installed / "dpwords" / "_kernels" / "__pycache__").write_text("not a directory")
    done = run(USE_KERNELS, installed, home="/dev/null")
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert re.fullmatch("compiling loops .* in each process, unless NUMBA_CACHE_DIR can be written to\n", done.stderr)


def test_a_damaged_cache_is_thrown_away(installed: Path, tmp_path: Path) -> None:
    """As after a crash, or after another version with other classes."""
    assert run(USE_KERNELS, installed, str(tmp_path)).stdout == "True\n"
    kept = list((installed / "dpwords" / "_kernels" / "__pycache__").glob("*.nbi"))
    assert kept
    for file in kept:
        file.write_bytes(file.read_bytes()[:40])
    done = run(USE_KERNELS, installed, str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True\n")
    assert re.fullmatch(ONCE, done.stderr)
    assert any(file.stat().st_size > 40 for file in kept)


def test_the_cache_is_for_the_code_of_all_loops(installed: Path, tmp_path: Path) -> None:
    """A loop contains what it calls from another file: when only that file is mended, the loop is compiled anew."""
    kernels = installed / "dpwords" / "_kernels"
    head = "from dpwords._kernels.compiler import compiled\n"
    loop = "\n@compiled()\ndef {}(x: float) -> float:\n    return {}\n"
    outer = f"{head}from dpwords._kernels.inner import inner\n{loop.format('outer', 'inner(x)')}"
    (kernels / "outer.py").write_text(outer, encoding="utf-8")
    use = "from dpwords._kernels.outer import outer; print(outer(1.0), sum(outer.stats.cache_hits.values()))"
    found = []
    for body in ("x + 1.0", "x + 1.0", "x + 22.0"):
        (kernels / "inner.py").write_text(head + loop.format("inner", body), encoding="utf-8")
        found.append(run(use, installed, str(tmp_path)).stdout)
    assert found == ["2.0 0\n", "2.0 1\n", "23.0 0\n"]


def test_compilation_is_announced_once_before_it_starts(installed: Path, tmp_path: Path) -> None:
    """On standard error, by logging: in a pipe too, and not where nothing has to be compiled."""
    loop = "\n@compiled()\ndef {}(x: float) -> float:\n    return x + 1.0\n"
    kernels = "from dpwords._kernels.compiler import compiled\n" + loop.format("one") + loop.format("other")
    (installed / "dpwords" / "_kernels" / "some.py").write_text(kernels, encoding="utf-8")
    use = """
from numba.core import event
from dpwords._kernels.some import one, other
class Started(event.Listener):
    def on_start(self, event): import sys; print("compiled", file=sys.stderr)
    def on_end(self, event): pass
event.register("numba:compile", Started())
one(1.0), other(1.0), one(1)
"""
    silent = "import logging; logging.getLogger('dpwords').setLevel(logging.ERROR)\n"
    assert re.fullmatch(f"{ONCE}(compiled\n)+", run(use, installed, str(tmp_path)).stderr)
    assert run(use, installed, str(tmp_path)).stderr == ""
    assert set(run(silent + use.replace("1.0", "(1 == 1)"), installed, str(tmp_path)).stderr.split()) == {"compiled"}


@pytest.mark.parametrize("quiet", [False, True])
def test_commands_announce_compilation_unless_they_are_quiet(quiet: bool, tmp_path: Path) -> None:
    code = """
import sys
from dpwords.cli import main
from dpwords.core import compiled
compiled.FEW_STEPS = -1
sys.argv = sys.argv[1:]
main()
"""
    words = ["dpwords", "release", "E", "--system", "grid:2x2", "--mechanism", "online", "--epsilon", "2"]
    command = [sys.executable, "-c", code, *words, *["-q"] * quiet]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert len(done.stdout.splitlines()) == 1
    assert re.fullmatch("" if quiet else f"dpwords: {ONCE}", done.stderr)
    assert list(tmp_path.rglob("*.nbi"))


def test_where_compilation_is_switched_off() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", USE_KERNELS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process can be limited on Linux")
def test_the_compiler_is_not_started_with_little_memory() -> None:
    """It would end the process, or wait for ever for memory."""
    code = """
import resource
from pathlib import Path
import dpwords as dw
mechanism = dw.Exponential(dw.GridWorld(9, 9), 3.0)
taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2**26, resource.RLIM_INFINITY))
try:
    mechanism.release("EW" * 200)
except dw.TooLarge as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "there is not enough memory for this: use a shorter word or a smaller system\n"


def test_a_short_run_does_not_start_the_compiler() -> None:
    code = """
import sys
import dpwords as dw
dw.Exponential(dw.GridWorld(15, 15), 5.0).release("EESSES")
dw.Exponential(dw.GridWorld(15, 15).by_states(), 5.0).release([(0, 1), (0, 2), (1, 2)])
dw.Online(dw.GridWorld(15, 15), 5.0).release("EESS")
dw.Exponential(dw.Words("acgt"), 3.0).release_all(["gattaca"] * 1000)
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("cache", ["", "kept"])
def test_a_short_word_on_the_command_line_does_not_load_the_compiler(cache: str, tmp_path: Path) -> None:
    """Neither to choose the mechanism, nor to draw, nor for warnings; also where nothing is known from earlier runs."""
    code = """
import sys
from dpwords.cli import main
sys.argv = "dpwords release EEESSS --system grid:15x15 --epsilon 4".split()
try:
    main()
finally:
    print([name for name in sys.modules if name.split(".")[0] in ("numba", "llvmlite")])
"""
    environment = os.environ | {"DPWORDS_CACHE": str(tmp_path / cache) if cache else ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[1:] == ["[]"]
    assert done.stderr.startswith("dpwords: best mechanism: tight for words of length 6 (expected distance: ")


@pytest.mark.parametrize("name", ALL)
def test_interpreted_loops_give_the_same_bits(name: str) -> None:
    """Tables, thresholds and walks of plain Python equal those of the compiled loops, bit for bit."""
    language, length = ALL[name]
    graph = Graph.of(language)
    rows = Runs(graph).uniform(length, 20, SeededSource(1).open())
    found = [_passes(loops, graph, rows) for loops in (interpreted("lattice"), kernel("lattice"))]
    for plain, compiled in zip(*found, strict=True):
        assert plain.dtype == compiled.dtype
        assert plain.tobytes() == compiled.tobytes()


def _passes(loops: Any, graph: Graph, rows: Any) -> list[Any]:
    from dpwords.spaces.lattice import Discount, Lattice

    results = [np.asarray(loops.accepted(graph.edges, graph.accepting, graph.start, rows))]
    live = np.zeros((rows.shape[1] + 1, graph.size), dtype=np.bool_)
    loops.reached(graph.edges, graph.start, live)
    results.append(live)
    for power in (Fraction(1, 3), Fraction(400)):
        model = Lattice(graph, rows[0], Discount(scaled.exp_minus([power])))
        words, positions = np.zeros_like(rows), np.zeros(len(rows), dtype=np.int64)
        uniforms = np.frombuffer(SeededSource(2).open().take(8 * rows.size), dtype="<u8").reshape(rows.shape)
        table = model._filled(0, rows.shape[1])
        table.mantissa[: table.offset[-1]] = 0.0
        table.exponent[: table.offset[-1]] = 0
        job = (graph.edges, model._z, model.reach, table, graph.start)
        loops.walk_each(*job, rows, uniforms, 1e-12, words, positions)
        results += [words, positions, table.mantissa.copy(), table.exponent.copy()]
    return results
