"""Errors in Open-Meteo's own format."""

from __future__ import annotations

import orjson
from starlette.responses import Response

from gribmill.errors import GribmillError, sentence

ERROR_SCHEMA = {
    "type": "object",
    "properties": {"error": {"const": True}, "reason": {"type": "string"}},
    "required": ["error", "reason"],
}


class OpenMeteoError(GribmillError):
    """A request that cannot be answered: 400 with `{"error": true, "reason": …}`."""


def error_response(error: Exception, status: int = 400) -> Response:
    body = orjson.dumps({"error": True, "reason": sentence(str(error))})
    return Response(body, status, media_type="application/json")
