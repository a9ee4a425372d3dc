"""Workers over HTTP: claim, heartbeat, complete, fail, and the fencing of each report."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from gribmill.queue.errors import StoreBusy
from gribmill.queue.model import Claimed, ClaimRequest, NewJob
from gribmill.queue.store.exchange import Exchanges
from tests.server.live_server import LiveServer

PATH = "/api/v1/worker/jobs"


def enqueue(server: LiveServer, count: int = 1, **options: Any) -> list[int]:
    return [server.store.jobs.enqueue(NewJob("sleep", {"seconds": 0}, **options)).id for _ in range(count)]


def claim(client: httpx.Client, name: str = "w", **more: Any) -> list[dict[str, Any]]:
    answer = client.post(f"{PATH}/claim", json={"worker_id": name, "types": ["sleep"], **more})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["jobs"]
    return found


def report(client: httpx.Client, job: dict[str, Any], how: str, name: str = "w", **more: Any) -> httpx.Response:
    body = {"worker_id": name, "attempt_no": job["attempt_no"], **more}
    return client.post(f"{PATH}/{job['id']}/{how}", json=body)


def test_a_job_is_claimed_kept_and_completed(server: LiveServer, worker: httpx.Client) -> None:
    (job_id,) = enqueue(server)
    (job,) = claim(worker)
    assert (job["id"], job["attempt_no"], job["definition_key"]) == (job_id, 1, "sleep")
    assert claim(worker) == []
    assert report(worker, job, "heartbeat").json() == {"held": True, "cancel_requested": False, "draining": False}
    assert report(worker, job, "complete", exit_code=0, stdout_tail="done").json() == {"accepted": True}
    assert server.store.jobs.get(job_id).status == "completed"
    assert report(worker, job, "complete").status_code == 409


def test_heartbeat_leaves_the_description_of_the_worker(
    server: LiveServer, worker: httpx.Client, root: httpx.Client
) -> None:
    enqueue(server)
    (job,) = claim(worker, hostname="host-b", version="1.2")
    report(worker, job, "heartbeat")
    (shown,) = root.get("/api/v1/workers").json()
    assert (shown["hostname"], shown["version"], shown["types"]) == ("host-b", "1.2", ["sleep"])


def test_worker_that_was_asked_to_drain_gets_no_more_jobs(
    server: LiveServer, worker: httpx.Client, root: httpx.Client
) -> None:
    enqueue(server, 2)
    (job,) = claim(worker)
    (shown,) = root.get("/api/v1/workers").json()
    assert root.post(f"/api/v1/workers/{shown['id']}/drain").status_code == 200
    assert report(worker, job, "heartbeat").json()["draining"] is True
    answer = worker.post(f"{PATH}/claim", json={"worker_id": "w", "types": ["sleep"]})
    assert answer.json() == {"jobs": [], "draining": True}
    assert report(worker, job, "complete").status_code == 200
    assert claim(worker, "another") != []


def test_several_jobs_are_claimed_at_once_and_no_more(server: LiveServer, worker: httpx.Client) -> None:
    ids = enqueue(server, 5)
    assert [one["id"] for one in claim(worker, batch_size=3)] == ids[:3]
    assert [one["id"] for one in claim(worker, batch_size=100)] == ids[3:]


def test_claim_that_fails_halfway_returns_what_the_worker_holds(
    server: LiveServer, worker: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = enqueue(server, 2)
    claim_one, busy = Exchanges.claim, [False]

    def fails_after_the_first(self: Exchanges, request: ClaimRequest) -> tuple[Claimed, ...]:
        if busy[0]:
            raise StoreBusy("the database is busy")
        busy[0] = True
        return claim_one(self, request)

    monkeypatch.setattr(Exchanges, "claim", fails_after_the_first)
    assert [one["id"] for one in claim(worker, batch_size=2)] == [first]
    assert worker.post(f"{PATH}/claim", json={"worker_id": "w", "types": ["sleep"]}).status_code == 503
    monkeypatch.undo()
    assert [one["id"] for one in claim(worker)] == [second]


def test_claim_whose_response_was_lost_is_repeated_with_its_key(server: LiveServer, worker: httpx.Client) -> None:
    enqueue(server, 2)
    body, key = {"worker_id": "w", "types": ["sleep"]}, {"Idempotency-Key": "claim-1"}
    first, again = (worker.post(f"{PATH}/claim", json=body, headers=key).json() for _ in range(2))
    assert first == again
    assert len(claim(worker)) == 1


def test_failed_job_is_retried_unless_the_failure_is_permanent(server: LiveServer, worker: httpx.Client) -> None:
    first, second = enqueue(server, 2)
    one, two = claim(worker, batch_size=2)
    assert report(worker, one, "fail", error="try later", retry_in=0).status_code == 200
    assert report(worker, two, "fail", error="never", permanent=True).status_code == 200
    assert (server.store.jobs.get(first).status, server.store.jobs.get(second).status) == ("pending", "failed")
    (again,) = claim(worker)
    assert (again["id"], again["attempt_no"]) == (first, 2)


@pytest.mark.parametrize("how", ["heartbeat", "complete", "fail"])
def test_a_worker_that_lost_its_job_changes_nothing(server: LiveServer, worker: httpx.Client, how: str) -> None:
    """Its attempt is lost and another one runs, so the report is fenced."""
    (job_id,) = enqueue(server, max_attempts=5)
    (stale,) = claim(worker)
    assert report(worker, stale, "fail", error="lost", retry_in=0).status_code == 200
    (fresh,) = claim(worker, "other")
    more = {"error": "late"} if how == "fail" else {}
    late = report(worker, stale, how, **more)
    assert (late.status_code, "does not hold" in late.json()["detail"]) == (409, True)
    mixed = report(worker, fresh, how, **more)
    assert mixed.status_code == 409, "the attempt is another worker's"
    assert server.store.jobs.get(job_id).attempt_no == 2
    assert report(worker, fresh, "complete", "other").status_code == 200


def test_token_cannot_report_for_the_jobs_of_another(server: LiveServer, worker: httpx.Client) -> None:
    enqueue(server)
    (job,) = claim(worker)
    with server.client(server.token("worker")) as thief:
        assert report(thief, job, "complete").status_code == 409
        assert report(thief, job, "heartbeat").status_code == 409
    assert report(worker, job, "heartbeat").status_code == 200


def test_heartbeat_reports_that_a_job_is_to_stop(server: LiveServer, worker: httpx.Client, root: httpx.Client) -> None:
    (job_id,) = enqueue(server)
    (job,) = claim(worker)
    assert root.post(f"/api/v1/jobs/{job_id}/cancel").json()["result"] == "requested"
    assert report(worker, job, "heartbeat").json()["cancel_requested"] is True


def test_a_repeated_claim_under_one_key_gets_the_same_jobs(server: LiveServer, worker: httpx.Client) -> None:
    enqueue(server, 2)
    body = {"worker_id": "w", "types": ["sleep"]}
    first, second = (worker.post(f"{PATH}/claim", json=body, headers={"Idempotency-Key": "k"}).json() for _ in range(2))
    assert first == second
    assert len(first["jobs"]) == 1


def test_unknown_types_are_refused(worker: httpx.Client) -> None:
    answer = worker.post(f"{PATH}/claim", json={"worker_id": "w", "types": ["nothing"]})
    assert answer.status_code == 422
