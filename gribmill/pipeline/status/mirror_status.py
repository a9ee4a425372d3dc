"""The health of mirrors, in the words of `status` and `mirrors list`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from gribmill.ingest.errors import without_addresses
from gribmill.ingest.mirror import MirrorHealth
from gribmill.ingest.models.model import Model

MirrorState = Literal["not asked yet", "well", "failing", "sick", "trial"]


@dataclass(frozen=True, slots=True)
class MirrorStatus:
    """The health of one mirror."""

    name: str
    state: MirrorState
    """Failing: the last request failed, but the circuit breaker is still closed. Sick: the circuit breaker is open.
    Trial: the pause is over, and the next request decides."""
    failures: int
    last_reason: str
    sick_until: datetime | None
    last_success: datetime | None
    last_failure: datetime | None
    summary: str
    """One phrase: `well`, `failed once: …`, `sick until 01:40 UTC, never answered: …`."""

    @property
    def fails(self) -> bool:
        """Whether its last request failed."""
        return self.failures > 0


def mirror_status(name: str, health: MirrorHealth | None, now: datetime) -> MirrorStatus:
    """The state of a mirror after its last requests; `health` is None before the first one."""
    if health is None:
        return MirrorStatus(name, "not asked yet", 0, "", None, None, None, "not asked yet")
    state = _state(health, now)
    return MirrorStatus(
        name,
        state,
        health.failures,
        health.last_reason,
        health.open_until,
        health.last_success,
        health.last_failure,
        _summary(health, state, now),
    )


def mirror_users(models: Iterable[Model]) -> dict[str, list[str]]:
    """The families that use each mirror, by its name, in the order of the models."""
    found: dict[str, list[str]] = {}
    for model in models:
        for mirror in model.mirrors:
            families = found.setdefault(mirror.name, [])
            if model.family not in families:
                families.append(model.family)
    return found


def clock_time(moment: datetime, now: datetime) -> str:
    """`01:40 UTC`, with the date if it is not today."""
    return f"{moment:%H:%M} UTC" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M} UTC"


def _state(health: MirrorHealth, now: datetime) -> MirrorState:
    if health.open_until is None:
        return "failing" if health.failures else "well"
    return "sick" if health.state(now) == "open" else "trial"


def _summary(health: MirrorHealth, state: MirrorState, now: datetime) -> str:
    if not health.failures and health.open_until is None:
        return "well" if health.last_success else "never answered"
    words = []
    if state == "sick" and health.open_until is not None:
        words.append(f"sick until {clock_time(health.open_until, now)}")
    if health.last_success is None:
        words.append("never answered")
    if state != "sick":
        words.append("failed once" if health.failures == 1 else f"failed {health.failures} times")
    return f"{', '.join(words)}: {without_addresses(health.last_reason)}".rstrip(": ")
