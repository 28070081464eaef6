"""A recipe as code: as a command for a shell, and as a Python program."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from string import Template
from typing import TYPE_CHECKING, Any, TypeGuard

from dpwords.bridges.system_files import SYSTEM_FILES
from dpwords.core.files import FileContent
from dpwords.errors import InvalidValue
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms.choice import NAMED
from dpwords.recipes.fields import FIELDS, WHERE, Section, as_option
from dpwords.recipes.kinds import NamedFile
from dpwords.recipes.notation import cells, pattern_separator, rule_parts
from dpwords.recipes.table_formats import DELIMITED, STANDARD, form_of, output_name

if TYPE_CHECKING:
    from dpwords.recipes.description import Description

_FIRST, _LAST = ("input", "format", "output_format"), ("output",)  # options of a command
_LISTS = {"alphabet": "symbols.txt", "lexicon": "words.txt"}  # the files that a command writes before it reads them
_LONGEST_WRITTEN = 4_000  # characters of a system that is written out
_OPENED = {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}  # modules of Python with an open function
_USUAL = (("split", "equal"), ("invalid", "fail"))
_TO_ARROW = "private = pa.Table.from_pandas(private, preserve_index=False)"
_TO_PANDAS = "private = private.to_pandas(types_mapper=pd.ArrowDtype)"
_TABLES = {  # imports, code that reads a table, and code that writes the released one
    "csv": (
        "import pandas as pd  # pip install pandas",
        "table = pd.read_csv($file, dtype=str, keep_default_na=False$tab$header)$numbered",
        "private.to_csv($file, index=False$tab$bare)",
    ),
    "jsonl": (
        "import json\nimport pyarrow as pa",
        """with $opened as file:
    rows = [json.loads(line) for line in file if line.strip()]
names = dict.fromkeys(name for row in rows for name in row)
table = pa.table({name: [row.get(name) for row in rows] for name in names})""",
        r"""with $opened as file:
    for row in private.to_pylist():
        file.write((json.dumps(row, ensure_ascii=False) + "\n").encode())""",
    ),
    "text": (
        "import pyarrow as pa",
        r"""with $opened as file:
    table = pa.table({"word": [line.decode().rstrip("\r\n") for line in file]})""",
        r"""with $opened as file:
    (words,) = private.columns
    file.write("".join(f"{word}\n" for word in words.to_pylist()).encode())""",
    ),
    "parquet": ("import pyarrow.parquet as pq", "table = pq.read_table($file)", "pq.write_table(private, $file)"),
    "arrow": (
        "from pyarrow import feather",
        "table = feather.read_table($file)",
        'feather.write_feather(private, $file, compression="uncompressed")',
    ),
    "arrows": (
        "import pyarrow as pa",
        "table = pa.ipc.open_stream($file).read_all()",
        "with pa.ipc.new_stream($file, private.schema) as stream:\n    stream.write_table(private)",
    ),
    "feather": (
        "from pyarrow import feather",
        "table = feather.read_table($file)",
        "feather.write_feather(private, $file)",
    ),
}


def command(recipe: Description, name: str = "release", more: Mapping[str, Any] | None = None) -> str:
    """The command of this name with the options of a recipe, on several lines; `more` are other options, which come
    first. What came as a list, or as a small system in JSON, is written to a file before; of other files whose content
    the recipe has, a comment says that they have to be there.
    """
    files, options = _written(recipe)
    values = {**(more or {}), **{key: options[key] for key in sorted(options, key=_position)}}
    parts = [f"dpwords {name}"] + [_option(key, each) for key, value in values.items() for each in _each(value)]
    written = [f"printf '%s\\n' {' '.join(map(shlex.quote, lines))} > {shlex.quote(f)}" for f, lines in files.items()]
    return "\n".join([*_needed_file(recipe), *written, _folded([" ".join(parts[:2]), *parts[2:]])])


def _written(recipe: Description) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The files that have to be written before, by their names, and the values of all options."""
    files: dict[str, list[str]] = {}
    options = recipe.values()
    for key, value in list(options.items()):
        mark = "@" if key == "alphabet" else ""
        if isinstance(value, NamedFile):
            options[key] = f"{mark}{value.path or value.name}"
        elif isinstance(value, FileContent):
            options[key] = value.name
            if _is_written_out(value):
                files[value.name] = [value.content.decode("utf-8", "replace")]
        elif isinstance(value, tuple) and key in _LISTS:
            options[key], files[_LISTS[key]] = f"{mark}{_LISTS[key]}", list(value)
    return files, options


def _is_written_out(value: Any) -> TypeGuard[FileContent]:
    """Whether a value is a small system in JSON, which commands and code have in full; other files have to be there."""
    small = isinstance(value, FileContent) and len(value.content) <= _LONGEST_WRITTEN
    return small and PurePath(value.name).suffix.lower() == ".json"


def _needed_file(recipe: Description) -> list[str]:
    """A comment on the file of a system whose content the recipe has, and the code has not."""
    value = recipe.system
    if not isinstance(value, FileContent) or _is_written_out(value):
        return []
    return [f"# {value.name!r} has to be here, with the content that the recipe has"]


def _position(key: str) -> tuple[int, int]:
    """Files first, then where the words are, what may be released, what is promised, and whose words they are."""
    section = FIELDS[key].section
    later = [key not in _FIRST, key not in WHERE, section is not Section.LANGUAGE, section is not Section.PROMISE]
    return (later.index(False) if False in later else len(later) + (key in _LAST)), list(FIELDS).index(key)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _option(key: str, value: Any) -> str:
    """An option with its value, as a shell takes it."""
    if value is True:
        return as_option(key)
    text = _number(value) if isinstance(value, float) else str(value)
    return f"{as_option(key)} {shlex.quote(text)}"


def _folded(parts: list[str], width: int = 80) -> str:
    """A command on lines of some width."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < width:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {part}")
    return "\n".join(lines)


def python(recipe: Description) -> str:
    """Code that makes the mechanism of a recipe, and releases the table, if the recipe has an input."""
    imports: list[str] = []
    inside = recipe.inside(recipe.mechanism())  # raises, if choices have no effect or ε is missing
    lines = [*language_code(recipe), f"mechanism = {mechanism_code(recipe, imports)}"]
    if recipe.input is not None:
        needed, reading, writing = files_code(recipe)
        imports += needed
        given = [(key, value) for key, value in recipe.table_values().items() if value and (key, value) not in _USUAL]
        call = ["mechanism", "table", *(f"{name}={value!r}" for name, value in given)]
        call += [] if inside is None else ["any_word=False"]
        lines += [*reading, f"private = dw.frames.release({', '.join(call)})", *writing]
    return whole(imports, lines)


def whole(imports: list[str], lines: list[str]) -> str:
    """A program: the imports in their order, an empty line, and the rest."""
    needed = {"import dpwords as dw", *imports}
    if any("Path(" in line for line in lines):
        needed.add("from pathlib import Path")
    return "\n".join([*sorted(needed, key=lambda line: (line.startswith("from"), line)), "", *lines])


def positions_code(recipe: Description) -> list[str]:
    """The arguments that say where the words of a table are."""
    found = {name: getattr(recipe, name) for name in WHERE}
    return [f"{name}={value!r}" for name, value in found.items() if value is not None]


def language_code(recipe: Description) -> list[str]:
    """The lines that make the language."""
    plain = recipe.without_rules()
    if recipe.alphabet is not None:
        symbols: Any = plain.alphabet.symbols
        together = all(len(symbol) == 1 for symbol in symbols)
        lines = [
            f"language = dw.Words({''.join(symbols)!r})" if together else f"language = dw.Words({list(symbols)!r})"
        ]
    elif recipe.lexicon is not None:
        assert isinstance(plain, Lexicon)
        lines = [f"language = dw.Lexicon({[''.join(map(str, word)) for word in plain]!r})"]
    else:
        lines = [*_needed_file(recipe), f"language = {_system(recipe)}"]
    for text in recipe.rules:
        name, arguments = rule_parts(text)
        if name == "re":
            between = ', separator=" "' if pattern_separator(str(arguments[0]), plain) else ""
            lines.append(f"language = language & dw.Pattern({arguments[0]!r}{between})")
        else:
            lines.append(f"language = language & dw.rules.{name}({', '.join(map(repr, arguments))})")
    return lines


def _system(recipe: Description) -> str:
    """The code of a grid, of a small system in JSON, or of a system in a file."""
    states = ".by_states()" if recipe.words == "states" else ".plans()" if recipe.protect == "states" else ""
    value = recipe.system
    if isinstance(value, str) and value.startswith("grid:"):
        size, _, start = value.removeprefix("grid:").partition("@")
        arguments = [str(int(side)) for side in size.split("x")]
        arguments += [] if not start else ["start=None"] if start == "any" else [f"start={cells(start, 'start')[0]!r}"]
        for name, written in (("walls", recipe.walls), ("goal", recipe.goal)):
            if written is not None:
                arguments.append(f"{name}={cells(written, name)!r}")
        return f"dw.GridWorld({', '.join(arguments)}){states}"
    path = (value.path or value.name) if isinstance(value, NamedFile) else getattr(value, "name", str(value))
    suffix = PurePath(path).suffix.lower()
    if _is_written_out(value):
        system = json.loads(value.content)
        more = [f", {name}={system[name]!r}" for name in ("accepting", "positions") if system.get(name) is not None]
        return f"dw.TransitionSystem({system['transitions']!r}, start={system['start']!r}{''.join(more)}){states}"
    named = {"start": recipe.start, "action": recipe.action, "symbols": recipe.dot_symbols}
    given = "".join(f", {name}={each!r}" for name, each in named.items() if each is not None)
    file = f"Path({path!r})" if suffix == ".txt" else repr(path)  # else a map is text
    return f"dw.{SYSTEM_FILES[suffix].load.__name__}({file}{given}){states}"


def mechanism_code(recipe: Description, imports: list[str]) -> str:
    """The expression that makes the mechanism for the language in `language`; adds to the imports what it needs."""
    promise = f"epsilon={_number(recipe.most_of_a_word)}" + (f", k={recipe.k}" if recipe.k > 1 else "")
    if recipe.report is not None:
        return f"dw.Report(language, {promise}, question={recipe.report!r})"
    name = recipe.chosen
    if recipe.certificate_time is not None:
        if name in ("best", "projected"):  # both are made by `dw.best`, which has no limits
            return f"dw.Recipe.from_json({json.dumps(recipe.for_receipt().document())!r}).mechanism()"
        imports.append("from dpwords.core.limits import Limits")
        promise += f", limits=Limits(certificate_time={_number(recipe.certificate_time)})"
    if name in NAMED:
        onto = ", onto=language" if NAMED[name].projects and not recipe.language().every_word else ""
        return NAMED[name].code.format(promise + onto)
    distance = ['distance="levenshtein"'] if recipe.edits == "all" else []
    if name == "best":
        return f"dw.best({', '.join(['language', promise, 'length=None', *distance])})"
    given = ["language", promise]
    if recipe.utility != "best":
        alpha = f"alpha={_number(recipe.alpha)}" if recipe.utility == "inverse" else ""
        given.append(f"utility=dw.{recipe.utility.title()}({alpha})")
    if recipe.calibration != "tight":
        given.append(f"calibration={recipe.calibration!r}")
    return f"dw.Exponential({', '.join([*given, *distance])})"


def _number(value: float | None) -> str:
    return repr(value).removesuffix(".0")


def files_code(recipe: Description) -> tuple[list[str], list[str], list[str]]:
    """The imports, and the code that reads the table of a recipe and writes the released one."""
    if recipe.input in (None, STANDARD):
        raise InvalidValue("code reads a table from a file: name one that is not standard input")
    source = str(recipe.input)
    old = form_of(source, recipe.format)
    target, usual = str(recipe.output or output_name(source)), recipe.format if recipe.output is None else None
    new = form_of(target, recipe.output_format or (old[0] if target == STANDARD else usual))
    imports, reading, _ = _file_code(*old, source, "rb", recipe.no_header)
    more, _, writing = _file_code(*new, target, "wb", recipe.no_header)
    if (old[0] in DELIMITED) != (new[0] in DELIMITED):  # a table of pandas, and one of pyarrow
        more.append("import pyarrow as pa")
        writing.insert(0, _TO_PANDAS if new[0] in DELIMITED else _TO_ARROW)
    return [*imports, *more], reading, writing


def _file_code(kind: str, packing: str | None, path: str, mode: str, no_header: bool) -> tuple[list[str], ...]:
    """The imports for a file of a format, and the code that reads and that writes it, of which one is meant."""
    module = _OPENED.get(packing or "")
    standard = path == STANDARD
    opener = f"{module}.open" if module else "open"
    stream = f'open(1, "{mode}", closefd=False)' if standard else f'{opener}({path!r}, "{mode}")'
    packed = packing == "zst"
    values = {
        "file": "sys.stdout.buffer" if standard else repr(path),
        "opened": f"pa.{'in' if mode == 'rb' else 'out'}put_stream({path!r})" if packed else stream,
        "tab": r', sep="\t"' if kind == "tsv" else "",
        "header": ", header=None" if no_header else "",
        "bare": ", header=False" if no_header else "",
        "numbered": "\ntable.columns = [str(number + 1) for number in table.columns]" if no_header else "",
    }
    imports, *code = _TABLES["csv" if kind == "tsv" else kind]
    opened = [f"import {module}"] if module and kind in ("jsonl", "text") else []
    opened += ["import pyarrow as pa"] * packed + ["import sys"] * standard
    return [*imports.splitlines(), *opened], *(Template(each).substitute(values).splitlines() for each in code)
