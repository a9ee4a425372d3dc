"""Health checks: liveness and readiness."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from gribmill.server.context import Server
from gribmill.server.router import SecuredRouter
from gribmill.version import __version__

router = SecuredRouter(tag="health")


class Liveness(BaseModel):
    """`ok`, and the version of the server."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@router.get("/healthz")
async def healthz() -> Liveness:
    """The process is up. Does not check the database."""
    return Liveness()


@router.get("/readyz")
async def readyz(server: Server) -> Liveness:
    """The database responds; 503 otherwise."""

    def look() -> None:
        with server.store.database.read() as tx:
            tx.any_trigger_due(())

    await server.run(look)
    return Liveness()
