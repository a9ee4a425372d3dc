"""The queue's counters and gauges reflect the database, whichever process changed it."""

from __future__ import annotations

import time

from gribmill.queue.model import (
    Claimed,
    ClaimRequest,
    Failed,
    NewJob,
    NewTenant,
    PublishedEvent,
    Report,
    Succeeded,
    Transfer,
)
from gribmill.queue.store import Store
from gribmill.server.metrics.families import MetricFamilies
from gribmill.server.metrics.tail import CounterTail
from tests.server.live_server import LiveServer, StartServer
from tests.server.metrics.scraping import Scraped

SLEEP = {"tenant": "global", "type": "sleep"}


def scrape(server: LiveServer) -> Scraped:
    with server.client() as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200
    return Scraped(answer.text)


def take(store: Store, worker: str = "w1", lease: float = 60.0) -> Claimed:
    (job,) = store.claim(ClaimRequest(worker, ("sleep",), lease))
    return job


def end(store: Store, outcome: Succeeded | Failed, worker: str = "w1") -> None:
    job = take(store, worker)
    assert store.exchange(worker, [Report(job.ref, outcome)]).accepted


def test_jobs_are_counted_by_tenant_type_and_status(live_server: LiveServer) -> None:
    store = live_server.store
    store.tenants.add(NewTenant("acme"))
    store.jobs.enqueue_many([NewJob("sleep", {})] * 2)
    store.jobs.enqueue_many([NewJob("sleep", {}, tenant_id="acme", delay_seconds=60)] * 3)
    end(store, Succeeded())
    seen = scrape(live_server)
    assert seen.total("gribmill_jobs", **SLEEP, status="completed") == 1
    assert seen.total("gribmill_jobs", **SLEEP, status="pending") == 1
    assert seen.total("gribmill_jobs", tenant="acme", status="pending") == 3
    assert seen.total("gribmill_jobs_enqueued_total", tenant="acme") == 3
    assert seen.total("gribmill_jobs_ended_total", **SLEEP, status="completed") == 1
    assert seen.total("gribmill_oldest_ready_seconds", type="sleep") > 0


def test_everything_is_counted_once_however_often_it_is_scraped(live_server: LiveServer) -> None:
    store = live_server.store
    for number in range(1, 4):
        store.jobs.enqueue(NewJob("sleep", {}))
        end(store, Succeeded())
        for _ in range(2):
            seen = scrape(live_server)
            assert seen.total("gribmill_jobs_enqueued_total", **SLEEP) == number
            assert seen.total("gribmill_jobs_ended_total", **SLEEP) == number
            assert seen.total("gribmill_job_wait_seconds_count", **SLEEP) == number
            assert seen.total("gribmill_attempt_run_seconds_count", **SLEEP) == number


def test_every_server_of_a_database_has_the_same_numbers(start_server: StartServer) -> None:
    first, second = start_server(), start_server()
    store = first.store
    for _ in range(3):
        store.jobs.enqueue(NewJob("sleep", {}))
    end(store, Succeeded())
    for server in (first, second, first):
        seen = scrape(server)
        assert seen.total("gribmill_jobs", **SLEEP, status="pending") == 2
        assert seen.total("gribmill_jobs_enqueued_total", **SLEEP) == 3
        assert seen.total("gribmill_job_wait_seconds_count", **SLEEP) == 1


def test_jobs_that_ended_before_the_server_started_are_not_counted(live_server: LiveServer) -> None:
    """A counter that included old jobs would look like a burst of new ones after each restart."""
    store = live_server.store
    store.jobs.enqueue(NewJob("sleep", {}))
    end(store, Succeeded())
    families = MetricFamilies()
    tail = CounterTail(store, families)
    store.jobs.enqueue(NewJob("sleep", {}))
    tail.advance()
    assert families.registry.get_sample_value("gribmill_jobs_enqueued_total", SLEEP) == 1
    assert families.registry.get_sample_value("gribmill_jobs_ended_total", {**SLEEP, "status": "completed"}) is None


def test_retries_and_dead_letters_are_counted_separately(live_server: LiveServer) -> None:
    store = live_server.store
    store.definitions.edit("sleep", {"backoff_base_s": 0.01, "backoff_cap_s": 0.01})
    store.jobs.enqueue(NewJob("sleep", {}, max_attempts=2))
    end(store, Failed("no", transfer=Transfer(7, 0)))
    waiting = scrape(live_server)
    assert waiting.total("gribmill_jobs_retrying", **SLEEP) == 1
    time.sleep(0.1)
    end(store, Failed("no"))
    seen = scrape(live_server)
    assert seen.total("gribmill_job_retries_total", **SLEEP) == 1
    assert seen.total("gribmill_jobs_dead_lettered_total", **SLEEP) == 1
    assert seen.total("gribmill_jobs_ended_total", **SLEEP, status="failed") == 1
    assert seen.total("gribmill_download_bytes_total", result="failed") == 7
    assert seen.total("gribmill_jobs_retrying", **SLEEP) == 0


def test_a_lost_lease_is_counted(live_server: LiveServer) -> None:
    store = live_server.store
    store.jobs.enqueue(NewJob("sleep", {}))
    take(store, lease=0.01)
    time.sleep(0.1)
    assert store.maintenance.recover().requeued == (1,)
    assert scrape(live_server).total("gribmill_lease_losses_total", **SLEEP) == 1


def test_events_from_outside_change_no_metric(live_server: LiveServer) -> None:
    """Otherwise whoever reports or writes events could create unlimited labels."""
    payloads = {
        "hour.ingested": {"mirror": "made up", "bytes": 5},
        "hour.cut": {"model_id": "made up", "decode_seconds": 5},
    }
    with live_server.store.database.write() as tx:
        for name, payload in payloads.items():
            row = {"name": name, "tenant_id": "global", "payload": payload, "event_key": None}
            tx.query(PublishedEvent, "events/insert_emitted", row)
    seen = scrape(live_server)
    assert "made up" not in seen.text
