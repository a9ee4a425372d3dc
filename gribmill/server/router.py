"""A router that enforces the access table for every route and records every change in the audit trail."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.responses import StreamingResponse
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from gribmill.access.permissions import PARTS
from gribmill.errors import quoted
from gribmill.server.access.authorization import authorize
from gribmill.server.access.same_origin import SAFE_METHODS
from gribmill.server.access.table import access_of
from gribmill.server.change import Handler, make_change
from gribmill.server.context import server_context
from gribmill.server.problems import ERROR_RESPONSES, HttpProblem, answer_to


def part_of(tag: str) -> str:
    """The part of the API, as named in scopes, to which a tag belongs; `data` for tags that are not parts."""
    return tag if tag in PARTS else "data"


class SecuredRoute(APIRoute):
    """Authorizes the caller before the request is parsed. Routes for GET also respond to HEAD, and uvicorn leaves out
    the body."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        return (Match.FULL if match is Match.PARTIAL and self._is_head(scope) else match), child

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_head(scope):
            await self.app(scope, receive, send)
        else:
            await super().handle(scope, receive, send)

    def _is_head(self, scope: Scope) -> bool:
        return scope["type"] == "http" and scope["method"] == "HEAD" and "GET" in (self.methods or ())

    def handler(self) -> Handler:
        """Parses a request that is allowed, and makes the response."""
        return super().get_route_handler()

    def get_route_handler(self) -> Handler:
        handle = self.handler()
        assert self.operation_id is not None
        operation, access, part = self.operation_id, access_of(self.operation_id), part_of(str(self.tags[0]))

        async def secured(plain: Request) -> Response:
            request = StrictRequest(plain.scope, plain.receive)
            server = server_context(request)
            try:
                await authorize(server, request, access, part)
                if request.method in SAFE_METHODS:
                    response = await handle(request)
                    return _head_of(response) if request.method == "HEAD" else response
                return await make_change(server, request, operation, handle)
            except Exception as error:  # noqa: BLE001 — here, so that the response passes the middleware
                return answer_to(request, error)

        return secured


def _head_of(response: Response) -> Response:
    """The response without what a stream would send, which may never end."""
    if not isinstance(response, StreamingResponse):
        return response
    head = Response(status_code=response.status_code)
    head.raw_headers = response.raw_headers
    return head


class SecuredRouter(APIRouter):
    """The operation id of a route is the name of its function; raises LookupError if the access table lacks it.

    `tag` is the part of the API that the routes belong to, as named in the scopes of tokens.
    """

    def __init__(
        self, prefix: str = "", *, tag: str, in_docs: bool = True, route_class: type[SecuredRoute] = SecuredRoute
    ) -> None:
        super().__init__(
            prefix=prefix,
            tags=[tag],
            responses=ERROR_RESPONSES,
            include_in_schema=in_docs,
            route_class=route_class,
        )

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        operation = options.pop("operation_id", None) or endpoint.__name__
        access_of(operation)
        super().add_api_route(path, endpoint, operation_id=operation, **options)


class StrictRequest(Request):
    """Refuses JSON objects with duplicate keys: parsers differ in which value they use, so a proxy might have checked
    another one."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            try:
                self._json = json.loads(body, object_pairs_hook=_object)
            except (ValueError, RecursionError):  # also numbers of thousands of digits, and text that is not UTF-8
                raise HttpProblem(400, "the body is not JSON") from None
        return self._json


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise HttpProblem(400, f"the key {quoted(twice)} occurs twice in an object of the body")
    return found
