"""`python -m tests.chain.failures.die_at_point` reads lines SETTINGS TAB POINT, and runs a worker killed at that point.

Forks one process per line and prints its exit code. Forking avoids repeated imports.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

from gribmill.ingest.download import spool
from gribmill.pipeline.handlers import build_tile, ingest_grib
from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.worker.in_process import Ticker
from gribmill.settings.schema import Settings
from gribmill.storage import atomic, latest, object_client
from gribmill.tiles.build import tile_builder

# Long enough to be killed within, short enough to wait for.
LEASE_SECONDS = 0.5


def die(*args: Any, **kwargs: Any) -> Any:
    """End like kill -9: nothing is unwound or flushed."""
    os.kill(os.getpid(), signal.SIGKILL)


def _after(work: Callable[..., Any]) -> Callable[..., Any]:
    def done_and_dead(*args: Any, **kwargs: Any) -> Any:
        work(*args, **kwargs)
        die()

    return done_and_dead


# Points of the work, and the patch that kills the process there.
POINTS: dict[str, Callable[[], None]] = {
    "messages verified, none recorded": lambda: setattr(spool.Spool, "mark", die),
    "some messages verified": lambda: setattr(spool.Spool, "mark", _after(spool.Spool.mark)),
    "all messages verified": lambda: setattr(spool.Spool, "finish", die),
    "spool complete, not recorded": lambda: setattr(ingest_grib, "_recorded", die),
    "decoded, nothing written": lambda: setattr(tile_builder.TileBuilder, "finish", die),
    "one tile half written": lambda: _die_in_writes(),
    "tiles written, not recorded": lambda: setattr(build_tile, "_recorded", die),
    "first of two tiles recorded": lambda: _die_at_second(build_tile, "_recorded"),
    "latest half written": lambda: setattr(latest, "write_atomic", _write_half),
}
# The same for tiles and messages in an object store.
STORE_POINTS: dict[str, Callable[[], None]] = {
    "messages downloaded, not sent": lambda: setattr(object_client.ObjectClient, "upload", die),
    "messages sent, not recorded": lambda: _die_after(object_client.ObjectClient, "upload"),
    "tile not sent": lambda: setattr(object_client.ObjectClient, "write", die),
    "one tile sent, not recorded": lambda: _die_after(object_client.ObjectClient, "write"),
    "latest not sent": lambda: setattr(latest, "_publish_object", die),
    "latest sent, not recorded": lambda: _die_after(latest, "_publish_object"),
}


def _die_after(owner: Any, name: str) -> None:
    setattr(owner, name, _after(getattr(owner, name)))


def _die_in_writes() -> None:
    setattr(atomic, "os", SimpleNamespace(**{**vars(os), "fsync": die}))  # noqa: B010


def _write_half(path: Path, chunks: Iterable[bytes]) -> None:
    _die_in_writes()
    atomic.write_atomic(path, chunks)


def _die_at_second(module: Any, name: str) -> None:
    work, calls = getattr(module, name), []

    def once(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return work(*args, **kwargs) if len(calls) == 1 else die()

    setattr(module, name, once)


def main() -> None:
    for line in sys.stdin:
        path, _, point = line.rstrip("\n").partition("\t")
        child = os.fork()
        if child == 0:
            live(Path(path), point)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def live(path: Path, point: str) -> NoReturn:
    """Run ready jobs until the process is killed."""
    try:
        settings = Settings.model_validate_json(path.read_text())
        (POINTS | STORE_POINTS)[point]()
        Ticker(open_queue(settings), LEASE_SECONDS, settings.model_dump(mode="json")).tick(500)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
