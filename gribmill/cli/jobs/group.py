"""`gribmill jobs`: one file per verb."""

from __future__ import annotations

import click

from gribmill.cli.jobs.backup import backup
from gribmill.cli.jobs.cancel import cancel
from gribmill.cli.jobs.enqueue import enqueue
from gribmill.cli.jobs.listing import list_jobs
from gribmill.cli.jobs.move import move
from gribmill.cli.jobs.pause import pause, resume
from gribmill.cli.jobs.prune import prune
from gribmill.cli.jobs.reservations import release, reservations, reserve
from gribmill.cli.jobs.retry import retry
from gribmill.cli.jobs.show import show
from gribmill.cli.jobs.stats import stats
from gribmill.cli.jobs.types import types
from gribmill.cli.jobs.verify import verify


@click.group()
def jobs() -> None:
    """List, enqueue, retry, cancel and check jobs.

    Exit codes: 0 done, 1 refused or something failed, 2 wrong usage.
    """


for _command in (
    backup, cancel, enqueue, list_jobs, move, pause, prune, release, reservations, reserve, resume, retry, show,
    stats, types, verify,
):  # fmt: skip
    jobs.add_command(_command)
