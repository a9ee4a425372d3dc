"""Reads the database for each scrape."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.exposition import generate_latest as plain_text
from prometheus_client.openmetrics.exposition import generate_latest as openmetrics
from prometheus_client.registry import Collector

from gribmill.pipeline.context import Context
from gribmill.queue.store import Store
from gribmill.server.metrics.families import MetricFamilies
from gribmill.server.metrics.gauges import GaugeReader
from gribmill.server.metrics.tail import CounterTail

# Metrics of jobs without the label `tenant`: their values are of all tenants.
OF_ALL_TENANTS = frozenset({"gribmill_oldest_ready_seconds"})


class MetricsCollector:
    """Counts from its creation at server start-up. Concurrent scrapes wait for each other."""

    def __init__(self, store: Store, weather: Context, families: MetricFamilies) -> None:
        self._families = families
        self._tail = CounterTail(store, families)
        self._gauges = GaugeReader(store, weather, families)
        self._lock = threading.Lock()

    def scrape(self, tenant_id: str | None = None, *, as_openmetrics: bool = False) -> bytes:
        """All current metrics as text; for a tenant, only its own jobs."""
        with self._lock:
            began = time.perf_counter()
            self._tail.advance()
            self._gauges.read()
            self._families.scrape.set(time.perf_counter() - began)
            shown = self._families.registry if tenant_id is None else _OneTenant(self._families.registry, tenant_id)
            return (openmetrics if as_openmetrics else plain_text)(shown)


class _OneTenant(Collector):
    """The metrics without those of other tenants' jobs."""

    def __init__(self, registry: CollectorRegistry, tenant_id: str) -> None:
        self._registry = registry
        self._tenant_id = tenant_id

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            if family.name in OF_ALL_TENANTS:
                continue
            own = [one for one in family.samples if one.labels.get("tenant", self._tenant_id) == self._tenant_id]
            family.samples = own
            yield family
