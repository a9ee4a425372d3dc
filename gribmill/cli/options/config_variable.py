"""The settings file of this call, for the commands that its workers run."""

from __future__ import annotations

import os

import click


def share_config_file() -> None:
    """Commands that jobs run read the settings file that was named with --config."""
    named = click.get_current_context().find_root().params.get("config_file")
    if named is not None:
        os.environ["GRIBMILL_CONFIG"] = str(named.absolute())
