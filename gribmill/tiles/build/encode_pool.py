"""A thread pool that encodes arrays while the next field is decoded, and writes tiles in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class EncodePool:
    """A pool of threads; with one thread, `submit` does the work at once. Use it as a context manager."""

    def __init__(self, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, "encode") if threads > 1 else None
        self._this: list[Future[Any]] = []
        self._before: list[Future[Any]] = []

    def __enter__(self) -> EncodePool:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=error is not None)

    def submit(self, work: Callable[[], T]) -> Callable[[], T]:
        """Start the work; the returned function waits for its result."""
        if self._pool is None:
            done = work()
            return lambda: done
        future = self._pool.submit(work)
        self._this.append(future)
        return future.result

    def next_field(self) -> None:
        """Wait until the arrays of at most one field are pending, because decoding is faster than encoding."""
        wait(self._before)
        self._before, self._this = self._this, []
