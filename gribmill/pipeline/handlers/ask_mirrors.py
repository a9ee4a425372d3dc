"""Asks a model's mirrors what they have of a run, within the time of one scan."""

from __future__ import annotations

import time
from datetime import datetime

from gribmill.ingest.http.deadline import until
from gribmill.ingest.http.errors import SourceError
from gribmill.ingest.listing.available_hours import Published, published
from gribmill.ingest.mirrors.circuit_breaker import Observation, observation_of, order_mirrors
from gribmill.ingest.mirrors.mirror import Mirror
from gribmill.ingest.models.model import Model
from gribmill.pipeline.context import Context

# For all questions together: what was seen has to be recorded before the job is stopped.
ASKING_SECONDS = 200.0


class MirrorQuestions:
    """All questions of one scan. A mirror that fails one is not asked again."""

    def __init__(self, context: Context, model: Model, now: datetime) -> None:
        self._context = context
        self._model = model
        self._now = now
        self._health = context.catalogue.mirrors()
        self._until = time.monotonic() + ASKING_SECONDS
        self._failed: set[str] = set()
        self.observations: list[Observation] = []
        self.errors: dict[str, str] = {}
        """Mirror to why it did not answer."""

    def published(self, run: datetime) -> tuple[dict[int, Published], bool]:
        """The hours of a run that are out, and whether any mirror answered: a silent one may have more.

        The best mirror is asked, and further ones only for hours that are late, or when one is out of order.
        """
        found: dict[int, Published] = {}
        answered = False
        urls = self._model.urls(run, self._model.hours(run)[0])
        for source in order_mirrors(urls, self._health, self._now):
            if not self._may_ask(source.mirror.name):
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

    def _may_ask(self, mirror: str) -> bool:
        health = self._health.get(mirror)
        if health is not None and health.state(self._now) == "open":
            self.errors.setdefault(mirror, f"{mirror} is left alone for a while ({health.last_reason})")
            return False
        return mirror not in self._failed

    def _ask(self, run: datetime, mirror: Mirror) -> dict[int, Published] | None:
        """What a mirror lists of the run; None when it does not answer in half of the time that is left."""
        now = time.monotonic()
        try:
            with until(now + (self._until - now) / 2):
                listed = published(self._model, run, mirror, self._context.session)
        except SourceError as error:
            seen = observation_of(mirror.name, error, self._now)
            self.observations.append(seen)
            self.errors.setdefault(mirror.name, str(error))
            if not seen.ok:
                self._failed.add(mirror.name)  # it would take as long for each further run of this scan
            return None
        self.observations.append(observation_of(mirror.name, None, self._now))
        return listed
