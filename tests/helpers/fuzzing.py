"""Damaged files for commands: how they are made, how a command is run on them, and what has to hold for each.

A `Case` is a valid file and a command that reads it. `check` damages the file in a way that depends only on a number,
runs the command in this process, and asserts what holds for every input: exit code 0 or 2, one line that explains a 2,
no symbol of a private word in it, and no file that is half written or left behind.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands import run

SECRET = "Ψ"  # occurs in private words only
MUTANTS = int(os.environ.get("DPWORDS_FUZZ", "120"))  # of each file


@dataclass(frozen=True)
class Case:
    """A valid input, and a command that reads it: {file} and {output} in its arguments stand for paths.

    The input is a file; without the name of one it is the argument {text}, or else standard input. `private` says that
    it has private words.
    """

    title: str
    file: str
    content: bytes
    arguments: str
    stdin: bytes = b""
    private: bool = False
    output: str = ""  # the name of the file that the command writes
    read_back: Callable[[Path], object] = Path.read_bytes  # fails if an output is incomplete

    def run(self, content: bytes, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run the command on this content of the file."""
        file, positions = folder / self.file, {"output": str(folder / self.output)}
        stdin = self.stdin
        if self.file:
            file.write_bytes(content)
            positions["file"] = str(file)
        elif "{text}" in self.arguments:
            positions["text"] = os.fsdecode(content).replace("\0", "")
        else:
            stdin = content
        done = run(*(part.format(**positions) for part in self.arguments.split()), stdin=stdin)
        if self.file:
            file.unlink()
        return done

    def check(self, number: int, folder: Path) -> int:
        """Check a mutant, or, for number 0, the valid input; the exit code. The folder is empty before and after."""
        content = mutated(self.content, random.Random(f"{self.title} {number}")) if number else self.content
        done = self.run(content, folder)
        about = f"{self.title}, mutant {number}: {content[:400]!r}\n{done}"
        assert done.returncode in (0, 2), about
        lines = done.stderr.splitlines()
        assert all(line.startswith("dpwords: ") for line in lines), about
        assert SECRET not in done.stderr or (SECRET.encode() in content and not self.private), about
        written = {path.name for path in folder.iterdir()}
        if done.returncode == 2:
            assert (len(lines), done.stdout, written) == (1, "", set()), about
            assert ": " in lines[0].removeprefix("dpwords: "), about  # a rule and a remedy
            assert lines[0].isprintable(), about
            assert len(lines[0]) < 500, about
        else:
            assert written == ({self.output} - {""}), about
            for path in folder.iterdir():
                self.read_back(path)
                path.unlink()
        return done.returncode


def mutated(content: bytes, luck: random.Random) -> bytes:
    """The content with one to three kinds of damage."""
    for damage in luck.choices(DAMAGES, k=luck.choice((1, 1, 2, 3))):
        content = damage(content, luck)
    return content


def _flip(content: bytes, luck: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(luck.choice((1, 1, 2, 8)) if content else 0):
        damaged[luck.randrange(len(content))] ^= 1 << luck.randrange(8)
    return bytes(damaged)


def _cut(content: bytes, luck: random.Random) -> bytes:
    return content[: luck.randrange(len(content) + 1)]


def _insert(content: bytes, luck: random.Random) -> bytes:
    position = luck.randrange(len(content) + 1)
    return content[:position] + luck.choice(INSERTED) + content[position:]


def _remove(content: bytes, luck: random.Random) -> bytes:
    begin = luck.randrange(len(content) + 1)
    return content[:begin] + content[begin + luck.choice((1, 2, 5, 20)) :]


def _swap(content: bytes, luck: random.Random) -> bytes:
    one, two, three = sorted(luck.randrange(len(content) + 1) for _ in range(3))
    return content[:one] + content[two:three] + content[one:two] + content[three:]


def _lines(content: bytes, luck: random.Random) -> bytes:
    """Repeat, remove or shuffle lines, or end them in another way."""
    lines = content.split(b"\n")
    position = luck.randrange(len(lines))
    changed = {
        "repeat": lines[:position] + [lines[position]] * luck.choice((2, 2, 300)) + lines[position + 1 :],
        "remove": lines[:position] + lines[position + 1 :],
        "shuffle": luck.sample(lines, len(lines)),
    }
    if luck.random() < 0.2:
        return luck.choice((b"\r\n", b"\r", b"\n\n", b"")).join(lines)
    return b"\n".join(luck.choice(list(changed.values())))


def _token(content: bytes, luck: random.Random) -> bytes:
    """Put something else in the place of a number, a name or a sign."""
    tokens = list(re.finditer(rb"\w+|[^\w\s]", content))
    if not tokens:
        return content
    found = luck.choice(tokens)
    other = luck.choice([*INSERTED, *(each[0] for each in tokens)])
    return content[: found.start()] + other + content[found.end() :]


def _value(content: bytes, luck: random.Random) -> bytes:
    """Put something else in the place of a value or a key of a JSON document, or of a line that is one."""
    lines = [content] if luck.random() < 0.5 else content.split(b"\n")
    position = luck.randrange(len(lines))
    try:
        document = json.loads(lines[position])
    except (ValueError, RecursionError):
        return _token(content, luck)
    found = list(_containers(document))
    if not found:
        return luck.choice(VALUES)
    holder = luck.choice(found)
    key = luck.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    if isinstance(holder, dict) and luck.random() < 0.3:
        holder[luck.choice(("", "a", f"{key}x", key[1:]))] = holder.pop(key)
        mark, value = b"", b""
    else:
        holder[key], mark, value = "MARK", b'"MARK"', luck.choice(VALUES)
    lines[position] = json.dumps(document).encode().replace(mark, value) if mark else json.dumps(document).encode()
    return b"\n".join(lines)


def _containers(document: Any) -> Iterator[Any]:
    """The objects and arrays of a JSON document that are not empty."""
    if isinstance(document, (dict, list)) and document:
        yield document
        for each in document.values() if isinstance(document, dict) else document:
            yield from _containers(each)


DAMAGES = (_flip, _cut, _insert, _remove, _swap, _lines, _token, _value, _value)
VALUES = (
    b"null",
    b"true",
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"1" * 5000,
    b'""',
    b'"a"',
    b'"\\ud800"',
    b'"\\u0000"',
    b'"\\n"',
    b"[]",
    b"{}",
    b'["a", ["b"]]',
    b'{"a": {"b": "a"}}',
    b'{"a": "a", "a": "b"}',
    b"[" * 900 + b"]" * 900,
)
INSERTED = (
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",  # half a character
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\r",
    b"\n",
    b"\t",
    b" ",
    b'"',
    b"'",
    b",",
    b";",
    b"\\",
    b"-",
    b"-1",
    b"0",
    b"1" * 400,
    b"9" * 5000,  # more digits than int() takes
    b"1e999",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"x" * 200_000,
    b"\x1f\x8b\x08",
    "é路𝔞".encode(),
)
