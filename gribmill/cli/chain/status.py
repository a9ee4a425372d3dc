"""`gribmill status`: whether all is well, and if not, why."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import click

from gribmill.cli.chain.status_check import check_line, unknown_line
from gribmill.cli.output import one_line, print_json
from gribmill.cli.patience import patiently
from gribmill.cli.text.figures import format_duration, format_size
from gribmill.cli.text.plain_lines import Line, line, print_lines
from gribmill.cli.text.status_text import STYLES
from gribmill.errors import GribmillError
from gribmill.pipeline.context import make_context_for_reading
from gribmill.pipeline.job_text import short_error
from gribmill.pipeline.status.overview import look_at
from gribmill.settings.schema import Settings

if TYPE_CHECKING:
    from gribmill.pipeline.status.freshness import RegionFreshness
    from gribmill.pipeline.status.health import Health
    from gribmill.pipeline.status.status import MissingHour, ModelStatus, RunStatus

COLOURS = {"whole": "green", "arriving": "yellow", **STYLES}
WATCH_SECONDS = 2.0


@click.command()
@click.argument("models", nargs=-1)
@click.option("--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="Number of runs per model.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")
@click.option(
    "--check", is_flag=True, help="One line and an exit code for monitoring: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."
)
@click.option("--watch", is_flag=True, help="Repeat every two seconds until Ctrl-C.")
@click.pass_obj
def status(settings: Settings, models: tuple[str, ...], runs: int, as_json: bool, check: bool, watch: bool) -> None:
    """Show whether everything works, and if not, why; then how up to date each model is.

    The first line is the verdict: "all well", or the worst problem. Exit code 1 if something is
    wrong: no worker is running, the disk is (nearly) full, no mirror of a model responds, a model
    is behind, late, or has no runs, or jobs are paused or were given up.

    Without MODELS, shows the models of [chain] and those with runs in the data root. Uses no
    network. A run is whole when every region of [chain], and every other requested region, has
    all hours.

    --check follows the conventions of monitoring plugins (Nagios, Icinga, Checkmk …): CRITICAL if
    a region is stale, no worker is running or the disk is (nearly) full, WARNING for any other
    problem. The performance data are the ages of the newest complete runs, workers and free space.
    """
    if check:
        if as_json or watch:
            raise click.UsageError("--check prints one line: it cannot be combined with --json or --watch")
        _check(settings, models, runs)
    statuses, health, fresh = _read(settings, models, runs)
    while True:
        if as_json:
            from gribmill.views.chain.status import ModelStatusView

            print_json([ModelStatusView.of(one, health, fresh) for one in statuses])
        else:
            _print(settings, statuses, health, fresh, watch=watch)
        if not watch:
            break
        time.sleep(WATCH_SECONDS)
        statuses, health, fresh = patiently(lambda: _read(settings, models, runs))
    if not health.well:
        raise SystemExit(1)


def _check(settings: Settings, models: tuple[str, ...], runs: int) -> None:
    try:
        _, health, fresh = _read(settings, models, runs)
        code, text = check_line(fresh, health)
    except (GribmillError, OSError) as error:
        code, text = unknown_line(str(error))
    click.echo(text)
    raise SystemExit(code)


def _read(
    settings: Settings, names: tuple[str, ...], runs: int
) -> tuple[list[ModelStatus], Health, list[RegionFreshness]]:
    look = look_at(make_context_for_reading(settings), names, runs)
    return [*look.statuses], look.health, [*look.freshness]


def _print(
    settings: Settings,
    statuses: list[ModelStatus],
    health: Health,
    fresh: list[RegionFreshness],
    *,
    watch: bool,
) -> None:
    lines = [*_headline(statuses, health)]
    for one in statuses:
        lines += _lines(one, {judged.region: judged for judged in fresh if judged.model_id == one.model_id})
    free, total = format_size(health.disk_free), format_size(health.disk_total)
    root = settings.data_root
    absent = "" if root.exists() else ", which does not exist"
    print_lines([*lines, line(f"disk: {free} free of {total} at {root}{absent}")], screen=watch)


def _headline(statuses: list[ModelStatus], health: Health) -> Iterator[Line]:
    """The verdict, then one line for each problem."""
    if health.well:
        workers = f"{health.workers} worker{'' if health.workers == 1 else 's'}"
        models = ", ".join(f"{one.model_id} {one.verdict}" for one in statuses[:4])
        more = f" and {len(statuses) - 4} more" if len(statuses) > 4 else ""
        yield line(("all well", "bold green"), f": {models}{more}; {workers}; {format_size(health.disk_free)} free")
        rest = health.problems
    else:
        yield line(("not well", "bold red"), f": {health.problems[0].text}")
        rest = health.problems[1:]
    for one in rest:
        yield line(("  also: " if one.serious else "  note: ", "red" if one.serious else "yellow"), one.text)


def _lines(one: ModelStatus, fresh: dict[str, RegionFreshness]) -> Iterator[Line]:
    now = datetime.now(UTC)
    colour = COLOURS.get(one.verdict, "red")
    yield line((one.model_id, "bold"), f"  {one.title}  ", (one.verdict, colour))
    for run in one.runs:
        yield line(f"  {_run_line(run, now)}")
        yield from _missing_lines(run, now)
        if run.variables_missing:
            yield line(f"    missing in some files: {', '.join(run.variables_missing)}")
    if one.complete:
        yield line("  complete: " + ", ".join(_complete(*pair, fresh) for pair in one.complete.items()))
    if one.next_due_at:
        yield line(f"  next run is due in {format_duration((one.next_due_at - now).total_seconds())}")
    for mirror in one.mirrors:
        yield line(f"  mirror {mirror.name} ", (mirror.summary, COLOURS.get(mirror.state, "")))


def _complete(region: str, run: str | None, fresh: dict[str, RegionFreshness]) -> str:
    """`ne 20261116_03`, `texas 20261116_01 (late: build failing)`."""
    judged = fresh.get(region)
    words = f" ({judged.text})" if judged is not None and judged.state != "ok" else ""
    return f"{region} {run or 'none yet'}{words}"


def _missing_lines(run: RunStatus, now: datetime) -> Iterator[Line]:
    """The missing hours on one line, followed by a line for each hour that was tried."""
    tried = {one.hour for one in run.missing if _tried(one, now)}
    others = [*_groups(run, now, {one.hour for one in run.missing} - tried)]
    if others:
        yield line(f"    missing: {'; '.join(others)}")
    for group in _groups(run, now, tried):
        yield line(f"    missing: {group}")


def _run_line(run: RunStatus, now: datetime) -> str:
    age = f", last tile {format_duration((now - run.last_built_at).total_seconds())} ago" if run.last_built_at else ""
    asked = f" (the run has {run.hours_in_run})" if run.hours_in_run else ""
    return (
        f"{run.run_id}  {run.hours_built}/{run.hours_expected} hours{asked}  {run.tiles}/{run.tiles_expected} tiles"
        f"  {format_size(run.bytes)}  {run.state.replace('_', ' ')}{age}"
    )


def _groups(run: RunStatus, now: datetime, hours: Collection[int]) -> Iterator[str]:
    """Groups of hours such as `1-5, 7-11 late` or `12-18 not due yet`. A range ends at an hour that is not missing."""
    missing = {one.hour: _why(one, run, now) for one in run.missing if one.hour in hours}
    spans: dict[str, list[str]] = {}
    for words, several in groupby(run.hours, key=missing.get):
        if words is not None:
            hours = [*several]
            spans.setdefault(words, []).append(f"{hours[0]}-{hours[-1]}" if len(hours) > 1 else f"{hours[0]}")
    for words, several_spans in spans.items():
        yield f"{', '.join(several_spans)} {words}"


def _why(one: MissingHour, run: RunStatus, now: datetime) -> str:
    """The reason, the regions unless all are affected, and what the job has tried."""
    some = {*one.regions} != {*run.regions}
    where = f" ({', '.join(one.regions)})" if some and one.regions else ""
    return f"{one.reason}{where}{_tried(one, now)}"


def _tried(one: MissingHour, now: datetime) -> str:
    """`: tried 4 times, checksum wrong, again in 2 min`; empty for a job without failures."""
    job = one.job
    if job is None:
        return ""
    words = []
    if job.tries:
        words.append("tried once" if job.tries == 1 else f"tried {job.tries} times")
    if job.error:
        words.append(one_line(short_error(job.error), 70))
    if job.status == "failed":
        words.append(f"given up (job {job.job_id})")
    elif job.status == "processing":
        words.append("in progress")
    elif job.again_at is not None and job.again_at > now:
        minutes = -(-int((job.again_at - now).total_seconds()) // 60)
        words.append("again within a minute" if minutes <= 1 else f"again in {minutes} min")
    return f": {', '.join(words)}" if words else ""
