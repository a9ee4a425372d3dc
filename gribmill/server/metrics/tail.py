"""Counters: what has happened in the database since the last scrape, each event counted once.

Rows become visible only when their transaction commits, so each scrape starts some seconds before the last one and
skips what was already counted.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from gribmill.queue.model import PublishedEvent
from gribmill.queue.store import Store
from gribmill.queue.store.metrics import MOST_ROWS, EndedAttempt
from gribmill.server.metrics.families import MetricFamilies

# Longer than any transaction of the queue.
OVERLAP = timedelta(seconds=30)
EVENTS_AT_ONCE = 1000


class CounterTail:
    """Remembers where the last scrape ended. Not thread-safe."""

    def __init__(self, store: Store, families: MetricFamilies) -> None:
        self._store = store
        self._to = families
        now = store.metrics.now()
        newest = store.metrics.newest_job_id()
        self._ended_since = now
        self._ended: dict[int, datetime] = {}
        # The highest job id at each scrape within OVERLAP; jobs above the first of them are read again.
        self._newest: list[tuple[datetime, int]] = [(now, newest)]
        self._enqueued: set[int] = set()
        self._event_id = store.events.newest_id()

    def advance(self) -> None:
        """Count what is new."""
        now = self._store.metrics.now()
        self._count_enqueued(now)
        self._count_ended(now)
        self._count_events()

    def _count_enqueued(self, now: datetime) -> None:
        while len(self._newest) > 1 and self._newest[1][0] <= now - OVERLAP:
            self._newest.pop(0)
        base = self._newest[0][1]
        self._enqueued = {job_id for job_id in self._enqueued if job_id > base}
        jobs = self._store.metrics.enqueued_after(base)
        for job in jobs:
            if job.id not in self._enqueued:
                self._enqueued.add(job.id)
                self._to.enqueued.labels(job.tenant_id, job.type).inc()
        if jobs:
            self._newest.append((now, jobs[-1].id))

    def _count_ended(self, now: datetime) -> None:
        attempts = self._store.metrics.ended_since(self._ended_since)
        new = [one for one in attempts if self._ended.get(one.job_id) != one.completed_at]
        recent = {one.job_id: one.completed_at for one in attempts if one.completed_at > now - OVERLAP}
        self._ended = {**self._ended, **recent} if len(attempts) == MOST_ROWS else recent
        # Never before the start of the server. If one scrape cannot read all rows, the next continues at the last one.
        until = attempts[-1].completed_at if len(attempts) == MOST_ROWS else now
        self._ended_since = max(self._ended_since, until - OVERLAP)
        last = {one.job_id: one for one in new}
        for job in last.values():
            self._count_job(job)
        for one in new:
            if one.attempt_no is not None:
                self._count_attempt(one)

    def _count_job(self, job: EndedAttempt) -> None:
        self._to.ended.labels(job.tenant_id, job.type, job.status).inc()
        if job.dead_lettered:
            self._to.dead_letters.labels(job.tenant_id, job.type).inc()

    def _count_attempt(self, one: EndedAttempt) -> None:
        labels = (one.tenant_id, one.type)
        if one.attempt_no == 1 and one.wait_seconds is not None:
            self._to.wait.labels(*labels).observe(one.wait_seconds)
        if one.run_seconds is not None:
            self._to.run.labels(*labels).observe(one.run_seconds)
        if one.retried:
            self._to.retries.labels(*labels).inc()
        if one.downloaded_bytes and one.attempt_status != "succeeded":
            self._to.downloaded.labels("", str(one.attempt_status)).inc(one.downloaded_bytes)
        if one.type == "build_tile" and one.attempt_status == "succeeded" and one.written_bytes:
            args = _object(one.args)
            tile = (str(args.get("model_id")), str(args.get("region")))
            self._to.built.labels(*tile).inc()
            self._to.built_bytes.labels(*tile).inc(one.written_bytes)

    def _count_events(self) -> None:
        while True:
            events = self._store.events.after(self._event_id, limit=EVENTS_AT_ONCE)
            for event in events:
                self._count_event(event)
                self._event_id = event.id
            if len(events) < EVENTS_AT_ONCE:
                return

    def _count_event(self, event: PublishedEvent) -> None:
        facts = event.values
        if event.job_id is None:  # reported by a client, with any name and payload
            return
        if event.name == "hour.ingested":
            self._to.downloaded.labels(str(facts.get("mirror")), "stored").inc(_number(facts.get("bytes")))
        elif event.name == "hour.cut":
            self._to.decode.labels(str(facts.get("model_id"))).observe(_number(facts.get("decode_seconds")))
            self._to.encode.labels(str(facts.get("model_id"))).observe(_number(facts.get("encode_seconds")))
        elif event.name == "job.recovered":
            self._to.losses.labels(event.tenant_id, str(facts.get("type"))).inc()


def _object(value: Any) -> dict[str, Any]:
    found = json.loads(value) if isinstance(value, str) else value
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and value >= 0 else 0.0
