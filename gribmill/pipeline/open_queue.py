"""Opens the queue of the settings, with every job type that gribmill declares."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.database.protocol import Database
from gribmill.database.sqlite import SqliteDatabase
from gribmill.errors import GribmillError
from gribmill.logs import log_format
from gribmill.pipeline.job_types import REMOTE_TYPES, TYPES, TYPES_PATH
from gribmill.queue.model import Effect
from gribmill.queue.store import Store
from gribmill.queue.store.exchange import Change
from gribmill.queue.worker.options import AttemptObserver, WorkerOptions
from gribmill.queue.worker.output import OutputLogs
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot

if TYPE_CHECKING:
    from gribmill.queue.remote.remote_database import RemoteDatabase

# The key, beside the settings, under which executors of a remote worker receive their server.
SERVER_KEY = "queue_server"
# Decoding executors are niced, so that commits never wait for a core (measured 0.18× against 0.76× under load).
NICENESS = {"build": 10}


def open_database(settings: Settings, *, create: bool = False) -> Database:
    """The database of the queue and the catalogue: PostgreSQL if the settings name one, else jobs.db.

    The only place that chooses. Creates a missing jobs.db; creates tables on a server only with `create`, because a
    mistyped name should not create any.
    """
    if settings.database is not None:
        return _open_postgres(settings.database, settings.queue.lease_seconds, create=create)
    return SqliteDatabase(
        DataRoot(settings.data_root).jobs_db,
        synchronous=settings.queue.synchronous,
        allow_network_files=settings.queue.allow_network_files,
    )


def _open_postgres(url: str, lease_seconds: float, *, create: bool) -> Database:
    check_postgres_extra()
    from gribmill.database.postgres import PostgresDatabase

    return PostgresDatabase(url, create=create, lease_seconds=lease_seconds)


def check_postgres_extra() -> None:
    """Raise GribmillError if the client library of PostgreSQL is not installed."""
    try:
        import psycopg  # noqa: F401 — an extra: only a queue in PostgreSQL needs it
    except ImportError:
        raise GribmillError("a PostgreSQL database needs psycopg: pip install 'gribmill[postgres]'") from None


def open_queue(settings: Settings) -> Store:
    """Open the store of these settings, creating it if it does not exist."""
    store = Store(open_database(settings), TYPES, CatalogueEffects())
    store.definitions.set_resource_limits(settings.queue.resources)
    store.reservations.only_one = settings.queue.reservations == "one"
    store.webhooks.allow_private = settings.webhooks.allow_private
    store.tenants.priorities = settings.queue.tenant_priorities
    return store


def open_database_for_reading(settings: Settings) -> Database:
    """The database for read-only commands; if there is no jobs.db, an empty one in a temporary folder."""
    path = DataRoot(settings.data_root).jobs_db
    if settings.database is not None or path.exists():
        return open_database(settings)
    folder = Path(tempfile.mkdtemp(prefix="gribmill-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return SqliteDatabase(folder / path.name, synchronous="normal", allow_network_files=True)


def open_queue_for_reading(settings: Settings) -> Store:
    """Open the store of these settings for read-only commands, without creating it."""
    return Store(open_database_for_reading(settings), TYPES, CatalogueEffects(), for_reading=True)


def remote_database(url: str, token: str, lease_seconds: float) -> RemoteDatabase:
    """A server's database, for a remote worker."""
    from gribmill.queue.remote.remote_database import RemoteDatabase  # late: only remote workers need an HTTP client

    return RemoteDatabase(url, token, lease_seconds)


def open_remote_queue(settings: Settings, url: str, token: str) -> tuple[Store, WorkerOptions]:
    """A server's queue, and the options of a remote worker, which runs the chain."""
    from gribmill.queue.remote.remote_store import RemoteStore

    store = RemoteStore(remote_database(url, token, settings.queue.lease_seconds), REMOTE_TYPES)
    options = worker_options(settings)
    server = {"url": url, "token": token, "lease_seconds": settings.queue.lease_seconds}
    lanes = {name: count for name, count in options.lanes.items() if name in {kind.lane for kind in REMOTE_TYPES}}
    return store, replace(options, lanes=lanes, environment={**options.environment, SERVER_KEY: server})


class CatalogueEffects:
    """Interprets the effects of all handlers: each is a catalogue event."""

    def prepare(self, effect: Effect) -> Change:
        # Imported late: commands that list jobs, and workers before their first result, do not need the catalogue.
        from gribmill.pipeline.effects import change_of

        return change_of(effect)


def output_logs(settings: Settings) -> OutputLogs:
    """Where the output of attempts is kept."""
    return OutputLogs(DataRoot(settings.data_root).logs, round(settings.queue.log_megabytes * 1_000_000))


def worker_options(settings: Settings) -> WorkerOptions:
    """The options of workers with these settings."""
    return WorkerOptions(
        types_path=TYPES_PATH,
        lanes=dict(settings.workers.lanes),
        niceness=NICENESS,
        lease_seconds=settings.queue.lease_seconds,
        poll_seconds=settings.queue.poll_seconds,
        kill_grace_seconds=settings.workers.kill_grace_seconds,
        drain_seconds=settings.workers.drain_seconds,
        max_jobs_per_executor=settings.workers.max_jobs_per_executor,
        max_memory_mb=settings.workers.max_memory_mb,
        keep_completed_days=settings.queue.keep_completed_days,
        keep_failed_days=settings.queue.keep_failed_days,
        logs=output_logs(settings),
        log={**settings.log.model_dump(mode="json"), "format": log_format(settings.log)},
        environment=settings.model_dump(mode="json"),
        observer=_observer(settings),
    )


def _observer(settings: Settings) -> Callable[[Store, str], AttemptObserver] | None:
    if not settings.trace.endpoint:
        return None
    from gribmill.pipeline.tracing.worker_tracer import worker_tracer

    return worker_tracer(settings.trace)
