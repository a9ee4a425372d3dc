"""`gribmill config`: the effective settings."""

from __future__ import annotations

import click

from gribmill.cli.check_chain import check_chain_models, check_chain_regions
from gribmill.cli.invocation import Invocation
from gribmill.cli.output import print_json, print_table
from gribmill.settings.toml_file import toml_value
from gribmill.views.chain.setting import SettingView


@click.group()
def config() -> None:
    """Show the settings in effect and where each came from."""


@config.command(short_help="Show every setting with its value and its origin.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with descriptions.")
@click.pass_context
def show(ctx: click.Context, as_json: bool) -> None:
    """Show every setting with its value and its origin: a file, a variable, an option, or the default.

    Exit code 1 if [chain] names a model or a region that does not exist.
    """
    invocation: Invocation = ctx.meta[Invocation.META_KEY]
    settings, origins = invocation.settings()
    if as_json:
        print_json([SettingView.of(one) for one in origins])
    else:
        rows = [[one.key, "not set" if one.value is None else toml_value(one.value), one.source] for one in origins]
        print_table(["setting", "value", "from"], rows)
    check_chain_regions(settings)
    check_chain_models(settings)
