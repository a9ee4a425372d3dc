"""Options shared by several verbs of `gribmill triggers`."""

from __future__ import annotations

import click

from gribmill.cli.options.ids import parse_ids

IDS = click.argument("ids", nargs=-1, required=True, callback=parse_ids, metavar="ID...")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
