"""Routes that are called often: their queries are validated in one go, which takes a tenth of FastAPI's time."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, get_args, get_type_hints

from fastapi import Request, Response
from fastapi.params import Query
from pydantic import BaseModel, Field, ValidationError, create_model

from gribmill.server.change import Handler
from gribmill.server.context import Server, server_context
from gribmill.server.router import SecuredRoute


class QuickRoute(SecuredRoute):
    """For handlers that take `server` and simple parameters of the query, and return a Response.

    What is not valid goes the usual way, whose errors clients know.
    """

    def handler(self) -> Handler:
        usual, endpoint = super().handler(), self.endpoint
        model = query_model(endpoint)
        names = [*model.model_fields]

        async def quick(request: Request) -> Response:
            try:
                query = model.model_validate(dict(request.query_params))
            except ValidationError:
                return await usual(request)
            values = {name: getattr(query, name) for name in names}
            found = await endpoint(server=server_context(request), **values)
            assert isinstance(found, Response)
            return found

        return quick


def query_model(endpoint: Any) -> type[BaseModel]:
    """The parameters of a handler except `server`; raises TypeError if one is not of the query."""
    hints = get_type_hints(endpoint, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(endpoint).parameters.items():
        if hints[name] == Server:
            continue
        query = next((one for one in get_args(hints[name])[1:] if isinstance(one, Query)), None)
        if query is None:
            raise TypeError(f"{name} of {endpoint.__name__} is not a parameter of the query")
        # Old versions of pydantic lose the alias of FastAPI's own class.
        hint: Any = Annotated[hints[name], Field(alias=query.alias or name)]
        fields[name] = hint, ... if parameter.default is parameter.empty else parameter.default
    return create_model(f"{endpoint.__name__}_query", **fields)
