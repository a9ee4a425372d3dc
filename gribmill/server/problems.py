"""Errors as RFC 9457 problem documents: a status, an explanation, and the invalid fields."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.routing import Match

from gribmill.access.errors import AccessError, TokenNotFound
from gribmill.errors import GribmillError, quoted, sentence
from gribmill.ingest.errors import ModelError
from gribmill.queue import errors as queue
from gribmill.regions.errors import RegionError
from gribmill.storage.errors import StorageError

log = logging.getLogger("gribmill.server")

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 50
# The status of each error class; the first match counts.
STATUSES: Sequence[tuple[type[GribmillError], int]] = (
    (queue.JobNotFound, 404),
    (queue.GroupNotFound, 404),
    (queue.WorkerNotFound, 404),
    (queue.TriggerNotFound, 404),
    (queue.EventNotFound, 404),
    (queue.TenantNotFound, 404),
    (queue.TemplateNotFound, 404),
    (queue.WebhookNotFound, 404),
    (queue.NotAllowed, 409),
    (queue.Reserved, 409),
    (queue.StoreError, 503),
    (queue.StatementRefused, 422),
    (queue.QueueError, 422),
    (TokenNotFound, 404),
    (AccessError, 422),
    (RegionError, 422),
    (ModelError, 422),
    (StorageError, 503),
    (GribmillError, 500),
)

# Errors whose messages name files of the server, or quote SQL: what clients are told instead.
FOR_THE_LOG: Sequence[tuple[type[GribmillError], str]] = (
    (queue.StoreError, "the database cannot be used now"),
    (queue.StatementRefused, "the database refused the request, and nothing was written"),
    (StorageError, "stored files cannot be used now"),
)


class FieldError(BaseModel):
    """A field of the request, as a path (`body.payload.run`), and what is wrong with it."""

    field: str
    message: str


class ProblemDocument(BaseModel):
    """RFC 9457: what went wrong, for people (`detail`) and programs (`status`, `errors`)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []


class HttpProblem(Exception):
    """Ends a request with a problem document."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        challenge: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = [FieldError(field=field, message=message) for field, message in errors]
        self.headers = {**(headers or {}), **({"WWW-Authenticate": "Bearer"} if challenge else {})}


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": what,
        "model": ProblemDocument,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
    }
    for status, what in (("4XX", "The request cannot be done as it is."), ("5XX", "The server cannot do it now."))
}
"""For the OpenAPI document: any operation may respond with a problem."""


def problem_response(problem: HttpProblem) -> JSONResponse:
    document = ProblemDocument(
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=sentence(problem.detail),
        errors=problem.errors,
    )
    headers = {"Cache-Control": "no-store", **problem.headers}
    return JSONResponse(document.model_dump(), problem.status, headers, MEDIA_TYPE)


def http_status(error: GribmillError) -> int:
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def problem_of(error: GribmillError) -> HttpProblem:
    """The problem document of a GribmillError. Messages with paths or SQL of the server are logged instead."""
    status = http_status(error)
    detail = next((words for kind, words in FOR_THE_LOG if isinstance(error, kind)), str(error))
    if detail != str(error):
        log.warning("%s", error)
        detail = f"{detail}; the server's log says why"
    return HttpProblem(status, detail, headers={"Retry-After": "1"} if status == 503 else None)


def add_problem_handlers(app: FastAPI) -> None:
    """Turn every error of the application into a problem document."""

    async def answer(request: Request, error: Exception) -> JSONResponse:
        return answer_to(request, error)

    for kind in (HttpProblem, GribmillError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def answer_to(request: Request, error: Exception) -> JSONResponse:
    """The problem document of an error; unexpected errors are logged."""
    if isinstance(error, HttpProblem):
        return problem_response(error)
    if isinstance(error, GribmillError):
        return problem_response(problem_of(error))
    if isinstance(error, RequestValidationError):
        return problem_response(_of_validation(request, error))
    if isinstance(error, HTTPException):
        return problem_response(_of_http(request, error))
    if isinstance(error, ClientDisconnect):
        return problem_response(HttpProblem(400, "the connection ended before the body did"))  # never delivered
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem_response(HttpProblem(500, "an unexpected error, which is in the server's log"))


def _of_validation(request: Request, error: RequestValidationError) -> HttpProblem:
    found = error.errors()[:MOST_ERRORS]
    kind = request.headers.get("content-type", "none").partition(";")[0]
    # The framework parses no other body, and complains that it is text.
    if kind != "application/json" and any(one["loc"] == ("body",) and isinstance(one["input"], bytes) for one in found):
        return HttpProblem(415, f"the body must be JSON, sent with Content-Type: application/json, not {quoted(kind)}")
    fields = [(".".join(map(str, one["loc"])), str(one["msg"])) for one in found]
    summary = "; ".join(f"{field}: {message}" for field, message in fields[:3])
    return HttpProblem(422, f"the request is not valid: {summary}", errors=fields)


def _of_http(request: Request, error: HTTPException) -> HttpProblem:
    if isinstance(error.__cause__, HttpProblem):
        return error.__cause__  # raised while reading the body; the framework wraps such errors in its own
    if error.status_code == 404:
        return HttpProblem(404, f"there is nothing at {request.url.path}")
    if error.status_code == 405:
        allowed = ", ".join(allowed_methods(request))
        return HttpProblem(405, f"{request.method} is not allowed here: use {allowed}", headers={"Allow": allowed})
    return HttpProblem(error.status_code, str(error.detail), headers=dict(error.headers or {}))


def allowed_methods(request: Request) -> list[str]:
    """The methods of all routes with this path; the framework reports only those of the first."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches({**request.scope, "root_path": ""})[0] is not Match.NONE:
            found |= set(getattr(route, "methods", None) or ())
    if "GET" in found:
        found.add("HEAD")
    return sorted(found)
