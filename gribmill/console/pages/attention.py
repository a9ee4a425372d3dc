"""What needs attention: each problem with its cause, a remedy, and a button if one click can fix it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from gribmill.console.pages.overview import DEAD_COUNTED
from gribmill.console.pages.weather_troubles import Trouble, troubles_of_weather
from gribmill.console.weather_look import WeatherLook
from gribmill.console.wording import counted, duration
from gribmill.pipeline.status.health import OF_FORECASTS
from gribmill.queue.model import Reservation
from gribmill.queue.worker.supervisor.clock_skew import TOLERATED_SECONDS
from gribmill.views.queue.worker import WorkerView

SKEW_SECONDS = 2.0
WORKERS_NAMED = 3
# Health problems that this page reports itself, with a button.
REPORTED_HERE = ("paused", "reserved", "dead letters")


@dataclass(frozen=True, slots=True)
class QueueState:
    """The parts of the queue's state that may need attention."""

    paused: Sequence[str] = ()
    reservations: Sequence[Reservation] = ()
    workers: Sequence[WorkerView] = ()
    """Workers that have not stopped."""
    leader: str | None = None
    dead: int = 0
    """Dead letters that have not been retried."""
    skew_seconds: float = 0.0
    disabled_webhooks: int = 0


def troubles_of(look: WeatherLook, state: QueueState) -> list[Trouble]:
    """All problems, serious ones first."""
    found = [*_of_queue(state), *_of_workers(state), *_of_clocks(state), *_dead_letters(state), *_of_webhooks(state)]
    found += troubles_of_weather(look, lambda kind: kind not in REPORTED_HERE)
    return sorted(found, key=lambda one: not one.serious)


def troubles_of_tenant(look: WeatherLook, state: QueueState) -> list[Trouble]:
    """What a tenant may see: nothing about the machine or other tenants."""
    found = [*_dead_letters(state), *troubles_of_weather(look, lambda kind: kind in OF_FORECASTS, links=False)]
    return sorted(found, key=lambda one: not one.serious)


def _of_queue(state: QueueState) -> Iterator[Trouble]:
    for key in state.paused:
        yield Trouble(
            f"paused {key}",
            f"The job type {key} is paused: its jobs do not start.",
            "Resume it once the problem is solved.",
            post=f"/definitions/{quote(key, safe='')}/resume",
            button="Resume",
            href=f"/jobs?q=type:{quote(key, safe='')}&status=pending",
            link="Waiting jobs",
        )
    for one in state.reservations:
        what = "No job starts" if one.scope == "*" else f"No {one.scope} job starts"
        yield Trouble(
            f"reserved {one.id}",
            f"{what}: {one.reserved_by} has reserved the queue.",
            "The reservation expires automatically. Release it if its holder is gone.",
            post="/reservations/release",
            button="Release",
            fields=(("id", one.id),),
        )


def _of_workers(state: QueueState) -> Iterator[Trouble]:
    silent = [one for one in state.workers if one.stale]
    for one in silent[:WORKERS_NAMED]:
        yield Trouble(
            f"silent {one.id}",
            f"Worker {one.id} has sent no heartbeat for {duration(one.heartbeat_age_seconds)}.",
            f"Other workers take over its jobs. Restart it{f' on {one.hostname}' if one.hostname else ''},"
            " or dismiss it if it is not coming back.",
            post=f"/workers/{quote(one.id, safe='')}/dismiss",
            button="Dismiss",
            href="/workers",
            link="Workers",
        )
    if len(silent) > WORKERS_NAMED:
        more = counted(len(silent) - WORKERS_NAMED, "more worker")
        yield Trouble("silent", f"{more} without a heartbeat.", "", href="/workers", link="Workers")
    active = [one for one in state.workers if not one.stale and one.state == "active"]
    if active and state.leader is None:
        yield Trouble(
            "no leader",
            "No worker is the leader: schedules fire a few seconds late.",
            "A worker takes over at its next heartbeat. If none does, restart one.",
            serious=False,
            href="/workers",
            link="Workers",
        )


def _of_clocks(state: QueueState) -> Iterator[Trouble]:
    if state.skew_seconds > SKEW_SECONDS:
        yield Trouble(
            "skew",
            f"The clocks of this server and the database differ by {duration(state.skew_seconds)}.",
            "Ages on these pages are off by as much. Synchronize both clocks with NTP.",
            href="/workers",
            link="Workers",
        )
    for one in state.workers:
        ahead = one.clock_offset_seconds or 0.0
        if abs(ahead) > TOLERATED_SECONDS and not one.stale:
            side = "ahead of" if ahead > 0 else "behind"
            yield Trouble(
                f"skew {one.id}",
                f"The clock of worker {one.id} is {duration(abs(ahead))} {side} the database's.",
                f"Times in its logs are off by as much. Synchronize {one.hostname or 'its host'} with NTP.",
                serious=False,
                href="/workers",
                link="Workers",
            )


def _of_webhooks(state: QueueState) -> Iterator[Trouble]:
    if state.disabled_webhooks:
        was = "was" if state.disabled_webhooks == 1 else "were"
        yield Trouble(
            "webhooks",
            f"{counted(state.disabled_webhooks, 'webhook')} {was} disabled after repeated failures.",
            "Fix the receiver, then enable the webhook again.",
            serious=False,
            href="/webhooks",
            link="Webhooks",
        )


def _dead_letters(state: QueueState) -> Iterator[Trouble]:
    if state.dead:
        more = "or more " if state.dead >= DEAD_COUNTED else ""
        noun = "job has" if state.dead == 1 else "jobs have"
        yield Trouble(
            "dead letters",
            f"{state.dead:,} {more}{noun} failed every attempt (dead letters).",
            "Read the errors, fix the cause, then retry.",
            href="/jobs?status=dead_letter",
            link="Errors",
            post="/jobs/bulk",
            button="Retry all…",
            fields=(("action", "retry"), ("scope", "matching"), ("status", "dead_letter")),
        )
