"""A request to a server and the type of its response, for both clients."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from gribmill.client.errors import ApiError

AnswerT = TypeVar("AnswerT")
_adapters: dict[Any, TypeAdapter[Any]] = {}


@dataclass(frozen=True, slots=True)
class Call(Generic[AnswerT]):
    """One request. A change has an idempotency key: the server executes it only once, however often it is sent."""

    method: str
    path: str
    read: Callable[[bytes], AnswerT]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Idempotency-Key": self.key} if self.key else {}

    def request(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        return client.build_request(
            self.method, self.path, params=given(self.params), json=self.body, headers=self.headers
        )

    def answer(self, response: httpx.Response) -> AnswerT:
        """Parse the response. Raises ApiError if the server refused, or the response is not as expected."""
        if not response.is_success:
            raise refusal(response)
        try:
            return self.read(response.content)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise ApiError(
                response.status_code, f"the response is not as expected: {where}: {first['msg']}", {}
            ) from None


def get(kind: type[AnswerT], path: str, **params: Any) -> Call[AnswerT]:
    return Call("GET", path, read_as(kind), params)


def change(
    method: str, kind: type[AnswerT], path: str, body: Mapping[str, Any] | None = None, key: str | None = None,
    **params: Any,
) -> Call[AnswerT]:  # fmt: skip
    """A request that changes something; the key is random unless given."""
    return Call(method, path, read_as(kind), params, body, key or secrets.token_urlsafe(24))


def part(text: object) -> str:
    """Quote one segment of a path, so that its value cannot change the path."""
    return quote(str(text), safe="")


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def read_as(kind: type[AnswerT]) -> Callable[[bytes], AnswerT]:
    """A parser of JSON as this type. Unknown keys of newer servers are ignored."""

    def read(content: bytes) -> AnswerT:
        if kind not in _adapters:
            _adapters[kind] = TypeAdapter(kind)  # cached because it takes milliseconds
        found: AnswerT = _adapters[kind].validate_json(content, extra="ignore")
        return found

    return read


class _Field(BaseModel):
    field: str
    message: str


class _Problem(BaseModel):
    detail: str
    errors: list[_Field] = []


def refusal(response: httpx.Response) -> ApiError:
    try:
        problem = _Problem.model_validate_json(response.content)
    except ValidationError:
        return ApiError(response.status_code, f"the server responded with status {response.status_code}", {})
    return ApiError(response.status_code, problem.detail, {one.field: one.message for one in problem.errors})
