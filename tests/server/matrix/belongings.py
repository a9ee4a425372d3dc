"""Objects of a tenant: one new object of each kind, and a snapshot of everything that a request could change."""

from __future__ import annotations

from itertools import count
from typing import Any

import httpx

from gribmill.access.tokens import Tokens
from gribmill.pipeline.open_queue import output_logs
from gribmill.queue.model import NewEvent, NewJob, NewTemplate, NewTrigger
from gribmill.queue.worker.in_process import Ticker
from tests.server.live_server import LiveServer

KINDS = (
    "job", "ended_job", "logged_job", "trigger", "group", "template", "webhook", "event", "token", "bulk",
)  # fmt: skip
_numbers = count(1)


class Belongings:
    """Creates objects of one tenant whose texts contain the tenant's name."""

    def __init__(self, server: LiveServer, root: httpx.Client, tenant: str) -> None:
        self._server = server
        self._root = root
        self.tenant = tenant
        self._store = server.store.for_tenant(tenant)
        self._tokens = Tokens(server.store.database)

    def make(self, kind: str) -> object:
        """Create one; returns its id."""
        found: object = getattr(self, f"_{kind}")()
        return found

    def picture(self) -> list[object]:
        """A snapshot of everything of the tenant, to compare before and after."""
        jobs = self._store.jobs.list().jobs
        return [
            [(one.id, one.status, one.priority, one.position, one.next_run_at) for one in jobs],
            self._store.triggers.list(),
            self._store.groups.list(),
            self._store.templates.list(),
            self._store.webhooks.list(),
            self._store.tenant(),
            [(one.id, one.secret_hash, one.revoked_at) for one in self._tokens.list(self.tenant)],
        ]

    def _text(self) -> str:
        return f"{self.tenant}-{next(_numbers)}"

    def _job(self, **more: Any) -> int:
        return self._store.jobs.enqueue(NewJob("sleep", {"seconds": 0, "say": self._text()}, **more)).id

    def _ended_job(self) -> int:
        job_id = self._job()
        self._store.jobs.cancel(job_id)
        return job_id

    def _logged_job(self) -> int:
        """A job that has run and has a log."""
        job_id = self._job(priority=max(self._server.store.tenants.priorities))
        settings = self._server.settings
        values = settings.model_dump(mode="json")
        Ticker(self._server.store, 60.0, values, logs=output_logs(settings)).tick(1, ("sleep",))
        return job_id

    def _trigger(self) -> int:
        return self._store.triggers.add(NewTrigger(self._text(), "sleep", {"seconds": 0}, event="folder.changed")).id

    def _group(self) -> int:
        group = self._store.groups.open(self._text())
        self._store.groups.add(group.id, [NewJob("sleep", {"seconds": 0})])
        return group.id

    def _template(self) -> str:
        return self._store.templates.add(NewTemplate(self._text(), "sleep", {"seconds": 0})).name

    def _webhook(self) -> int:
        return self._store.webhooks.add(f"https://{self._text()}.example/hook", ["run.*"]).id

    def _event(self) -> int:
        with self._server.store.database.write() as tx:
            tx.publish(NewEvent("run.completed", {"of": self._text()}, self.tenant))
        return self._store.events.list(limit=1)[0].id

    def _token(self) -> str:
        return self._tokens.create(self._text(), "tenant_viewer", tenant_id=self.tenant).token.id

    def _tenant_name(self) -> str:
        return self.tenant

    def _bulk(self) -> str:
        body = {"action": "cancel", "filter": {"status": "queued", "correlation_id": "none"}}
        answer = self._root.post("/api/v1/jobs/bulk", json=body, params={"tenant_id": self.tenant})
        return str(answer.json()["id"])
