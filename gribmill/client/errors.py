"""Errors of the clients."""

from __future__ import annotations

from collections.abc import Mapping

from gribmill.errors import GribmillError


class ServerUnreachable(GribmillError):
    """The server did not respond, even after retries."""


class ApiError(GribmillError):
    """The server refused the request: `status`, its message as the text, and the invalid fields."""

    def __init__(self, status: int, detail: str, fields: Mapping[str, str]) -> None:
        super().__init__(detail)
        self.status = status
        self.fields = dict(fields)
