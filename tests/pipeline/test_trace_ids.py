"""Ids of traces are computed from jobs: the same on every host, one for each file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gribmill.pipeline.open_queue import open_queue
from gribmill.pipeline.tracing.spans import attempt_span, download_span, root_job, scan_span, trace_id
from gribmill.queue.model import Job, NewJob
from gribmill.queue.store import Store
from gribmill.settings.load import load_settings
from gribmill.settings.schema import Settings

HOUR: dict[str, Any] = {"model_id": "hrrr", "run_id": "20261118_06", "hour": 3}
HEX = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_queue(Settings(data=tmp_path))


def job(store: Store, kind: str = "ingest_grib", correlation: str | None = "job-1", **args: Any) -> Job:
    return store.jobs.get(store.jobs.enqueue(NewJob(kind, args, correlation_id=correlation)).id)


def test_all_jobs_of_a_file_share_a_trace_and_other_files_have_others(store: Store) -> None:
    download = job(store, **HOUR)
    tile = job(store, "build_tile", **HOUR, region="ne")
    other = job(store, **(HOUR | {"hour": 4}))
    later = job(store, "build_tile", "job-2", **HOUR, region="texas")
    assert trace_id(download) == trace_id(tile)
    assert len({trace_id(one) for one in (download, other, later)}) == 3
    assert 0 < trace_id(download) < 2**128


@pytest.mark.parametrize(
    ("correlation", "same"), [(HEX, True), (HEX.upper(), False), ("0" * 32, False), (HEX[:-1], False), ("x", False)]
)
def test_a_correlation_id_with_the_form_of_a_trace_id_is_the_trace_id(
    store: Store, correlation: str, same: bool
) -> None:
    assert (f"{trace_id(job(store, 'sleep', correlation)):032x}" == correlation) is same


def test_spans_of_a_trace_have_different_ids() -> None:
    ids = {attempt_span(5, 1, 1), attempt_span(5, 1, 2), attempt_span(5, 2, 1), attempt_span(6, 1, 1), scan_span(5)}
    assert len({*ids, download_span(5)}) == 6
    assert all(0 < one < 2**64 for one in ids)


def test_the_job_that_began_a_chain_is_found_in_its_correlation_id(store: Store) -> None:
    assert root_job(job(store, "sleep", "job-77")) == 77
    assert root_job(job(store, "sleep", "job-2")) is None, "itself"
    assert root_job(job(store, "sleep", "job-077")) is None
    assert root_job(job(store, "sleep", "job-" + "9" * 30)) is None


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ("127.0.0.1:4318", "must be an address such as"),
        ("ftp://x/v1/traces", "must be an address such as"),
        ("http://user:secret@x/v1/traces", "must not contain a user name or password"),
    ],
)
def test_an_invalid_endpoint_is_refused(tmp_path: Path, endpoint: str, words: str) -> None:
    file = tmp_path / "gribmill.toml"
    file.write_text(f'[trace]\nendpoint = "{endpoint}"\n')
    with pytest.raises(Exception, match=words) as refused:
        load_settings(file)
    assert "trace.endpoint" in str(refused.value)
