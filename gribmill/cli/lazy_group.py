"""A group that imports a command only when it is invoked."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from gribmill.errors import quoted, sentence

# 128 and the number of SIGINT, as shells report it.
INTERRUPTED = 130
LONGEST_NAME = 40


class LazyGroup(click.Group):
    """Commands by name: the import path of each (`module:attribute`), and its line in the list of commands.

    The lines are given here so that listing the commands does not import their modules.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, tuple[str, str]],
        aliases: Mapping[str, str] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.table = table
        # Former names, which still work but are not listed.
        self.aliases = aliases or {}

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _short_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _short_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            # click would print "Aborted!" and exit with 1, as after an error.
            raise SystemExit(INTERRUPTED) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = self.aliases.get(name, name)
        if name not in self.table:
            return None
        module, attribute = self.table[name][0].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.table and name not in self.aliases:
            from difflib import get_close_matches  # only needed for mistakes

            # click itself would look among the commands that are imported. Long words take quadratic time.
            near = get_close_matches(name[:LONGEST_NAME], self.table, n=2, cutoff=0.7)
            if near and not name.startswith("-"):
                ctx.fail(f"No such command {quoted(name)}. Did you mean {' or '.join(near)}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in sorted(self.table.items())])


@contextmanager
def _short_errors() -> Iterator[None]:
    """Shorten usage errors and make them printable: they quote user input, which may be long or contain control
    characters."""
    try:
        yield
    except click.ClickException as error:
        error.message = sentence(error.message)  # type: ignore[misc]  # final in click's annotations
        raise
