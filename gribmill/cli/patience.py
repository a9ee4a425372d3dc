"""Commands that follow something outlast a database or an object store that does not respond for a while."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import click

from gribmill.queue.errors import StoreUnreachable
from gribmill.storage.errors import ObjectStoreUnreachable

RETRY_SECONDS = 1.0
T = TypeVar("T")


def patiently(read: Callable[[], T], over: threading.Event | None = None) -> T:
    """The result of `read`, as soon as there is one; an outage is reported once. After `over`, its error is raised."""
    end = over or threading.Event()
    reported = False
    while True:
        try:
            return read()
        except (StoreUnreachable, ObjectStoreUnreachable) as error:
            if not reported:
                click.echo(f"{error}; trying again every {RETRY_SECONDS:g} s", err=True)
            reported = True
            if end.wait(RETRY_SECONDS):
                raise
