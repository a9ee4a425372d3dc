"""All settings: type, default, and the description that `gribmill init` writes beside each."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from gribmill.available_cores import available_cores
from gribmill.checked.constraints import After, Before, Bounds, Length, Matches, field
from gribmill.config_file import SettingsError, check_path, default_data_root, expand_user
from gribmill.database_url import check_database_url
from gribmill.errors import GribmillError
from gribmill.regions.tile_options import Encoding, Method
from gribmill.settings.settings_table import SettingsTable, settings_table
from gribmill.settings.variable_table import VariableSettings
from gribmill.storage.bucket import StoreOptions, check_endpoint
from gribmill.storage.object_path import object_path

# A century, and more than any machine has. Larger numbers are mistakes, and could overflow a date or an integer.
Days = Annotated[float, Bounds(gt=0, le=36_500)]
PositiveInt = Annotated[int, Bounds(gt=0, le=1_000_000_000)]


def _split(value: Any) -> Any:
    """Split names in one string, such as `hrrr,gfs` in an environment variable."""
    return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value


def _ascending(range_: tuple[int, int]) -> tuple[int, int]:
    if range_[0] > range_[1]:
        raise ValueError(f"the lowest priority comes first: [{range_[1]}, {range_[0]}]")
    return range_


# Far below those of the chain's live work.
Priority = Annotated[int, Bounds(ge=-1_000_000, le=1_000_000)]
Names = Annotated[tuple[str, ...], Before(_split)]
Priorities = Annotated[tuple[Priority, Priority], Before(_split), After(_ascending)]
FilePath = Annotated[Path, Before(check_path)]
DatabaseUrl = Annotated[str, Before(check_database_url)]


def _absolute(allow: dict[str, Path]) -> dict[str, Path]:
    for name, path in allow.items():
        if name == "gribmill":
            raise ValueError("gribmill is always allowed, and is the one that runs")
        if not path.is_absolute():
            raise ValueError(f"the path of {name} is not absolute: {path}")
    return allow


def _check_url(url: str) -> str:
    try:
        return str(object_path(url, StoreOptions()))
    except GribmillError as error:
        raise ValueError(str(error)) from None


def _check_address(endpoint: str) -> str:
    try:
        return check_endpoint(endpoint) if endpoint else endpoint
    except SettingsError as error:
        raise ValueError(str(error)) from None


def _check_collector(endpoint: str) -> str:
    """Validate the collector's URL. Credentials belong in the environment (OTEL_EXPORTER_OTLP_HEADERS)."""
    parts = urlsplit(endpoint)
    if endpoint and (parts.scheme not in ("http", "https") or not parts.hostname or not endpoint.isprintable()):
        raise ValueError("must be an address such as http://127.0.0.1:4318/v1/traces")
    if parts.username or parts.password:
        raise ValueError("must not contain a user name or password: set OTEL_EXPORTER_OTLP_HEADERS in the environment")
    return endpoint


StoreUrl = Annotated[str, After(_check_url)]


@settings_table
class LogSettings(SettingsTable):
    """Logging."""

    level: Literal["debug", "info", "warning", "error"] = field("info", description="Minimum log level.")
    format: Literal["human", "json"] = field("human", description="Plain lines, or one JSON object per line.")


@settings_table
class QueueSettings(SettingsTable):
    """The job queue."""

    synchronous: Literal["full", "normal"] = field(
        "full", description="full: commits survive a power failure. normal: they survive a crash only, and are faster."
    )
    lease_seconds: Annotated[float, Bounds(ge=1, le=3600)] = field(
        60.0, description="Seconds without a heartbeat after which a worker's jobs are given to others."
    )
    poll_seconds: Annotated[float, Bounds(ge=0.05, le=60)] = field(
        1.0, description="Polling interval when idle; a fallback for missed wake-ups."
    )
    allow_network_files: bool = field(False, description="Allow jobs.db on a network file system (unsafe).")
    resources: dict[Annotated[str, Matches("[a-z][a-z0-9_]{0,31}")], Annotated[int, Bounds(gt=0, le=100_000)]] = field(
        default_factory=dict,
        description="How many jobs (or batches) with a resource tag run at once, such as { gpu = 1 }.",
    )
    reservations: Literal["scope", "one"] = field(
        "scope",
        description="scope: one reservation per job type, and one for all. one: a single reservation at a time.",
    )
    tenant_priorities: Priorities = field(
        (-100, 100), description="Lowest and highest priority that tenants may give to their jobs."
    )
    keep_completed_days: Days = field(3.0, description="Days to keep completed and cancelled jobs.")
    keep_failed_days: Days = field(90.0, description="Days to keep failed jobs.")
    log_megabytes: Annotated[float, Bounds(ge=0, le=100_000)] = field(
        10.0, description="Largest log of an attempt; 0: no log files, only the last 8 kB of output in the database."
    )


@settings_table
class WorkerSettings(SettingsTable):
    """Worker processes."""

    lanes: dict[str, Annotated[int, Bounds(gt=0, le=999)]] = field(
        default_factory=lambda: {"fetch": 4, "build": available_cores(), "command": 2},
        description="Executors per lane: fetch waits on the network, build uses the CPU, command runs commands.",
    )
    build_threads: Annotated[int, Bounds(gt=0, le=64)] = field(
        1, description="Threads per build. 1 builds the most tiles per minute; more finish the first tiles sooner."
    )
    max_jobs_per_executor: PositiveInt = field(1000, description="Replace an executor after this many jobs.")
    max_memory_mb: PositiveInt = field(1024, description="Replace an executor that uses more memory than this.")
    kill_grace_seconds: Annotated[float, Bounds(gt=0, le=3600)] = field(
        5.0, description="Seconds between TERM and KILL when an executor must stop."
    )
    drain_seconds: Annotated[float, Bounds(ge=0, le=86_400)] = field(
        600.0, description="Seconds that a worker waits for its running jobs at shutdown before it puts them back."
    )


@settings_table
class StoreSettings(SettingsTable):
    """The object store of `tiles` and `spool`. Credentials come from the environment or a profile."""

    endpoint: Annotated[str, Length(most=300), After(_check_address)] = field(
        "", description="URL of a store other than the provider's own: https://s3.example.org."
    )
    region: Annotated[str, Length(most=100)] = field(
        "", description="Region of the bucket; by default from the environment."
    )
    anonymous: bool = field(False, description="Do not sign requests: for reading public buckets.")


@settings_table
class CommandSettings(SettingsTable):
    """Programs that jobs may run besides gribmill."""

    allow: Annotated[dict[Annotated[str, Matches("[A-Za-z0-9_.-]{1,64}")], FilePath], After(_absolute)] = field(
        default_factory=dict,
        description='Programs that job definitions may run, by absolute path: { rsync = "/usr/bin/rsync" }.',
    )


@settings_table
class ChainSettings(SettingsTable):
    """What `gribmill run` keeps up to date, and for how long."""

    models: Names = field((), description="Models to follow, such as hrrr, gfs or gefs.p01.")
    regions: Names = field((), description="Regions to cut; a model is cut for those that its grid reaches.")
    keep_grib: bool = field(False, description="Keep the downloaded messages after all tiles of an hour are built.")
    runs_back: Annotated[int, Bounds(gt=0, le=1000)] = field(
        2, description="Number of a model's newest runs that a scan checks."
    )
    keep_days: Days = field(7.0, description="Days to keep a run after its last new file.")
    keep_runs: PositiveInt = field(200, description="Maximum number of runs to keep per model.")
    keep_gigabytes: Annotated[float, Bounds(gt=0, le=1e9)] | None = field(
        None, description="Disk space for tiles and downloads; beyond it the oldest runs are removed."
    )
    min_free_gigabytes: Annotated[float, Bounds(ge=0, le=1e9)] = field(
        0.2, description="Downloads pause while less space is free (or less than a tenth of a small disk)."
    )

    def free_space_mark(self, total: int) -> float:
        """The free space in bytes, on a disk of this size, below which downloads wait."""
        # On a small disk it is a tenth of the disk, so that one default suits all disks.
        return min(self.min_free_gigabytes * 1e9, total * 0.1)


@settings_table
class RetentionSettings(SettingsTable):
    """Limits of one model or family, replacing those of [chain]."""

    keep_days: Days | None = field(None, description="Days to keep a run after its last new file.")
    keep_runs: PositiveInt | None = field(None, description="Maximum number of runs to keep, of each member.")
    keep_gigabytes: Annotated[float, Bounds(gt=0, le=1e9)] | None = field(
        None, description="Disk space for tiles and downloads; of a family, for all its members together."
    )


@settings_table
class WebhookSettings(SettingsTable):
    """Delivery of events by HTTP (`gribmill webhooks`)."""

    allow_private: bool = field(
        False, description="Allow webhooks to reach this machine and private networks (unsafe if others add webhooks)."
    )
    timeout_seconds: Annotated[float, Bounds(gt=0, le=50)] = field(
        10.0, description="Seconds that a delivery may take: connection, request and response."
    )
    disable_after_days: Days = field(5.0, description="Days of failure after which a webhook is disabled.")


@settings_table
class TraceSettings(SettingsTable):
    """Traces of jobs, sent to an OpenTelemetry collector (`pip install 'gribmill[trace]'`)."""

    endpoint: Annotated[str, Length(most=300), After(_check_collector)] = field(
        "", description="Where to send traces by OTLP/HTTP: http://127.0.0.1:4318/v1/traces. None are sent by default."
    )
    share: Annotated[float, Bounds(ge=0, le=1)] = field(1.0, description="The fraction of traces to send.")


@settings_table
class ServerSettings(SettingsTable):
    """The HTTP server (`gribmill serve`)."""

    host: Annotated[str, Length(most=253)] = field("127.0.0.1", description="The address to listen on.")
    port: Annotated[int, Bounds(ge=0, le=65_535)] = field(8760, description="The port; 0 for any free one.")
    hosts: Names = field((), description="Host names that clients use, such as gribmill.example.org.")
    behind_proxy: bool = field(
        False,
        description="A proxy in front terminates TLS: any address is allowed, and every request needs a token.",
    )
    tls_cert: FilePath | None = field(None, description="Certificate chain in PEM.")
    tls_key: FilePath | None = field(None, description="Private key of the certificate, in PEM.")
    threads: Annotated[int, Bounds(gt=0, le=64)] = field(
        4,
        description="Threads for blocking work, and half as many for slow work; each opens a database connection.",
    )
    request_seconds: Annotated[float, Bounds(gt=0, le=3600)] = field(
        30.0, description="Seconds after which a request fails with an error."
    )
    max_body_megabytes: Annotated[float, Bounds(gt=0, le=1000)] = field(2.0, description="Largest request body.")
    requests_per_minute: Annotated[float, Bounds(gt=0, le=1e9)] = field(
        6000.0,
        description="Requests per minute of a token, or of an address without one; bursts may be ten times higher.",
    )
    max_connections: Annotated[int, Bounds(gt=0, le=100_000)] = field(
        2000, description="Maximum number of connections; further ones get 503."
    )
    tile_memory_megabytes: Annotated[float, Bounds(ge=0, le=1_000_000)] = field(
        512.0, description="Cache for the values that point forecasts read from tiles; 0: none."
    )


@settings_table
class RegionSettings(SettingsTable):
    """A region of your own: a box, or the polygons of a GeoJSON file. Check it with `gribmill regions check`."""

    box: list[float] | None = field(None, description="[west, south, east, north] in degrees.")
    geojson: FilePath | None = field(None, description="A GeoJSON file; the region is the box around its polygons.")
    feature: str | None = field(None, description="Name or id of the one feature of that file to use.")
    title: Annotated[str, Length(most=200)] | None = field(None, description="A title for people.")
    resolution: float | None = field(
        None, description="Spacing of a regular grid in degrees; without it the model's own grid is kept."
    )
    method: Method | None = field(None, description="How values are resampled to the regular grid.")
    encoding: Encoding = field("fast", description="How tiles are compressed.")


@settings_table
class Settings(SettingsTable):
    """Everything that can be set. `data` is the data root."""

    data: FilePath = field(default_factory=default_data_root, description="The data root: jobs.db, grib/, tiles/.")
    database: DatabaseUrl | None = field(
        None,
        description="PostgreSQL for the queue and the catalogue, as postgresql://user@host/name; without it, jobs.db.",
        secret=True,
    )
    tiles: StoreUrl | None = field(
        None, description='Object store for tiles, instead of tiles/ in the data root: "s3://bucket/prefix".'
    )
    spool: StoreUrl | None = field(
        None,
        description="Object store from which other hosts get downloaded messages; each host has its own grib/ too.",
    )
    store: StoreSettings = field(default_factory=StoreSettings)
    log: LogSettings = field(default_factory=LogSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    workers: WorkerSettings = field(default_factory=WorkerSettings)
    commands: CommandSettings = field(default_factory=CommandSettings)
    chain: ChainSettings = field(default_factory=ChainSettings)
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    trace: TraceSettings = field(default_factory=TraceSettings)
    regions: dict[str, RegionSettings] = field(
        default_factory=dict, description="Your own regions: [regions.NAME] with a box or a GeoJSON file."
    )
    variables: dict[str, VariableSettings] = field(
        default_factory=dict,
        description="Your own variables: [variables.NAME], described as in an index or by GRIB keys.",
    )
    variables_file: FilePath | None = field(
        None, description="A TOML file with more variables of your own, as tables [NAME]."
    )
    models: dict[str, dict[str, Any]] = field(
        default_factory=dict,
        description='Changes to models: [models.NAME] with the keys to change; like = "hrrr" derives a new model.',
    )
    retention: dict[str, RetentionSettings] = field(
        default_factory=dict, description="How long the runs of a model or family are kept: [retention.hrrr]."
    )
    models_dir: FilePath | None = field(None, description="A folder with one TOML file per model of your own.")
    roots: dict[str, str] = field(
        default_factory=dict, description='Other addresses for mirrors: aws-hrrr = "http://127.0.0.1:8000/hrrr/".'
    )

    @property
    def data_root(self) -> Path:
        """The data root as an absolute path."""
        return expand_user(self.data).absolute()


def known_keys(table: type[SettingsTable] = Settings, prefix: str = "") -> dict[str, str]:
    """Every setting by its dotted key, with its description."""
    keys: dict[str, str] = {}
    for one in fields(table):
        section = one.default_factory
        if isinstance(section, type) and issubclass(section, SettingsTable):
            keys |= known_keys(section, f"{prefix}{one.name}.")
        else:
            keys[f"{prefix}{one.name}"] = one.metadata["description"]
    return keys
