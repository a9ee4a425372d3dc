"""One trace per file, from the scan that found it to its tiles, as a collector receives it from real workers."""

from __future__ import annotations

import socket
from collections import defaultdict

import pytest

from gribmill.pipeline.job_types import scan_job
from gribmill.queue.model import NewJob
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain

pytest.importorskip("opentelemetry.sdk", reason="OpenTelemetry is not installed: no traces are sent")
from tests.servers.otlp_receiver import OtlpReceiver, ReceivedSpan

pytestmark = pytest.mark.process

CORRELATION = "0af7651916cd43dd8448eb211c80319c"


def traced(new_chain: NewChain, endpoint: str) -> ChainDriver:
    return new_chain(changes={"trace": {"endpoint": endpoint}})


def by_trace(spans: list[ReceivedSpan]) -> dict[str, list[ReceivedSpan]]:
    found: dict[str, list[ReceivedSpan]] = defaultdict(list)
    for span in spans:
        found[span.trace_id].append(span)
    return found


def test_each_file_has_one_trace_from_its_scan_to_its_tiles(new_chain: NewChain) -> None:
    with OtlpReceiver() as receiver:
        chain = traced(new_chain, receiver.endpoint)
        chain.publish("hrrr")
        chain.store.jobs.enqueue(scan_job("hrrr"))
        assert chain.finish("work", "--drain").returncode == 0
        assert chain.complete("hrrr")
    files = {
        trace: spans
        for trace, spans in by_trace(receiver.spans).items()
        if any(one.name == "ingest_grib" for one in spans)
    }
    assert len(files) == 3, "hours 0 to 2"
    for spans in files.values():
        assert sorted({one.name for one in spans}) == ["build_tile", "ingest_grib", "publish", "scan_source"]
        (scan,) = (one for one in spans if one.name == "scan_source")
        (download,) = (one for one in spans if one.name == "ingest_grib")
        tiles = [one for one in spans if one.name == "build_tile"]
        assert (scan.parent_id, download.parent_id) == ("", scan.span_id)
        assert {one.parent_id for one in tiles} == {download.span_id}
        assert {one.attributes["gribmill.region"] for one in tiles} == {"ne", "texas"}
        assert len({one.attributes.get("gribmill.hour") for one in (download, *tiles)}) == 1
        assert scan.end_ns <= download.start_ns <= download.end_ns <= min(one.start_ns for one in tiles)
        assert download.attributes["gribmill.downloaded_bytes"] > 0
        assert any(one.attributes.get("gribmill.encode_seconds", 0) > 0 for one in tiles)
        assert len({one.span_id for one in spans}) == len(spans)


def test_spans_name_the_job_the_attempt_the_worker_and_the_tenant(new_chain: NewChain) -> None:
    with OtlpReceiver() as receiver:
        chain = traced(new_chain, receiver.endpoint)
        job = chain.store.jobs.enqueue(NewJob("sleep", {"fail": "always"}, max_attempts=1, correlation_id=CORRELATION))
        chain.finish("work", "--drain")
    (span,) = receiver.spans
    assert span.trace_id == CORRELATION, "a correlation id with the form of a trace id is one"
    assert span.error
    facts = span.attributes
    assert (facts["gribmill.job_id"], facts["gribmill.attempt_no"]) == (job.id, 1)
    assert (facts["gribmill.type"], facts["gribmill.tenant_id"]) == ("sleep", "global")
    assert facts["gribmill.worker_id"] == span.resource["service.instance.id"]
    assert span.resource["service.name"] == "gribmill"


@pytest.mark.parametrize("status", [None, 503])
def test_a_collector_that_fails_costs_no_job(new_chain: NewChain, status: int | None) -> None:
    with OtlpReceiver(status or 200) as receiver, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}/v1/traces"
        chain = traced(new_chain, receiver.endpoint if status else nobody)
        ids = [chain.store.jobs.enqueue(NewJob("sleep", {})).id for _ in range(5)]
        assert chain.finish("work", "--drain").returncode == 0
    assert {chain.store.jobs.get(job_id).status for job_id in ids} == {"completed"}


def test_sampling_ratio_of_zero_sends_nothing(new_chain: NewChain) -> None:
    with OtlpReceiver() as receiver:
        chain = new_chain(changes={"trace": {"endpoint": receiver.endpoint, "share": 0.0}})
        chain.store.jobs.enqueue(NewJob("sleep", {}))
        assert chain.finish("work", "--drain").returncode == 0
        assert receiver.requests == 0
