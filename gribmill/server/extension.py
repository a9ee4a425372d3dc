"""What a package above the server adds to it. The server does not import that package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp

from gribmill.server.router import SecuredRouter


@dataclass(frozen=True, slots=True)
class Extension:
    """Routes, and middleware that sees requests before those routes do."""

    routers: tuple[SecuredRouter, ...] = ()
    middleware: tuple[Callable[[ASGIApp], ASGIApp], ...] = ()
