"""`gribmill grib`: the contents of GRIB files."""

from __future__ import annotations

import click

from gribmill.cli.lazy_group import LazyGroup

VERBS = {"ls": ("gribmill.cli.data.grib.ls:list_fields", "List the fields of GRIB files.")}


@click.group(cls=LazyGroup, table=VERBS, context_settings={"help_option_names": ["-h", "--help"]})
def grib() -> None:
    """List the contents of GRIB files."""
