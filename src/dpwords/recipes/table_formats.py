"""The formats of files with tables of words, by the suffixes of their names."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, cast, get_args

from dpwords.errors import InvalidValue, named

Packing = Literal["gz", "bz2", "xz", "zst"]
STANDARD = "-"  # stands for standard input or output where a path is expected
SUFFIXES = {
    "csv": "csv",
    "tsv": "tsv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "txt": "text",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "ipc": "arrow",
    "arrows": "arrows",
    "feather": "feather",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
DELIMITED = ("csv", "tsv")
TEXT = (*DELIMITED, "jsonl", "text")


def form_of(path: str, kind: str | None = None) -> tuple[str, Packing | None]:
    """The format that a file's suffixes say, such as .csv.gz, and how it is compressed; a `kind` comes before them."""
    suffixes = [] if path == STANDARD else [suffix[1:].lower() for suffix in PurePath(path).suffixes]
    packing = cast(Packing, suffixes.pop()) if suffixes and suffixes[-1] in get_args(Packing) else None
    kind = kind or (SUFFIXES.get(suffixes[-1]) if suffixes else None)
    name = PurePath(path).name
    if kind is None and path == STANDARD:
        raise InvalidValue(
            f"standard input has no suffix that says its format: give {named('format')}, one of {', '.join(FORMATS)}"
        )
    if kind is None:
        known = ", ".join(f".{suffix}" for suffix in SUFFIXES)
        raise InvalidValue(f"the suffix of {name} is not one of {known}: convert or rename it, or name the format")
    if packing is not None and kind not in TEXT:
        raise InvalidValue(f"{kind} files are compressed inside: leave out .{packing} in {name}")
    return kind, packing


def output_name(name: str) -> str:
    """What a released file is called if nobody has said it: visits.private.csv.gz for visits.csv.gz."""
    path = PurePath(name)
    packed = path.suffix.lower()[1:] in get_args(Packing)
    ending = "".join(path.suffixes[-2:] if packed else path.suffixes[-1:])
    return f"{name.removesuffix(ending)}.private{ending}"
