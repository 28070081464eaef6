"""The layers of packages: each imports only from rows below its own, and inside a package there are no cycles."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from runpy import run_path
from types import ModuleType

import pytest

import dpwords

TESTS = Path(__file__).parent
ROOT = Path(dpwords.__file__).parent
ROWS = [
    ["__main__", "cli", "web"],
    ["studies", "spark"],
    ["plots", "frames", "audit", "ledger", "estimate", "attack"],
    ["recipes", "models"],
    ["accuracy"],
    ["mechanisms"],
    ["privacy"],
    ["spaces", "bridges"],
    ["languages"],
    ["core", "_kernels", "errors"],
]
ROW = {package: number for number, row in enumerate(ROWS) for package in row}
LOADERS = {"kernel", "kernel_for", "interpreted"}  # of dpwords.core.compiled: they import a kernel by its name
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}


@cache
def imported(name: str) -> set[str]:
    """The modules that one imports, anywhere in its code, and the kernels that it loads by name."""
    return modules_in(TREES[name]) | (set() if name == "core.compiled" else kernels_in(TREES[name]))


def modules_in(tree: ast.Module) -> set[str]:
    """The modules that are imported, and those where public names live that are taken from the package itself."""
    found: set[str] = set()
    package = set()  # what the package itself is called
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpwords":
            inside = (node.module or "").removeprefix("dpwords").removeprefix(".")
            names = [".".join(filter(None, [inside, alias.name])) for alias in node.names]
            found |= {each if each in FILES else inside or home(each) for each in names}
        elif isinstance(node, ast.Import):
            ours = [alias for alias in node.names if alias.name.split(".")[0] == "dpwords"]
            found |= {alias.name.removeprefix("dpwords").removeprefix(".") for alias in ours}
            package |= {alias.asname or "dpwords" for alias in ours if alias.name == "dpwords" or not alias.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in package:
            found.add(home(node.attr))
    return found - {""}


def home(name: str) -> str:
    """The module that an attribute of the package is, or was defined in; none for what the package defines itself."""
    if name in FILES:
        return name
    value = getattr(dpwords, name)
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "dpwords")
    return module.removeprefix("dpwords").removeprefix(".")


def kernels_in(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in LOADERS:
            argument = node.args[0]
            assert isinstance(argument, ast.Constant), "the name of a kernel is not written out"
            found.add(f"_kernels.{argument.value}")
    return found


def package_of(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        (
            "import dpwords as dw\nf = lambda: dw.Exponential(dw.Words('ab'), 1)",
            "languages.free_words mechanisms.exponential",
        ),
        (
            "import dpwords\nprint(dpwords.best, dpwords.rules.at_most, dpwords.frames.release)",
            "accuracy frames languages.rules",
        ),
        ("import dpwords.core.files\nprint(dpwords.Ledger, dpwords.core.files.read_text)", "core core.files ledger"),
        ("import dpwords.core.files as dw\nprint(dw.read_text)", "core.files"),
        ("from dpwords import __version__, best, frames, from_dot", "accuracy bridges.dot frames"),
        (
            "from dpwords.core import files, scaled\nfrom dpwords.core.limits import Limits",
            "core.files core.limits core.scaled",
        ),
        ("def later():\n    from dpwords import Ledger as book", "ledger"),
    ],
)
def test_all_ways_to_import_are_seen(code: str, modules: str) -> None:
    assert modules_in(ast.parse(code)) == set(modules.split())


def test_every_module_has_a_package() -> None:
    assert {package_of(name) for name in FILES} <= set(ROW)


@pytest.mark.parametrize("name", FILES)
def test_imports_go_down(name: str) -> None:
    for other in imported(name):
        assert package_of(other) == package_of(name) or ROW[package_of(other)] >= ROW[package_of(name)], (
            f"{name} imports {other}"
        )
        beside = ROW[package_of(other)] == ROW[package_of(name)] and package_of(other) != package_of(name)
        allowed = (
            package_of(name) in ("core", "__main__", "_kernels") or package_of(other) == "errors" or name == "cli.serve"
        )
        assert not beside or allowed, f"{name} imports {other}, a package of the same row"


def test_inside_a_package_there_are_no_cycles() -> None:
    graph = {name: {other for other in imported(name) if other in FILES} - {name} for name in FILES}
    assert list(TopologicalSorter(graph).static_order())


def test_every_kernel_is_loaded_by_a_module_of_its_name() -> None:
    """A kernel is named after the module that calls it, and helpers of it begin with that name."""
    kernels = {name for name in FILES if name.startswith("_kernels.")} - {"_kernels.compiler"}
    callers = {kernel: {name for name in FILES if kernel in imported(name)} for kernel in kernels}
    for kernel, names in callers.items():
        own = kernel.removeprefix("_kernels.")
        assert any(own.startswith(name.split(".")[-1]) for name in names), f"{kernel} is called by {names}"


def test_no_two_classes_have_one_name() -> None:
    names = Counter(
        node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    ) + Counter(
        target.id
        for tree in TREES.values()
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, (ast.Subscript, ast.BinOp))
        for target in node.targets
        if isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper()
    )
    assert {name: number for name, number in names.items() if number > 1} == {}


@pytest.mark.parametrize("name", FILES)
def test_modules_are_short(name: str) -> None:
    assert len(FILES[name].read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*[!_].py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_tests_are_short_and_patch_nothing_private(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            named = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            assert not any(part.startswith("_") or part.isupper() for name in named for part in name.split(".")[-1:])


def test_tests_are_in_folders_named_after_what_they_test() -> None:
    """What is about several packages is at the top."""
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")} - {Path()}
    assert [each for each in folders if ".".join(each.parts) not in FILES] == []


def test_mutants_are_tried_on_modules_and_by_tests_that_exist() -> None:
    tool = run_path(str(TESTS.parent / "tools" / "mutants.py"))
    for module in tool["TESTS"]:
        assert (ROOT / module).exists(), module
        for name in tool["named_tests"](module):
            file, _, test = name.partition("::")
            path = TESTS.parent / file
            assert path.exists(), name
            assert not test or f"def {test}(" in path.read_text("utf-8"), name


def test_the_contributing_guide_shows_every_package() -> None:
    guide = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    packages = {package_of(name) for name in FILES} - {"__main__"}
    assert [each for each in packages if f"{each}.py" not in guide and f"{each}/" not in guide] == []


def test_nothing_below_privacy_has_heard_of_epsilon() -> None:
    for name, tree in TREES.items():
        if ROW[package_of(name)] > ROW["privacy"]:
            names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
            names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            assert "epsilon" not in names, name


BASES = {"Mechanism", "Summarised", "Private", "Weighted"}
MECHANISMS = {"Mechanism", "Summarised"} | {
    node.name
    for name, tree in TREES.items()
    if package_of(name) == "mechanisms"
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef) and {base.id for base in node.bases if isinstance(base, ast.Name)} & BASES
}
ASKS_FOR_A_KIND = {  # where what is asked for is not which mechanism of ours it is
    "audit.samplers": "audits take anything that draws, and ask whether it is a mechanism of this package",
    "frames.requests": "users may pass anything as a mechanism",
    "models.releases": "users may pass anything as a mechanism",
}


def names_of_classes(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} | {
        each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)
    }


def kinds_asked_for(tree: ast.AST) -> list[int]:
    """The lines that ask which class a mechanism has, or whether it has what only some classes have."""
    found = []
    special = {"onto", "candidates", "certificate", "without_projection", "projected_onto", "answers", "question"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            asked = node.func.id in ("isinstance", "issubclass") and names_of_classes(node.args[1]) & MECHANISMS
            by_name = node.func.id in ("getattr", "hasattr") and isinstance(node.args[1], ast.Constant)
            if asked or (by_name and node.args[1].value in special):  # type: ignore[attr-defined]
                found.append(node.lineno)
        elif isinstance(node, ast.MatchClass) and names_of_classes(node.cls) & MECHANISMS:
            found.append(node.cls.lineno)
        elif isinstance(node, ast.Compare) and any(names_of_classes(each) & MECHANISMS for each in node.comparators):
            found += [node.lineno] * ("type" in names_of_classes(node.left))
    return found


@pytest.mark.parametrize("name", [name for name in FILES if package_of(name) != "mechanisms"])
def test_a_mechanism_is_asked_and_not_its_class(name: str) -> None:
    """What a release tells is decided in `models/evidence.py`, and everything else is asked of the mechanism."""
    lines = kinds_asked_for(TREES[name])
    assert len(lines) == (name in ASKS_FOR_A_KIND), lines


def test_the_search_for_kinds_finds_them() -> None:
    assert {"Exponential", "Online", "EditChannel", "Report", "ByLength", "PaperLiteral", "Private"} <= MECHANISMS
    for text in (
        "isinstance(x, Report)",
        "isinstance(x, (int, dw.Online))",
        "isinstance(x, Exponential | Online)",
        "issubclass(type(x), Private)",
        "match x:\n    case EditChannel(): pass",
        "getattr(x, 'onto', None)",
        "type(x) is ByLength",
    ):
        assert len(kinds_asked_for(ast.parse(text))) == 1, text
    assert kinds_asked_for(ast.parse("isinstance(x, int); getattr(x, name); x.answers")) == []
