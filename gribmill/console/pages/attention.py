"""What needs attention: each with its cause, what to do about it, and a button where one click does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gribmill.console.weather_look import WeatherLook
from gribmill.console.wording import counted, duration
from gribmill.pipeline.status.health import Problem
from gribmill.queue.model import Reservation

SKEW_SECONDS = 2.0
# What a tenant can see of the state of the whole: its forecasts, not the machine.
FOR_TENANTS = ("model", "tiles", "mirrors")


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong. `post` is where its button sends a form with `fields`; `href` leads to more."""

    cause: str
    remedy: str
    serious: bool = True
    href: str = ""
    link: str = ""
    post: str = ""
    button: str = ""
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class QueueState:
    """What the queue itself has to say."""

    paused: Sequence[str] = ()
    reservations: Sequence[Reservation] = ()
    silent_workers: Sequence[str] = ()
    dead: int = 0
    skew_seconds: float = 0.0
    disabled_webhooks: int = 0


def troubles_of(look: WeatherLook, state: QueueState) -> list[Trouble]:
    """Everything, the serious first."""
    found = [*_of_queue(state)]
    # Said above in words of its own, with a button.
    said = {"paused", "reserved", "dead letters"}
    found += [_of_problem(one) for one in look.health.problems if one.kind not in said]
    return sorted(found, key=lambda one: not one.serious)


def troubles_of_tenant(look: WeatherLook, state: QueueState) -> list[Trouble]:
    """Without the machine and the other tenants."""
    found = [*_dead_letters(state)]
    found += [_of_problem(one) for one in look.health.problems if one.kind in FOR_TENANTS]
    return sorted(found, key=lambda one: not one.serious)


def _of_queue(state: QueueState) -> Iterator[Trouble]:
    for key in state.paused:
        yield Trouble(
            f"The job type {key} is paused: none of its jobs starts.",
            "Resume it when the reason is gone.",
            post=f"/definitions/{key}/resume",
            button="Resume",
            href=f"/jobs?q=type:{key}&status=pending",
            link="Its queue",
        )
    for one in state.reservations:
        what = "No job starts" if one.scope == "*" else f"No {one.scope} job starts"
        yield Trouble(
            f"{what}: {one.reserved_by} has reserved the queue.",
            "It ends by itself; release it if its holder is gone.",
            post="/reservations/release",
            button="Release",
            fields=(("id", one.id),),
        )
    if state.silent_workers:
        names = ", ".join(state.silent_workers[:3])
        several = counted(len(state.silent_workers), "worker")
        yield Trouble(
            f"{several} stopped without saying so: {names}.",
            "Their jobs go back into the queue when their leases end. Look at the host, and start a worker again.",
            href="/workers",
            link="Workers",
        )
    yield from _dead_letters(state)
    if state.skew_seconds > SKEW_SECONDS:
        yield Trouble(
            f"The clocks of this server and of the database differ by {duration(state.skew_seconds)}.",
            "Run NTP on both: ages on these pages are wrong by as much.",
        )
    if state.disabled_webhooks:
        yield Trouble(
            f"{counted(state.disabled_webhooks, 'webhook')} was disabled after long failure."
            if state.disabled_webhooks == 1
            else f"{counted(state.disabled_webhooks, 'webhook')} were disabled after long failure.",
            "Mend the receiver, then enable it again.",
            serious=False,
            href="/webhooks",
            link="Webhooks",
        )


def _dead_letters(state: QueueState) -> Iterator[Trouble]:
    if state.dead:
        more = "or more " if state.dead >= 1000 else ""
        noun = "job has" if state.dead == 1 else "jobs have"
        yield Trouble(
            f"{state.dead:,} {more}{noun} used up all attempts (dead letters).",
            "Read the errors, mend the cause, then retry them.",
            href="/jobs?status=dead_letter",
            link="Errors",
            post="/jobs/bulk",
            button="Retry all…",
            fields=(("action", "retry"), ("scope", "matching"), ("status", "dead_letter")),
        )


def _of_problem(problem: Problem) -> Trouble:
    text = f"{problem.text[:1].upper()}{problem.text[1:]}".replace("`", "")
    model = problem.model_id or ""
    match problem.kind:
        case "no worker":
            return Trouble(text, "Nothing is fetched or built meanwhile.", href="/workers", link="Workers")
        case "disk":
            return Trouble(
                text,
                "Remove old runs now, or give the disk more space.",
                href="/storage",
                link="What would be removed",
                post="/storage/prune",
                button="Remove old runs",
            )
        case "mirrors" | "mirror":
            return Trouble(
                text,
                "Files are taken from other mirrors; ask again when the publisher is back.",
                serious=problem.serious,
                href="/sources",
                link="Sources",
            )
        case "model":
            return Trouble(text, "Look which hours are missing, and why.", href=f"/runs?model={model}", link="Its runs")
        case "tiles":
            return Trouble(
                text, "The next scan downloads and builds them again.", href=f"/runs?model={model}", link="Its runs"
            )
        case "no models":
            return Trouble(text, "Name models and regions in [chain] of gribmill.toml.", serious=False)
        case _:
            return Trouble(text, "", serious=problem.serious)
