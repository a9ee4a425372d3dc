"""Who may read /metrics, in which formats, and how it reports requests."""

from __future__ import annotations

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from gribmill.pipeline.context import make_context
from gribmill.queue.model import NewJob, NewTenant
from gribmill.server.metrics.collector import MetricsCollector
from gribmill.server.metrics.families import MetricFamilies
from tests.server.live_server import LiveServer
from tests.server.metrics.scraping import Scraped


def test_other_machines_need_a_token(live_server: LiveServer) -> None:
    with live_server.client() as client:
        assert client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 401
        assert client.get("/metrics").status_code == 200


def test_a_tenant_sees_no_jobs_of_others(live_server: LiveServer) -> None:
    store = live_server.store
    store.tenants.add(NewTenant("acme"))
    collector = MetricsCollector(store, make_context(live_server.settings), MetricFamilies())
    store.jobs.enqueue(NewJob("sleep", {}))
    store.jobs.enqueue(NewJob("sleep", {}, tenant_id="acme"))
    both, one = Scraped(collector.scrape().decode()), Scraped(collector.scrape("acme").decode())
    assert both.values("gribmill_jobs", "tenant") == {"global", "acme"}
    assert one.values("gribmill_jobs", "tenant") == one.values("gribmill_jobs_enqueued_total", "tenant") == {"acme"}
    assert one.total("gribmill_disk_free_bytes") > 0
    assert both.values("gribmill_oldest_ready_seconds", "type") == {"sleep"}
    assert "gribmill_oldest_ready_seconds" not in one.text, "it is about the jobs of all tenants"


def test_openmetrics_is_sent_on_request(live_server: LiveServer) -> None:
    with live_server.client() as client:
        answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert "gribmill_jobs" in {family.name for family in text_string_to_metric_families(answer.text)}  # type: ignore[no-untyped-call]


def test_requests_are_timed_by_route_and_not_by_address(live_server: LiveServer) -> None:
    with live_server.client() as client:
        for path in ("/healthz", "/made-up-1", "/made-up-2", "/healthz"):
            client.get(path)
        client.request("BREW", "/healthz")
        seen = Scraped(client.get("/metrics").text)
    count = "gribmill_http_request_seconds_count"
    assert seen.total(count, route="/healthz", method="GET", status="200") == 2
    assert seen.total(count, status="404") == 2
    assert "made-up" not in seen.text and "BREW" not in seen.text
