"""Help texts that can be read: commands in the order in which people need them, and options under headings."""

from __future__ import annotations

import click

_SECTIONS = {
    "The question": "question patterns per_place confidence method top releases prior samples",
    "What may be released (public)": "alphabet system words lexicon start action dot_symbols walls goal rules "
    "separator",
    "Privacy and accuracy": "epsilon report k edits mechanism utility alpha calibration any_word certificate_time "
    "no_cache certificates",
    "Tables of words": "input output format header no_header output_format column columns case symbol order id by "
    "budget split ledger resume invalid drop_others key_file",
}
_SECTION = {name: section for section, names in _SECTIONS.items() for name in names.split()}


class OrderedCommands(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(self.commands)


class SectionedCommand(click.Command):
    """A command with many options, which its help shows under headings; those that have none come first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        records: dict[str, list[tuple[str, str]]] = {"Options": [], **{section: [] for section in _SECTIONS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                records[_SECTION.get(parameter.name or "", "Options")].append(record)
        for section, lines in records.items():
            if lines:
                with formatter.section(section):
                    formatter.write_dl(lines)
