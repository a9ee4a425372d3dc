"""Asks a model's mirrors which files of a run they have, within one scan's time limit."""

from __future__ import annotations

import time
from datetime import datetime

from gribmill.ingest.available_hours import Published, published
from gribmill.ingest.circuit_breaker import Observation, choose_mirrors, observation_of
from gribmill.ingest.errors import SourceError, without_addresses
from gribmill.ingest.http.deadline import until
from gribmill.ingest.mirror import Mirror
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context

# The time limit of all requests together: results must be recorded before the job times out.
ASKING_SECONDS = 200.0


class MirrorQuestions:
    """All requests of one scan. A mirror that fails once is not asked again."""

    def __init__(self, context: Context, model: Model, now: datetime) -> None:
        self._context = context
        self._model = model
        self._now = now
        self._health = context.catalogue.mirrors()
        self._until = time.monotonic() + ASKING_SECONDS
        self._failed: set[str] = set()
        self.observations: list[Observation] = []
        self.errors: dict[str, str] = {}
        """Maps a mirror to why it did not respond."""
        self.answered = False
        """Whether any mirror responded, even if only with 404."""

    def published(self, run: datetime) -> tuple[dict[int, Published], bool]:
        """The published hours of a run, and whether any mirror responded; one that did not may have more.

        Asks the best mirror, and others only if hours are late or a mirror fails. If the circuit breakers of all
        mirrors are open, one of them is tried.
        """
        found: dict[int, Published] = {}
        answered = False
        urls = self._model.urls(run, self._model.hours(run)[0])
        choice = choose_mirrors(urls, self._health, self._now)
        for source, moment in choice.left_alone:
            self._leave_alone(source.mirror.name, moment)
        for source in choice.usable:
            if source.mirror.name in self._failed:
                continue
            listed = self._ask(run, source.mirror)
            if listed is None:
                continue
            answered = True
            found = {**listed, **found}
            late = [hour for hour in self._model.hours(run) if self._now > self._model.expected_at(run, hour).late]
            if self._model.discovers(run) or all(hour in found for hour in late):
                break
        return found, answered

    def _leave_alone(self, mirror: str, until: datetime) -> None:
        reason = without_addresses(self._health[mirror].last_reason)
        self.errors.setdefault(mirror, f"left alone until {until:%H:%M:%S} UTC ({reason})")

    def _ask(self, run: datetime, mirror: Mirror) -> dict[int, Published] | None:
        """The files of a run that a mirror lists; None if it does not respond in half of the remaining time."""
        now = time.monotonic()
        try:
            with until(now + (self._until - now) / 2):
                listed = published(self._model, run, mirror, self._context.session)
        except SourceError as error:
            seen = observation_of(mirror.name, error, self._now)
            self.observations.append(seen)
            self.errors.setdefault(mirror.name, error.reason)
            self.answered |= seen.ok
            if not seen.ok:
                self._failed.add(mirror.name)  # it would be as slow for every other run
            return None
        self.observations.append(observation_of(mirror.name, None, self._now))
        self.answered = True
        return listed

    def why(self) -> str:
        """Why mirrors did not respond, without repetitions."""
        mirrors: dict[str, list[str]] = {}
        for mirror, reason in self.errors.items():
            mirrors.setdefault(reason, []).append(mirror)
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in mirrors.items())
