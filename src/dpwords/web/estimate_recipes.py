"""The same estimate for copying: as a command, and as Python code."""

from __future__ import annotations

from dpwords.frames.formats import FileForm
from dpwords.web.estimate_settings import EstimateSettings
from dpwords.web.recipes import (
    files_code,
    given_options,
    heading,
    language_code,
    mechanism_code,
    option,
    places,
    whole_command,
)

_USUAL = 0.95  # the confidence that the command line and Python assume


def command(settings: EstimateSettings) -> str:
    """The command that estimates the same. A receipt says which mechanism it was; else the options do."""
    parts = [f"dpwords estimate {option('input', settings.name)}", option("question", settings.question)]
    if settings.format is not None:
        parts.append(option("format", settings.format))
    if settings.confidence != _USUAL:
        parts.append(option("confidence", settings.confidence))
    if settings.receipt is not None:
        return whole_command(parts, ())
    return whole_command([*parts, *given_options(settings.options)], settings.symbols)


def python(settings: EstimateSettings) -> str:
    """Python code that estimates the same, and prints it."""
    form = FileForm.of(settings.name, settings.format, not settings.options["no_header"])
    imports, reading, _ = files_code(form, settings.name)
    where = [f"{name}={value!r}" for name, value in places(settings.request).items() if value is not None]
    confidence = "" if settings.confidence == _USUAL else f", confidence={settings.confidence!r}"
    return "\n".join(
        [
            *heading(imports, language_code(settings.options, settings.symbols, settings.mechanism.language)),
            f"mechanism = {mechanism_code(settings.options, settings.mechanism)}",
            *reading,
            f"words = dw.frames.words(mechanism, table, {', '.join(where)})",
            f"found = dw.estimate.{settings.question}(words, mechanism{confidence})",
            "for label, share in found.items():",
            '    print(label, share, f"counted: {found.counted[label]:.4g}")',
        ]
    )
