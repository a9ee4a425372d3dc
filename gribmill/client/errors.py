"""What can go wrong with a request to a server."""

from __future__ import annotations

from collections.abc import Mapping

from gribmill.errors import GribmillError


class ServerUnreachable(GribmillError):
    """No answer came, also when asked again."""


class ApiError(GribmillError):
    """The server refused the request: `status`, its sentence as the text, and what is wrong with which field."""

    def __init__(self, status: int, detail: str, fields: Mapping[str, str]) -> None:
        super().__init__(detail)
        self.status = status
        self.fields = dict(fields)
