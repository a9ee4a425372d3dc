"""Parses server-sent events, and keeps the id of the last one, from which a stream can resume."""

from __future__ import annotations

from gribmill.client.call import read_as
from gribmill.views.queue.event import EventView

PATH = "/api/v1/events/stream"
_read = read_as(EventView)


class EventLines:
    """Parses the lines of a stream. `last_id` is the event to resume after."""

    def __init__(self, last_id: int | None) -> None:
        self.last_id = last_id
        self._id: int | None = None
        self._data: list[str] = []

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept": "text/event-stream"} | ({} if self.last_id is None else {"Last-Event-ID": str(self.last_id)})

    def begin(self) -> None:
        """Start a new connection. Drops a partly received event, which the server sends again."""
        self._id = None
        self._data.clear()

    def add(self, line: str) -> EventView | None:
        """The event that this line completes, if any. An id may come without an event, before the first one."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id" and value.isdigit():
            self._id = int(value)
        if line:
            return None
        event = _read("\n".join(self._data).encode()) if self._data else None
        self.last_id = self.last_id if self._id is None else self._id
        self.begin()
        return event
