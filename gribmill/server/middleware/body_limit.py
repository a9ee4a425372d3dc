"""Limits the size of request bodies."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gribmill.server.problems import HttpProblem, problem_response


class BodyLimit:
    """Responds with 413 to a body above the limit, with or without a Content-Length."""

    def __init__(self, app: ASGIApp, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._announced(scope) > self._most_bytes:
            await problem_response(self._problem())(scope, receive, send)
            return
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self._most_bytes:
                raise self._problem()
            return message

        await self._app(scope, limited, send)

    def _announced(self, scope: Scope) -> int:
        for name, value in scope["headers"]:
            if name == b"content-length":
                return int(value) if value.isdigit() and len(value) < 20 else self._most_bytes + 1
        return 0

    def _problem(self) -> HttpProblem:
        return HttpProblem(
            413, f"the request body is larger than {self._most_bytes} bytes", headers={"Connection": "close"}
        )
