"""`gribmill work --server`: a worker belongs to the token with which it registered."""

from __future__ import annotations

from typing import Any

import httpx

from gribmill.catalogue.reads import Catalogue
from gribmill.pipeline.context import Context
from gribmill.pipeline.open_queue import remote_database
from gribmill.pipeline.status.health import health_of
from gribmill.queue.model import NewJob
from tests.server.live_server import LiveServer

PATH = "/api/v1/worker"
CLAIM = {"types": ["sleep"], "lease_seconds": 60}
DONE = {"kind": "succeeded"}


def post(client: httpx.Client, what: str, **message: Any) -> dict[str, Any]:
    answer = client.post(f"{PATH}/{what}", json={"worker_id": "host-1-ab", **message})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def beat(client: httpx.Client, state: str = "active") -> dict[str, Any]:
    about = {"types": ["sleep"], "hostname": "host", "version": "1", "metadata": {}}
    return post(client, "heartbeat", lease_seconds=60, state=state, **about)


def cancellations(client: httpx.Client) -> list[list[int]]:
    asked = {"statement": "leases/cancellations", "params": {"worker_id": "host-1-ab"}}
    rows: list[list[int]] = client.post(f"{PATH}/read", json=asked).json()["rows"]
    return rows


def test_token_cannot_act_for_the_worker_of_another(server: LiveServer, worker: httpx.Client) -> None:
    job_id = server.store.jobs.enqueue(NewJob("sleep", {"seconds": 0})).id
    beat(worker)
    ((job,),) = post(worker, "exchange", claims=[CLAIM])["batches"]
    ref = {"job_id": job_id, "attempt_no": job["attempt_no"]}
    (owner,) = server.store.workers.list()
    with server.client(server.token("worker")) as thief:
        assert cancellations(thief) == []
        assert beat(thief, "stopped")["held"] == []
        stolen = post(thief, "exchange", reports=[{**ref, "outcome": DONE}])
        assert (stolen["accepted"], stolen["fenced"]) == ([], [ref])
    states = {one.id: one.state for one in server.store.workers.list()}
    assert states[owner.id] == "active", "the other token stopped a worker of its own"
    assert server.store.jobs.get(job_id).status == "processing"
    assert beat(worker)["held"] == [ref]
    server.store.jobs.cancel(job_id, "enough")
    assert cancellations(worker) == [[job_id, job["attempt_no"]]]
    server.store.workers.drain(owner.id)
    assert beat(worker)["draining"] is True
    assert post(worker, "exchange", reports=[{**ref, "outcome": DONE}])["accepted"] == [ref]
    assert server.store.jobs.get(job_id).status == "completed"


def test_unknown_worker_id_is_refused(worker: httpx.Client) -> None:
    for wrong in ("", "a/b", "a\x00b", "x" * 201):
        answer = worker.post(f"{PATH}/exchange", json={"worker_id": wrong})
        assert answer.status_code == 422, wrong


def test_remote_scan_can_find_why_a_region_is_late(server: LiveServer) -> None:
    """A scan asks for the health of the queue while a region is late. With one read refused, each would fail."""
    database = remote_database(server.url, server.token("worker"), 60)
    context = Context(server.settings, {}, {}, Catalogue(database))
    assert [one.kind for one in health_of(context, []).problems if one.serious] == ["no models", "no worker"]
