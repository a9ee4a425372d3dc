"""Colours for the statuses of jobs, attempts, workers and mirrors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gribmill.cli.output import styled

if TYPE_CHECKING:
    from rich.text import Text

STYLES = {
    # jobs
    "pending": "yellow",
    "processing": "cyan",
    "completed": "green",
    "failed": "red",
    "dead_letter": "bold red",
    "cancelled": "magenta",
    # attempts
    "running": "cyan",
    "succeeded": "green",
    "skipped": "green",
    "timeout": "red",
    "lost": "red",
    "snoozed": "yellow",
    # workers
    "active": "green",
    "draining": "yellow",
    "stale": "bold red",
    "stopped": "dim",
    "paused": "bold yellow",
    # mirrors
    "well": "green",
    "failing": "yellow",
    "sick": "red",
    "trial": "yellow",
}


def status_text(status: str) -> Text:
    """A status in its colour."""
    return styled((status, STYLES.get(status, "")))
