"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from gribmill.server.context import Server
from gribmill.server.router import SecuredRouter
from gribmill.version import __version__

router = SecuredRouter(tag="health")


class Liveness(BaseModel):
    """`ok`, and the version that answers."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@router.get("/healthz")
async def healthz() -> Liveness:
    """The process answers. Says nothing about the database."""
    return Liveness()


@router.get("/readyz")
async def readyz(server: Server) -> Liveness:
    """The database answers; 503 otherwise."""

    def look() -> None:
        with server.store.database.read() as tx:
            tx.any_trigger_due(())

    await server.run(look)
    return Liveness()
