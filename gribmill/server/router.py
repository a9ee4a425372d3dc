"""A router that enforces the access table for every route and records every change in the audit trail."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from gribmill.access.permissions import PARTS
from gribmill.server.access.authorization import authorize
from gribmill.server.access.same_origin import SAFE_METHODS
from gribmill.server.access.table import access_of
from gribmill.server.change import make_change
from gribmill.server.context import server_context
from gribmill.server.problems import ERROR_RESPONSES
from gribmill.server.strict_request import StrictRequest

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def part_of(tag: str) -> str:
    """The part of the API, as named in scopes, to which a tag belongs; `data` for tags that are not parts."""
    return tag if tag in PARTS else "data"


class SecuredRoute(APIRoute):
    """Authorizes the caller before the request is parsed."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        assert self.operation_id is not None
        operation, access, part = self.operation_id, access_of(self.operation_id), part_of(str(self.tags[0]))

        async def secured(plain: Request) -> Response:
            request = StrictRequest(plain.scope, plain.receive)
            server = server_context(request)
            await authorize(server, request, access, part)
            if request.method in SAFE_METHODS:
                return await handle(request)
            return await make_change(server, request, operation, handle)

        return secured


class SecuredRouter(APIRouter):
    """The operation id of a route is the name of its function; raises LookupError if the access table lacks it.

    `tag` is the part of the API that the routes belong to, as named in the scopes of tokens.
    """

    def __init__(self, prefix: str = "", *, tag: str, in_docs: bool = True) -> None:
        super().__init__(
            prefix=prefix,
            tags=[tag],
            responses=ERROR_RESPONSES,
            include_in_schema=in_docs,
            route_class=SecuredRoute,
        )

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        operation = options.pop("operation_id", None) or endpoint.__name__
        access_of(operation)
        super().add_api_route(path, endpoint, operation_id=operation, **options)
