"""Passes the settings file on to commands that jobs run."""

from __future__ import annotations

import os

import click


def share_config_file() -> None:
    """Export the file named with --config, so that commands run by jobs read it too."""
    named = click.get_current_context().find_root().params.get("config_file")
    if named is not None:
        os.environ["GRIBMILL_CONFIG"] = str(named.absolute())
