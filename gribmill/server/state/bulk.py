"""Bulk actions on jobs: immediate for a few jobs, in the background with progress for many."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal

from gribmill.errors import GribmillError, sentence
from gribmill.queue.errors import StoreError
from gribmill.server.problems import problem_of

BulkAction = Literal["cancel", "retry", "run-now"]
AT_ONCE = 1000
MOST = 200_000
MOST_REFUSALS = 100
KEPT = 100


@dataclass(slots=True)
class BulkOperation:
    """Progress of a bulk action. `refused` counts jobs whose state does not allow it, with the first few reasons."""

    id: str
    action: BulkAction
    tenant_id: str | None
    matched: int
    done: int = 0
    refused: int = 0
    refusals: list[tuple[int, str]] = field(default_factory=list)
    state: Literal["running", "finished", "failed"] = "running"
    error: str | None = None

    def run(self, ids: Sequence[int], act: Callable[[int], object], stop: threading.Event) -> None:
        """Act on each job; stops if the database becomes unavailable."""
        try:
            for job_id in ids:
                if stop.is_set():
                    self.state, self.error = "failed", "the server was stopped"
                    return
                self._act(job_id, act)
            self.state = "finished"
        except StoreError as error:
            self.state, self.error = "failed", problem_of(error).detail

    def _act(self, job_id: int, act: Callable[[int], object]) -> None:
        try:
            act(job_id)
            self.done += 1
        except StoreError:
            raise
        except GribmillError as error:
            self.refused += 1
            if len(self.refusals) < MOST_REFUSALS:
                self.refusals.append((job_id, sentence(str(error))))


class BulkOperations:
    """The last hundred bulk actions of this server. They are lost when the server stops."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gribmill-bulk")
        self._known: OrderedDict[str, BulkOperation] = OrderedDict()
        self._stop = threading.Event()

    def begin(
        self, action: BulkAction, tenant_id: str | None, ids: Sequence[int], act: Callable[[int], object]
    ) -> BulkOperation:
        """Start a bulk action. Small ones finish before this returns; others run in the background."""
        operation = BulkOperation(secrets.token_hex(8), action, tenant_id, len(ids))
        self._known[operation.id] = operation
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        if len(ids) <= AT_ONCE:
            operation.run(ids, act, self._stop)
        else:
            self._thread.submit(operation.run, ids, act, self._stop)
        return operation

    def get(self, operation_id: str) -> BulkOperation | None:
        return self._known.get(operation_id)

    def close(self) -> None:
        self._stop.set()
        self._thread.shutdown(wait=True)
