"""Shell completion: what is offered, and that real shells complete with it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from commands import COMMAND, refused, run
from dpwords.cli import cli

PATIENCE = 60.0  # seconds until a shell that does not answer is given up


def offered(*words: str) -> list[str]:
    """What is offered for the last word; "FILES" stands for names of files, which the shell finds."""
    *args, incomplete = words
    items = ShellComplete(cli, {}, "dpwords", "_DPWORDS_COMPLETE").get_completions(args, incomplete)
    return ["FILES" if item.type == "file" else item.value for item in items]


def test_commands_options_and_choices_are_offered() -> None:
    assert offered("a") == ["accuracy", "audit", "attack"]
    assert offered("ledger", "") == ["as-text", "show"]
    assert offered("accuracy", "--target") == ["--target-distance", "--target-probability"]
    assert offered("release", "--mechanism", "") == ["best", "exponential", "online", "projected", "channel"]
    assert offered("audit", "--utility", "s") == ["staircase"]
    assert offered("release", "--words=") == ["moves", "states"]
    assert offered("release", "--format", "p") == ["parquet"]
    assert offered("completion", "") == ["bash", "zsh", "fish"]


def test_names_of_alphabets_systems_and_rules_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert offered("release", "--alphabet", "name:d") == ["name:digits", "name:dna"]
    assert offered("audit", "--system", "") == ["FILES", "grid:"]
    assert offered("audit", "--system", "roads") == ["FILES"]
    assert offered("draw", "--rule", "at_") == ["at_least:", "at_most:"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "acts.txt").touch()
    (tmp_path / "acts").mkdir()
    assert offered("release", "--alphabet", "@a") == ["@acts/", "@acts.txt"]


@pytest.mark.parametrize(
    "words",
    [
        *(["release", option, ""] for option in ("--input", "--output", "--ledger", "--key-file", "--certificates")),
        ["release", "--lexicon", ""],
        ["ledger", "show", ""],
        ["draw", "--output", ""],
        ["accuracy", "--plot", ""],
        ["attack", "--plot", ""],
        ["attack", "--prior", "c"],
        ["study", "grid", "--output", ""],
        ["study", "data", "--input", ""],
    ],
)
def test_names_of_files_are_offered(words: list[str]) -> None:
    assert offered(*words) == ["FILES"]


def test_nothing_is_offered_for_what_only_the_data_tell(tmp_path: Path) -> None:
    table = tmp_path / "routes.csv"
    table.write_text("route,who\nab,ann\n", encoding="utf-8")
    assert offered("release", "") == offered("release", "ab", "") == []
    for option in ("--column", "--id", "--by", "--separator", "--start"):
        assert offered("release", "--input", str(table), option, "") == []
    assert offered("ledger", "show", str(tmp_path / "ledger.db"), "--id", "") == []


def test_shells_can_also_ask_in_the_usual_way_of_click() -> None:
    for shell in ("bash", "zsh", "fish"):
        environment = os.environ | {"_DPWORDS_COMPLETE": f"{shell}_source"}
        done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout == run("completion", shell).stdout
        assert f"_DPWORDS_COMPLETE={shell}_complete" in done.stdout
    assert "SHELL takes one of bash, zsh, fish" in refused("completion", "tcsh")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A search path with dpwords on it, and a directory to be in."""
    tools = tmp_path / "tools"
    tools.mkdir()
    command = tools / "dpwords"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m dpwords "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    (here / "roads.graphml").touch()
    return f"{tools}{os.pathsep}{os.environ['PATH']}"


def typed(shell: list[str], lines: list[str], keys: str, wanted: str, path: str, here: Path) -> str:
    """What an interactive shell has shown when the wanted text appears after these keys, or when it is given up."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"PATH": path, "TERM": "dumb", "PS1": "$ ", "HOME": str(here)}
    with subprocess.Popen(
        shell, stdin=theirs, stdout=theirs, stderr=theirs, cwd=here, env=environment, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = ""
        for line, until in [*((f"{line}; echo RE''ADY\n", "READY") for line in lines), (keys, wanted)]:
            os.write(ours, line.encode())
            part = ""
            while until not in part and select.select([ours], [], [], PATIENCE)[0]:
                part += os.read(ours, 2**16).decode(errors="replace")
            shown += part
        process.kill()
    os.close(ours)
    return shown


KEYS = [
    ("dpwords acc\t", "dpwords accuracy "),
    ("dpwords release --mech\t", "--mechanism "),
    ("dpwords audit --calibration te\t", "textbook "),
    ("dpwords audit --alphabet name:dn\t", "name:dna "),
    ("dpwords audit --alphabet=name:pro\t", "name:protein "),
    ("dpwords audit --alphabet 'name:pri\t", "name:printable"),
    ("dpwords audit --system gr\t", "grid:"),
    ("dpwords audit --system roa\t", "roads.graphml"),
]


@pytest.mark.parametrize(("keys", "wanted"), KEYS)
def test_bash_completes(keys: str, wanted: str, path: str, tmp_path: Path) -> None:
    shell = ["bash", "--norc", "--noprofile", "-i"]
    shown = typed(shell, ['eval "$(dpwords completion bash)"'], keys, wanted, path, tmp_path / "here")
    assert wanted in shown
    assert "name:name" not in shown


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed, so its completion is not tried")
@pytest.mark.parametrize(("keys", "wanted"), KEYS)
def test_zsh_completes(keys: str, wanted: str, path: str, tmp_path: Path) -> None:
    lines = ["autoload -U compinit && compinit -u", 'eval "$(dpwords completion zsh)"']
    assert wanted in typed(["zsh", "-f", "-i"], lines, keys, wanted, path, tmp_path / "here")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed, so its completion is not tried")
@pytest.mark.parametrize(("keys", "wanted"), [pair for pair in KEYS if "=" not in pair[0]])
def test_fish_completes(keys: str, wanted: str, path: str, tmp_path: Path) -> None:
    script = 'dpwords completion fish | source; complete -C "$argv[1]"'
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, keys.removesuffix("\t")],
        cwd=tmp_path / "here",
        env=os.environ | {"PATH": path, "HOME": str(tmp_path / "here")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert wanted.rsplit(maxsplit=1)[-1] in done.stdout
