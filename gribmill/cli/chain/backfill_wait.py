"""Waiting for a backfill: for other workers, or with workers of this command."""

from __future__ import annotations

import logging
import sys
import threading
from typing import TYPE_CHECKING

import click

from gribmill.cli.progress import progress_bars
from gribmill.pipeline.backfill.progress import BackfillProgress, BackfillState
from gribmill.pipeline.open_queue import worker_options
from gribmill.queue.worker.supervisor import Supervisor
from gribmill.settings.schema import Settings
from gribmill.views.queue.worker import WorkerView

if TYPE_CHECKING:
    from gribmill.queue.model import Worker
    from gribmill.queue.store import Store

SHOW_SECONDS = 0.5


def wait_for_workers(settings: Settings, store: Store, progress: BackfillProgress) -> BackfillState:
    """Until other workers are done, with a progress bar; a note if there are none."""
    if progress.read().active and not any(_works(worker, settings) for worker in store.workers.list()):
        click.echo("no worker is running; waiting for one (`gribmill work` starts it, or use --here)", err=True)
    return _show(progress, threading.Event())


def work_here(settings: Settings, store: Store, progress: BackfillProgress) -> BackfillState:
    """Run workers in this process tree until it is done, or until a signal stops them."""
    if not progress.read().active:
        return progress.read()
    if sys.stderr.isatty() and settings.log.level == "info":
        # A line for each job would break the progress bar.
        settings = settings.model_copy(update={"log": settings.log.model_copy(update={"level": "warning"})})
        logging.getLogger("gribmill").setLevel(logging.WARNING)
    over = threading.Event()

    def show() -> None:
        _show(progress, over)
        store.close()  # this thread's connection

    display = threading.Thread(target=show, name="progress", daemon=True)
    display.start()
    try:
        Supervisor(store, worker_options(settings)).run(lambda: not progress.read().active)
    finally:
        over.set()
        display.join()
    return progress.read()


def _show(progress: BackfillProgress, over: threading.Event) -> BackfillState:
    """Show the progress until nothing is active, or until told to stop."""
    with progress_bars("items") as add_bar:
        bar = add_bar("files and tiles")
        while True:
            state = progress.read()
            bar(state.done, state.total, "files and tiles" + (f" ({state.failed} failed)" if state.failed else ""))
            if not state.active or over.wait(SHOW_SECONDS):
                return state


def _works(worker: Worker, settings: Settings) -> bool:
    return WorkerView.of(worker, settings.queue.lease_seconds).shown_state not in ("stopped", "stale")
