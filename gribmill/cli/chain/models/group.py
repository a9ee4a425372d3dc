"""`gribmill models`: the models that can be ingested."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {
    "check": ("gribmill.cli.chain.models.check:check", "Check the definition of a model, or of all."),
    "list": ("gribmill.cli.chain.models.listing:list_models", "List the models."),
    "show": ("gribmill.cli.chain.models.listing:show", "Show one model in full."),
}


@click.group(cls=LazyGroup, table=VERBS)
def models() -> None:
    """List, show and check the models that can be ingested."""
