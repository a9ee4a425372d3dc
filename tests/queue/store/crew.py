"""Threads that use one queue at the same time, each with its own connection."""

from __future__ import annotations

import threading
from collections.abc import Callable

PATIENCE_SECONDS = 120.0


def together(*works: Callable[[], object]) -> None:
    """Run all functions concurrently and wait; raises the first error."""
    start = threading.Barrier(len(works))
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:  # noqa: BLE001 — raised below, in the test's own thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "a thread did not end"
