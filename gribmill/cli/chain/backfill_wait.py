"""Waiting for a backfill, which other workers or workers of this command run."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from gribmill.cli.progress import progress_bars
from gribmill.pipeline.backfill.progress import BackfillProgress, BackfillState, hours_waited_for
from gribmill.pipeline.open_queue import worker_options
from gribmill.queue.worker.supervisor.supervisor import Supervisor
from gribmill.settings.schema import Settings

if TYPE_CHECKING:
    from gribmill.identity import RunRef
    from gribmill.ingest.models.model import Model
    from gribmill.queue.store import Store

SHOW_SECONDS = 0.5
LOOK_SECONDS = 2.0


def wait_for_workers(
    settings: Settings, store: Store, models: Mapping[str, Model], progress: BackfillProgress
) -> BackfillState:
    """Wait until other workers are done, with a progress bar; prints a note if none is running."""
    if progress.read().active and not store.workers.alive(settings.queue.lease_seconds):
        click.echo("no worker is running; waiting for one (`gribmill work` starts it, or use --here)", err=True)
    return _show(progress, _Notes(store, models, progress), threading.Event())


def work_here(
    settings: Settings, store: Store, models: Mapping[str, Model], progress: BackfillProgress
) -> BackfillState:
    """Run workers in this process tree until the backfill is done, or until a signal stops them."""
    if not progress.read().active:
        return progress.read()
    if sys.stderr.isatty() and settings.log.level == "info":
        # A line for each job would break the progress bar.
        settings = settings.model_copy(update={"log": settings.log.model_copy(update={"level": "warning"})})
        logging.getLogger("gribmill").setLevel(logging.WARNING)
    over = threading.Event()

    def show() -> None:
        _show(progress, _Notes(store, models, progress), over)
        store.close()  # this thread's connection

    display = threading.Thread(target=show, name="progress", daemon=True)
    display.start()
    try:
        Supervisor(store, worker_options(settings)).run(lambda: not progress.read().active)
    finally:
        over.set()
        display.join()
    return progress.read()


def _show(progress: BackfillProgress, notes: _Notes, over: threading.Event) -> BackfillState:
    """Show the progress until no job is active, or until asked to stop."""
    with progress_bars("items") as add_bar:
        bar = add_bar("files and tiles")
        while True:
            state = progress.read()
            bar(state.done, state.total, "files and tiles" + (f" ({state.failed} failed)" if state.failed else ""))
            if not state.active:
                return state
            notes.write()
            if over.wait(SHOW_SECONDS):
                return state


class _Notes:
    """Prints once what the backfill is waiting for when nothing else is left to do."""

    def __init__(self, store: Store, models: Mapping[str, Model], progress: BackfillProgress) -> None:
        self._store, self._models, self._groups = store, models, progress.groups
        self._said: set[tuple[RunRef, tuple[int, ...]]] = set()
        self._looked_at = 0.0

    def write(self) -> None:
        if time.monotonic() < self._looked_at + LOOK_SECONDS:
            return
        self._looked_at = time.monotonic()
        now = datetime.now(UTC)
        for one in hours_waited_for(self._store, self._models, self._groups, now):
            if (one.run, one.hours) in self._said:
                continue
            self._said.add((one.run, one.hours))
            again = f"{one.again_at:%H:%M}" if one.again_at else "once more"
            click.echo(
                f"{one.text(now)}; waiting, next look at {again} UTC. Ctrl-C stops; the same command continues",
                err=True,
            )
