"""Metrics of freshness, tiles and downloads, from the catalogue."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from gribmill.catalogue.events import TilesCut
from gribmill.identity import HourRef, run_id
from gribmill.pipeline.context import make_context
from gribmill.pipeline.effects import effects_of
from gribmill.pipeline.job_types import tile_jobs
from gribmill.queue.model import ClaimRequest, Report, Succeeded, Transfer
from gribmill.queue.store import Store
from gribmill.server.metrics.collector import MetricsCollector
from gribmill.server.metrics.families import MetricFamilies
from gribmill.settings.schema import ChainSettings
from tests.pipeline.conftest import Scribe, ingested
from tests.server.live_server import LiveServer
from tests.server.metrics.scraping import Scraped

TILE = {"model": "hrrr", "region": "ne"}


def collector_of(server: LiveServer) -> tuple[MetricsCollector, Scribe]:
    chain = ChainSettings(models=("hrrr",), regions=("ne",))
    context = make_context(server.settings.model_copy(update={"chain": chain}))
    return MetricsCollector(server.store, context, MetricFamilies()), Scribe(context.catalogue, context.root)


def test_freshness_is_the_age_of_the_newest_complete_run(live_server: LiveServer) -> None:
    collector, scribe = collector_of(live_server)
    start = (datetime.now(UTC) - timedelta(hours=3)).replace(minute=0, second=0, microsecond=0)
    complete, newer = run_id(start), run_id(start + timedelta(hours=1))
    for run in (complete, newer):
        scribe.run(run, [0])
        scribe.hour(run, 0, ["ne"])
    scribe.tile(complete, 0, "ne")
    latest = scribe.root.path / "tiles" / "hrrr" / "latest.json"
    runs = {"ne": {"newest": newer, "complete": complete}}
    latest.write_text(json.dumps({"model": "hrrr", "regions": runs}))
    before = datetime.now(UTC)
    seen = Scraped(collector.scrape().decode())
    after = datetime.now(UTC)
    age = seen.total("gribmill_freshness_seconds", **TILE)
    assert (before - start).total_seconds() <= age <= (after - start).total_seconds()
    assert seen.total("gribmill_freshness_state", **TILE) == 1
    assert seen.values("gribmill_freshness_state", "state") == {"ok", "late", "stale"}
    assert seen.total("gribmill_tiles", **TILE) == 1
    assert seen.total("gribmill_tiles_bytes", **TILE) == 10


def test_a_region_without_a_complete_run_has_a_state_and_no_age(live_server: LiveServer) -> None:
    """An age of 0 would look like the freshest of all."""
    collector, _ = collector_of(live_server)
    seen = Scraped(collector.scrape().decode())
    assert "gribmill_freshness_seconds{" not in seen.text
    assert seen.total("gribmill_freshness_state", **TILE) == 1


def finish(store: Store, outcome: Succeeded) -> None:
    (job,) = store.claim(ClaimRequest("w1", ("build_tile",), 60.0))
    assert store.exchange("w1", [Report(job.ref, outcome)]).accepted


def test_tiles_downloads_and_times_are_counted_with_the_jobs_that_report_them(live_server: LiveServer) -> None:
    collector, scribe = collector_of(live_server)
    store, hour = live_server.store, HourRef("hrrr", "20261101_12", 3)
    scribe.run(hour.run_id, [3])
    store.jobs.enqueue_many(tile_jobs(hour, ["ne"], live=True))
    events = [ingested(hour, bytes=500, regions=("ne",)), TilesCut(hour, ("ne",), 80, 0.25, 1.5)]
    finish(store, Succeeded(also=effects_of(events), transfer=Transfer(written=80)))
    for _ in range(2):
        seen = Scraped(collector.scrape().decode())
        assert seen.total("gribmill_tiles_built_total", **TILE) == 1
        assert seen.total("gribmill_tile_built_bytes_total", **TILE) == 80
        assert seen.total("gribmill_download_bytes_total", mirror="aws-hrrr", result="stored") == 500
        assert seen.total("gribmill_decode_seconds_sum", model="hrrr") == 0.25
        assert seen.total("gribmill_encode_seconds_sum", model="hrrr") == 1.5
