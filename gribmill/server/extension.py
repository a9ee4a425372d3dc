"""Extensions: what other packages add to the server, without the server importing them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.types import ASGIApp

from gribmill.server.router import SecuredRouter


@dataclass(frozen=True, slots=True)
class Extension:
    """Routes, and middleware that runs before them."""

    routers: tuple[SecuredRouter, ...] = ()
    middleware: tuple[Callable[[ASGIApp], ASGIApp], ...] = ()
    warm_up: Callable[[FastAPI], None] | None = None
    """Called in a thread once the server accepts requests, to read what the first request would have to wait for."""
