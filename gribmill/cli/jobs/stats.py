"""`gribmill jobs stats`: numbers of jobs, and statistics of the last hour."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.options.duration import DURATION
from gribmill.cli.output import live, make_table, print_json, print_json_line, print_rich, print_table, stacked, styled
from gribmill.cli.patience import patiently
from gribmill.cli.text.figures import format_duration
from gribmill.cli.text.status_text import STYLES, status_text
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import STATUSES
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_stats import JobStatsView, QueueTotalsView, ThroughputView

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

    from gribmill.queue.store import Store
    from gribmill.queue.store.types.types import TypeStats


@click.command()
@click.option("--watch", is_flag=True, help="Repeat until Ctrl-C.")
@click.option("--every", type=DURATION, default="2", show_default=True, help="The interval of --watch.")
@click.option("--totals", is_flag=True, help="All types together, with the rates of the last minute and hour.")
@click.option("--tenant", metavar="TENANT", help="Only jobs of this tenant.")
@click.option("--json", "as_json", is_flag=True, help="As JSON; with --watch, one line each time.")
@click.pass_obj
def stats(settings: Settings, watch: bool, every: float, totals: bool, tenant: str | None, as_json: bool) -> None:
    """Count jobs by type and status; show the oldest ready job, and the last hour's waits, run times and failures."""
    store = open_queue_for_reading(settings)
    if tenant is not None:
        store.tenants.get(tenant)
    if totals and watch:
        raise click.UsageError("--totals cannot be combined with --watch")
    if totals:
        _show_totals(QueueTotalsView.of(store.types.stats(tenant), store.types.rates(tenant)), as_json)
    elif watch:
        _watch(store, tenant, max(every, 0.1), as_json)
    elif as_json:
        print_json(_views(store, tenant))
    else:
        print_rich(_tables(store.types.stats(tenant)))


def _watch(store: Store, tenant: str | None, every: float, as_json: bool) -> None:
    if as_json or not sys.stdout.isatty():
        while True:
            if as_json:
                print_json_line(patiently(lambda: _views(store, tenant)))
            else:
                print_rich(_tables(patiently(lambda: store.types.stats(tenant))))
            sys.stdout.flush()
            time.sleep(every)
    with live(_tables(store.types.stats(tenant))) as display:
        while True:
            time.sleep(every)
            display.update(_tables(patiently(lambda: store.types.stats(tenant))), refresh=True)


def _show_totals(totals: QueueTotalsView, as_json: bool) -> None:
    if as_json:
        print_json(totals)
        return
    counts = ", ".join(f"{count} {status}" for status, count in totals.counts.items())
    oldest = format_duration(totals.oldest_ready_seconds)
    click.echo(f"{counts}" + (f"; the oldest ready job has waited {oldest}" if oldest else ""))
    columns = ["within the last", *(name.replace("_", " ") for name in ThroughputView.model_fields)]
    periods = {"minute": totals.last_minute, "hour": totals.last_hour}
    rows = [[name, *one.model_dump().values()] for name, one in periods.items()]
    print_table(columns, rows, right=columns[1:])


def _views(store: Store, tenant: str | None) -> list[JobStatsView]:
    return [JobStatsView.of(one) for one in store.types.stats(tenant)]


def _tables(found: Sequence[TypeStats]) -> Group:
    """Two tables, so that each fits into 80 columns."""
    now = ["type", *STATUSES, "oldest", ""]
    tables: list[RenderableType] = [make_table(now, [_depth(one) for one in found], right=now[1:-1])]
    if recent := [_last_hour(one) for one in found if one.finished]:
        hour = ["last hour", "ended", "failed", "", "wait p50", "p95", "run p50", "p95 "]
        tables += ["", make_table(hour, recent, right=hour[1:])]
    return stacked(*tables)


def _depth(one: TypeStats) -> Sequence[Any]:
    return [
        one.type,
        *(_count(status, one.counts.get(status, 0)) for status in STATUSES),
        format_duration(one.oldest_ready_seconds),
        status_text("paused") if one.paused else "",
    ]


def _count(status: str, count: int) -> Text:
    return styled((str(count), STYLES[status] if count else "dim"))


def _last_hour(one: TypeStats) -> Sequence[Any]:
    return [
        one.type,
        one.finished,
        one.failed,
        f"{one.failure_rate or 0.0:.1%}",
        format_duration(one.wait_p50),
        format_duration(one.wait_p95),
        format_duration(one.run_p50),
        format_duration(one.run_p95),
    ]
