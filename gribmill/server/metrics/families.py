"""All metrics: names, labels, units and help."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from gribmill.version import __version__

JOB = ("tenant", "type")
TILE = ("model", "region")
WAIT_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 43_200)
RUN_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1800)
CUT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
HTTP_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class MetricFamilies:
    """The metrics by name. Counters begin at 0 when the server starts, and count what all workers do."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._add_queue()
        self._add_chain()
        self._add_host()
        self.info.labels(__version__).set(1)

    def _add_queue(self) -> None:
        self.jobs = self._gauge("jobs", "Jobs by status.", (*JOB, "status"))
        self.retrying = self._gauge("jobs_retrying", "Jobs that wait for another attempt after a failed one.", JOB)
        self.oldest = self._gauge("oldest_ready_seconds", "Age of the oldest job that could run now.", ("type",))
        self.enqueued = self._counter("jobs_enqueued", "Jobs enqueued.", JOB)
        self.ended = self._counter("jobs_ended", "Jobs completed, failed or cancelled.", (*JOB, "status"))
        self.dead_letters = self._counter("jobs_dead_lettered", "Jobs that used up their attempts.", JOB)
        self.retries = self._counter(
            "job_retries", "Failed, timed out and lost attempts that were followed by another; counted at the end.", JOB
        )
        self.losses = self._counter("lease_losses", "Attempts whose lease expired before they ended.", JOB)
        self.wait = self._histogram("job_wait_seconds", "From when a job could run to its start.", JOB, WAIT_BUCKETS)
        self.run = self._histogram("attempt_run_seconds", "Duration of attempts.", JOB, RUN_BUCKETS)
        self.workers = self._gauge("workers", "Workers that sent a heartbeat within the lease.", ("state",))

    def _add_chain(self) -> None:
        self.downloaded = self._counter(
            "download_bytes", "Bytes downloaded: stored, by mirror, and discarded.", ("mirror", "result")
        )
        self.decode = self._histogram("decode_seconds", "Decoding the fields of an hour.", ("model",), CUT_BUCKETS)
        self.encode = self._histogram(
            "encode_seconds", "Cutting, compressing and writing the tiles of an hour.", ("model",), CUT_BUCKETS
        )
        self.built = self._counter("tiles_built", "Tiles built.", TILE)
        self.built_bytes = self._counter("tile_built_bytes", "Bytes of the tiles built.", TILE)
        self.tiles = self._gauge("tiles", "Tiles in the catalogue.", TILE)
        self.tile_bytes = self._gauge("tiles_bytes", "Bytes of the tiles in the catalogue.", TILE)
        self.freshness = self._gauge(
            "freshness_seconds", "Time since the start of the newest complete run of a followed model.", TILE
        )
        self.freshness_state = self._gauge(
            "freshness_state", "1 for the state of a region, 0 for the others: ok, late, stale.", (*TILE, "state")
        )

    def _add_host(self) -> None:
        self.disk_free = self._gauge("disk_free_bytes", "Free space of the data root on this host.")
        self.database_bytes = self._gauge("database_bytes", "Size of the database.")
        self.wal_bytes = self._gauge("database_wal_bytes", "SQLite: size of the write-ahead log.")
        self.dead_rows = self._gauge("database_dead_rows", "PostgreSQL: rows to vacuum.", ("table",))
        self.http = self._histogram(
            "http_request_seconds", "Time to answer, by route.", ("method", "route", "status"), HTTP_BUCKETS
        )
        self.scrape = self._gauge("scrape_seconds", "Time that reading the database for these metrics took.")
        self.info = self._gauge("info", "1, with the version of gribmill.", ("version",))

    def _gauge(self, name: str, words: str, labels: tuple[str, ...] = ()) -> Gauge:
        return Gauge(f"gribmill_{name}", words, labels, registry=self.registry)

    def _counter(self, name: str, words: str, labels: tuple[str, ...] = ()) -> Counter:
        return Counter(f"gribmill_{name}", words, labels, registry=self.registry)

    def _histogram(self, name: str, words: str, labels: tuple[str, ...], buckets: tuple[float, ...]) -> Histogram:
        return Histogram(f"gribmill_{name}", words, labels, buckets=buckets, registry=self.registry)
