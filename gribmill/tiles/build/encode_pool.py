"""Arrays are encoded while the next field is decoded, and tiles written side by side, on the cores a build is given."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class Press:
    """Threads that encode; with one of them, the work is done at once where it is asked for. Use it in a `with`."""

    def __init__(self, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads, "encode") if threads > 1 else None
        self._this: list[Future[Any]] = []
        self._before: list[Future[Any]] = []

    def __enter__(self) -> Press:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=error is not None)

    def give(self, work: Callable[[], T]) -> Callable[[], T]:
        """What hands over the result, when it is wanted."""
        if self._pool is None:
            done = work()
            return lambda: done
        future = self._pool.submit(work)
        self._this.append(future)
        return future.result

    def next_field(self) -> None:
        """At most two fields' arrays wait at any time: decoding is faster than encoding."""
        wait(self._before)
        self._before, self._this = self._this, []
