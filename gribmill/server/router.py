"""A router whose routes all have a line in the table of access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends

from gribmill.server.access.principal import authorize
from gribmill.server.access.table import access_of
from gribmill.server.problems import ERROR_RESPONSES


class SecuredRouter(APIRouter):
    """The operation id of a route is the name of its function. LookupError at import if the table lacks it."""

    def __init__(self, prefix: str = "", *, tag: str, in_docs: bool = True) -> None:
        super().__init__(
            prefix=prefix,
            tags=[tag],
            dependencies=[Depends(authorize)],
            responses=ERROR_RESPONSES,
            include_in_schema=in_docs,
        )

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        operation = options.pop("operation_id", None) or endpoint.__name__
        access_of(operation)
        super().add_api_route(path, endpoint, operation_id=operation, **options)
