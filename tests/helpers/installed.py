"""A program for `tools/check_wheel.py`: does an installed dpwords do the main jobs, outside of the source tree?

Usage: python installed.py DIRECTORY VERSION [EXTRA]...

With extras, what needs them has to work; without any, it has to name the extra. The program needs only the standard
library and dpwords.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import dpwords as dw
from extras import FILES, NEEDS, Need

COMMAND = str(Path(sys.executable).parent / "dpwords")
GRID = ("--system", "grid:4x4", "-e")
JOBS = {  # what the command prints, as a regular expression
    ("release", "gattaca", "--alphabet", "acgt", "-e", "200"): r"gattaca\n",
    ("release", "EESS", *GRID, "200"): r"EESS\n",
    ("release", "0,1 0,2", *GRID, "200", "--words", "states"): r"0,1 0,2\n",
    ("release", "abab", "--alphabet", "ab", "-e", "200", "--edits", "all"): r"abab\n",
    ("audit", "--length", "3", *GRID, "2"): r"(?s)words .*the claim holds\n",
    ("accuracy", "--alphabet", "name:dna", "--length", "20", "-e", "1,2"): r"(?s)expected distance .*\n +1 .*\n +2 .*",
    ("draw", "ab", "--alphabet", "ab"): r"(?s)digraph .*",
    ("completion", "bash"): r"(?s)_dpwords_completion.*",
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)


def do(need: Need) -> subprocess.CompletedProcess[str]:
    if need.command:
        return run(*need.command)
    script = f"import sys, dpwords as dw\ntry: {need.code}\nexcept dw.MissingExtra as error: sys.exit(str(error))"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def check(right: bool, what: str, found: object = "") -> None:
    if not right:
        sys.exit(f"{what}: {found}")


def check_main_jobs(version: str) -> None:
    check(not Path(dw.__file__).is_relative_to(Path(__file__).parents[2]), "not the installed package", dw.__file__)
    check(dw.__version__ == version, "the version of the package", dw.__version__)
    done = run("--version")
    check(done.stdout == f"dpwords, version {version}\n", "dpwords --version", done)
    for name in dw.__all__:
        check(bool(getattr(dw, name).__doc__), "a public name", name)
    for arguments, printed in JOBS.items():
        done = run(*arguments)
        check(done.returncode == 0 and bool(re.fullmatch(printed, done.stdout)), f"dpwords {arguments[0]}", done)


def check_page() -> None:
    """The page is served, with a file of its bundle."""
    arguments = [COMMAND, "serve", "--no-browser", "--port", "0"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        said = server.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", said)
        check(address is not None, "dpwords serve", said)
        assert address is not None
        with urllib.request.urlopen(address[0]) as answer:
            page = answer.read().decode()
        check("<html" in page, "the page", page)
        server.send_signal(signal.SIGINT)


def main(directory: str, version: str, *extras: str) -> None:
    os.chdir(directory)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    if not extras:
        check_main_jobs(version)
    for need in NEEDS:
        if need.extra == "web" and "web" in extras:
            check_page()
            continue
        if extras and need.extra not in extras:
            continue
        done = do(need)
        if extras:
            check(done.returncode == 0, f"with the extra {need.extra}", done)
        else:
            one_line = done.stderr.count("\n") == 1 and done.returncode != 0
            check(one_line and f"pip install 'dpwords[{need.extra}]'" in done.stderr, "without extras", done)


main(*sys.argv[1:])
