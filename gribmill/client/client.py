"""The synchronous client."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from gribmill.client import calls
from gribmill.client.call import Call, given, refusal
from gribmill.client.connection import httpx, options
from gribmill.client.errors import ApiError, ServerUnreachable
from gribmill.client.event_stream import PATH, EventLines
from gribmill.client.retries import Retries
from gribmill.views.queue.contract import JobResource
from gribmill.views.queue.event import EventView

P = ParamSpec("P")
T = TypeVar("T")


def _sends(make: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    """A method that sends the request built by a function in `calls`."""

    @functools.wraps(make)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(make(*args, **kwargs))

    return method


class Client:
    """A client of a server's API. Use it in a `with` block, or close it. Threads may share it.

    Requests are retried if the server is unreachable or busy. Changes are still made only once, because each has an
    Idempotency-Key.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout_seconds: float = 60.0, retries: Retries | None = None
    ) -> None:
        self._http = httpx.Client(**options(url, token, timeout_seconds))
        self._retries = retries or Retries()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def send(self, call: Call[T]) -> T:
        """Send a request. Raises ApiError if the server refuses, ServerUnreachable if it does not respond."""
        return call.answer(self._answered(lambda: self._http.send(call.request(self._http))))

    create_job = _sends(calls.create_job)
    list_jobs = _sends(calls.list_jobs)
    show_job = _sends(calls.show_job)
    list_attempts = _sends(calls.list_attempts)
    summarize_jobs = _sends(calls.summarize_jobs)
    cancel_job = _sends(calls.cancel_job)
    retry_job = _sends(calls.retry_job)
    run_job_now = _sends(calls.run_job_now)
    move_job = _sends(calls.move_job)
    list_definitions = _sends(calls.list_definitions)
    list_triggers = _sends(calls.list_triggers)
    create_trigger = _sends(calls.create_trigger)
    delete_trigger = _sends(calls.delete_trigger)
    list_groups = _sends(calls.list_groups)
    emit_event = _sends(calls.emit_event)
    list_events = _sends(calls.list_events)
    list_workers = _sends(calls.list_workers)
    drain_worker = _sends(calls.drain_worker)
    dismiss_worker = _sends(calls.dismiss_worker)
    status = _sends(calls.status)
    latest_runs = _sends(calls.latest_runs)
    point = _sends(calls.point)
    tile = _sends(calls.tile)

    def all_jobs(self, **wanted: Any) -> Iterator[JobResource]:
        """All jobs that match a filter (as for `list_jobs`), fetched a page at a time."""
        cursor: int | None = None
        while True:
            page = self.list_jobs(**{"limit": 1000, **wanted, "cursor": cursor})
            yield from page.jobs
            cursor = page.next_cursor
            if cursor is None:
                return

    def follow_events(self, name: str | None = None, *, last_event_id: int | None = None) -> Iterator[EventView]:
        """Events as they happen, from now on or after a given one. A broken stream resumes where it ended: no event is
        lost or repeated."""
        lines = EventLines(last_event_id)
        while True:
            response = self._answered(lambda: self._open(lines, name))
            try:
                if not response.is_success:
                    response.read()
                    raise refusal(response)
                yield from filter(None, map(lines.add, response.iter_lines()))
            except httpx.TransportError:
                pass  # the stream broke: reopen it after the last event
            finally:
                response.close()
            time.sleep(self._retries.first_seconds)

    def _open(self, lines: EventLines, name: str | None) -> httpx.Response:
        lines.begin()
        request = self._http.build_request("GET", PATH, params=given({"name": name}), headers=lines.headers)
        return self._http.send(request, stream=True)

    def _answered(self, ask: Callable[[], httpx.Response]) -> httpx.Response:
        attempt = 1
        while True:
            response, error = None, ""
            try:
                response = ask()
            except httpx.TransportError as failure:
                error = f"{self._http.base_url} does not answer ({type(failure).__name__})"
            seconds = None if response is not None and response.is_success else self._retries.wait(attempt, response)
            if seconds is None:
                if response is None:
                    raise ServerUnreachable(error)
                return response
            if response is not None:
                response.close()
            time.sleep(seconds)
            attempt += 1


__all__ = ["ApiError", "Client", "Retries", "ServerUnreachable"]
