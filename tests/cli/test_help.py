"""Help texts: every option is shown once, under a heading that fits, and commands in the order of need."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from dpwords.cli import cli


def shown(*arguments: str) -> str:
    return CliRunner().invoke(cli, [*arguments, "--help"], terminal_width=100).output


def test_commands_come_in_the_order_of_need_and_are_not_cut_off() -> None:
    commands = shown().partition("Commands:\n")[2]
    assert re.findall(r"^  (\w+)", commands, re.M)[:3] == ["release", "accuracy", "estimate"]
    assert "..." not in commands


@pytest.mark.parametrize("name", ["release", "accuracy", "estimate", "audit", "draw"])
def test_every_option_is_shown_once(name: str) -> None:
    options = re.findall(r"^  (?:-\w, )?(--?[\w-]+)", shown(name).partition("Options:\n")[2], re.M)
    command = cli.commands[name]
    assert sorted(options) == sorted(
        max(each.opts, key=len) for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)
    )


def test_options_stand_under_headings() -> None:
    text = shown("release")
    sections = re.split(r"^(\S.*):\n", text, flags=re.M)
    under = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert "--alphabet" in under["What may be released (public)"]
    assert "--mechanism" in under["Privacy and accuracy"]
    assert "--input" in under["Tables of words"]
    assert "--quiet" in under["Options"]
    assert "[WORD]" not in under["Options"]  # which is no option
