"""`gribmill triggers preview`. It needs no queue, so it starts fast."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import click

from gribmill.cli.options.accepted_by import accepted_by
from gribmill.cli.output import AS_JSON, print_json
from gribmill.queue.cron import CronSchedule, check_cron, check_zone
from gribmill.queue.times import to_rfc3339


@click.command()
@click.argument("cron", callback=accepted_by(check_cron))
@click.option(
    "--timezone",
    default="UTC",
    show_default=True,
    metavar="ZONE",
    callback=accepted_by(check_zone),
    help="Time zone of the schedule.",
)
@click.option("-n", "count", type=click.IntRange(1, 100), default=5, show_default=True, help="Number of slots.")
@AS_JSON
def preview(cron: str, timezone: str, count: int, as_json: bool) -> None:
    """Show the next slots of a schedule, without adding a trigger."""
    slots = [str(to_rfc3339(slot)) for slot in islice(CronSchedule(cron, timezone).since(datetime.now(UTC)), count)]
    if as_json:
        print_json(slots)
    else:
        click.echo("\n".join(slots))
