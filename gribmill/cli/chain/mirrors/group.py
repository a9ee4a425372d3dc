"""`gribmill mirrors`: mirrors and their health."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "clear": ("gribmill.cli.chain.mirrors.clear:clear", "Use failing mirrors again at once."),
    "list": ("gribmill.cli.chain.mirrors.listing:list_mirrors", "List mirrors and their circuit breakers."),
}


@click.group(cls=LazyGroup, table=VERBS)
def mirrors() -> None:
    """List mirrors, and reset failing ones.

    After three failures in a row, a mirror is not used for a while (a circuit breaker). If no
    other mirror is left, it is still tried, at most every 30 seconds.
    """
