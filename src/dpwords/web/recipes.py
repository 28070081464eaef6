"""The same release for copying: as a command, and as Python code."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

from dpwords.bridges.system_files import SYSTEM_FILES
from dpwords.frames.formats import FileForm
from dpwords.frames.streams import Packing
from dpwords.mechanisms import choice
from dpwords.recipes.notation import alphabet_symbols
from dpwords.recipes.rule_notation import cells, rule_parts
from dpwords.web.data_settings import DEFAULTS, SYMBOLS_FILE, DataSettings

if TYPE_CHECKING:
    from dpwords.frames.requests import Request
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private

_ORDER = (
    *("column", "columns", "case", "symbol", "order", "separator", "alphabet", "system", "words", "start"),
    *(
        "walls",
        "goal",
        "rules",
        "epsilon",
        "k",
        "edits",
        "mechanism",
        "utility",
        "alpha",
        "calibration",
        "by",
        "budget",
        "split",
        "invalid",
        "drop_others",
        "no_header",
    ),
)
_LEFT_OUT = {**DEFAULTS, "k": 1, "edits": "substitutions"}  # since the command line assumes them
_OPENED = {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}  # modules of Python with an open function


def output_name(name: str) -> str:
    """What the released file is called: visits.private.csv.gz for visits.csv.gz."""
    path = PurePath(name)
    packed = path.suffix.lower()[1:] in get_args(Packing)
    ending = "".join(path.suffixes[-2:] if packed else path.suffixes[-1:])
    return f"{name.removesuffix(ending)}.private{ending}"


def command(settings: DataSettings) -> str:
    """The command that releases the same file with the same options, for a shell."""
    parts = [f"dpwords release {option('input', settings.name)}"]
    if settings.format is not None:
        parts += [option(each, settings.format) for each in ("format", "output_format")]
    parts += given_options(settings.options | ({"epsilon": None} if _is_shared(settings) else {}))
    parts.append(option("output", output_name(settings.name)))
    return whole_command(parts, settings.symbols)


def given_options(options: Mapping[str, Any]) -> list[str]:
    """Those options that the command line does not assume by itself, each with its value, as a shell takes them."""
    parts = []
    for name in _ORDER:
        value = options.get(name)
        if value in (None, [], False) or value == _LEFT_OUT.get(name):
            continue
        if name == "rules":
            parts += [option("rule", each) for each in value]
        else:
            parts.append(f"--{name.replace('_', '-')}" if value is True else option(name, value))
    return parts


def whole_command(parts: list[str], symbols: Sequence[str]) -> str:
    """A command on several lines, after one that writes the symbols that were typed into a file."""
    typed = [f"printf '%s\\n' {' '.join(map(shlex.quote, symbols))} > {SYMBOLS_FILE}"]
    return "\n".join([*(typed if symbols else []), _folded(parts)])


def python(settings: DataSettings) -> str:
    """Python code that releases the same file with the same options."""
    form = FileForm.of(settings.name, settings.format, not settings.options["no_header"])
    imports, reading, writing = files_code(form, settings.name)
    request, call = settings.request, ["mechanism", "table"]
    given = places(request)
    given |= {"by": request.by, "budget": request.budget, "split": request.split}
    given["invalid"] = None if request.invalid == "fail" else request.invalid
    given["drop_others"] = request.drop_others or None
    call += [f"{name}={value!r}" for name, value in given.items() if value is not None]
    return "\n".join(
        [
            *heading(imports, language_code(settings.options, settings.symbols, settings.mechanism.language)),
            f"mechanism = {mechanism_code(settings.options, settings.mechanism)}",
            *reading,
            f"private = dw.frames.release({', '.join(call)})",
            *writing,
        ]
    )


def places(request: Request) -> dict[str, Any]:
    """Where the words are, as arguments of the functions for tables; None for those that are not given."""
    return {name: getattr(request, name) for name in ("column", "columns", "case", "symbol", "order", "separator")}


def heading(imports: list[str], language: list[str]) -> list[str]:
    """The imports in their order, an empty line, and the code of the language."""
    needed = ["import dpwords as dw", *imports]
    if any("Path(" in line for line in language):
        needed.append("from pathlib import Path")
    return [*sorted(needed, key=lambda line: (line.startswith("from"), line)), "", *language]


def _is_shared(settings: DataSettings) -> bool:
    return settings.request.budget is not None and settings.request.split is None


def option(name: str, value: Any) -> str:
    """An option with its value, as a shell takes it."""
    text = _number(value) if isinstance(value, float) else str(value)
    return f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')} {shlex.quote(text)}"


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")


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


def language_code(options: Mapping[str, Any], symbols: Sequence[str], language: Language) -> list[str]:
    """The code that makes a language that options describe; `symbols` are those that were typed as a list."""
    if options.get("alphabet") is not None:
        names: Any = symbols or alphabet_symbols(options["alphabet"])
        written = repr("".join(names)) if all(len(symbol) == 1 for symbol in names) else repr(list(names))
        lines = [f"language = dw.Words({written})"]
    else:
        lines = [f"language = {_system(options)}"]
    for text in options["rules"]:
        name, arguments = rule_parts(text)
        if name == "re":
            between = "" if language.alphabet.of_characters else ', separator=" "'
            lines.append(f"language = language & dw.Pattern({arguments[0]!r}{between})")
        else:
            lines.append(f"language = language & dw.rules.{name}({', '.join(map(repr, arguments))})")
    return lines


def _system(options: Mapping[str, Any]) -> str:
    """The code of a grid, or of a system in a file."""
    states = ".by_states()" if options["words"] == "states" else ""
    if not options["system"].startswith("grid:"):
        suffix = PurePath(options["system"]).suffix.lower()
        file = f"Path({options['system']!r})" if suffix == ".txt" else repr(options["system"])  # else a map is text
        start = "" if options["start"] is None else f", start={options['start']!r}"
        return f"dw.{SYSTEM_FILES[suffix].load.__name__}({file}{start}){states}"
    size, _, start = options["system"].removeprefix("grid:").partition("@")
    arguments = size.split("x")
    arguments += [] if not start else ["start=None"] if start == "any" else [f"start={cells(start, 'start')[0]!r}"]
    for name in ("walls", "goal"):
        if options[name] is not None:
            arguments.append(f"{name}={cells(options[name], name)!r}")
    return f"dw.GridWorld({', '.join(arguments)}){states}"


def mechanism_code(options: Mapping[str, Any], mechanism: Private) -> str:
    """The code that makes a mechanism that options describe, for the language in `language`."""
    promise = f"epsilon={_number(options['epsilon'])}" + (f", k={options['k']}" if options["k"] > 1 else "")
    onto = mechanism.projected_onto
    choices = options["utility"], options["calibration"]
    name = options.get("mechanism") or choice.default_name(onto or mechanism.language, options["edits"], *choices)
    if name == "channel":
        return f"dw.EditChannel(language.alphabet.symbols, {promise}{'' if onto is None else ', onto=language'})"
    if name == "best":
        return f"dw.best(language, {promise}, length=None)"
    if name == "online":
        return f"dw.Online(language, {promise})"
    given = [promise]
    if options["utility"] != "best":
        alpha = f"alpha={_number(options['alpha'])}" if options["utility"] == "inverse" else ""
        given.append(f"utility=dw.{options['utility'].title()}({alpha})")
    if options["calibration"] != "tight":
        given.append(f"calibration={options['calibration']!r}")
    return f"dw.Exponential(language, {', '.join(given)})"


def files_code(form: FileForm, name: str) -> tuple[list[str], list[str], list[str]]:
    """The imports, and the code that reads the table and writes the released one."""
    old, new = repr(name), repr(output_name(name))
    if form.kind in ("csv", "tsv"):
        tab = r', sep="\t"' if form.kind == "tsv" else ""
        none, bare = ("", "") if form.header else (", header=None", ", header=False")
        return (
            ["import pandas as pd  # pip install pandas"],
            [
                f"table = pd.read_csv({old}, dtype=str, keep_default_na=False{tab}{none})",
                *([] if form.header else ["table.columns = [str(number + 1) for number in table.columns]"]),
            ],
            [f"private.to_csv({new}, index=False{tab}{bare})"],
        )
    if form.kind in ("jsonl", "text"):
        return _lines(form, old, new)
    if form.kind == "parquet":
        reading, writing = f"pq.read_table({old})", f"pq.write_table(private, {new})"
        return ["import pyarrow.parquet as pq"], [f"table = {reading}"], [writing]
    if form.kind == "arrows":
        return (
            ["import pyarrow as pa"],
            [f"table = pa.ipc.open_stream({old}).read_all()"],
            [f"with pa.ipc.new_stream({new}, private.schema) as stream:", "    stream.write_table(private)"],
        )
    packed = "" if form.kind == "feather" else ', compression="uncompressed"'
    return (
        ["from pyarrow import feather"],
        [f"table = feather.read_table({old})"],
        [f"feather.write_feather(private, {new}{packed})"],
    )


def _lines(form: FileForm, old: str, new: str) -> tuple[list[str], list[str], list[str]]:
    """Text with a word or a JSON object on each line."""
    module = _OPENED.get(form.packing or "")
    imports = ["import pyarrow as pa"] + ([] if module is None else [f"import {module}"])
    opener = f"{module}.open" if module else "open"
    if form.packing == "zst":
        reading, writing = f"pa.input_stream({old})", f"pa.output_stream({new})"
    else:
        reading, writing = f'{opener}({old}, "rb")', f'{opener}({new}, "wb")'
    if form.kind == "jsonl":
        return (
            [*imports, "import json"],
            [
                f"with {reading} as file:",
                "    rows = [json.loads(line) for line in file if line.strip()]",
                "names = dict.fromkeys(name for row in rows for name in row)",
                "table = pa.table({name: [row.get(name) for row in rows] for name in names})",
            ],
            [
                f"with {writing} as file:",
                "    for row in private.to_pylist():",
                '        file.write((json.dumps(row, ensure_ascii=False) + "\\n").encode())',
            ],
        )
    return (
        imports,
        [
            f"with {reading} as file:",
            '    table = pa.table({"word": [line.decode().rstrip("\\r\\n") for line in file]})',
        ],
        [
            f"with {writing} as file:",
            '    file.write("".join(f"{word}\\n" for word in private["word"].to_pylist()).encode())',
        ],
    )
