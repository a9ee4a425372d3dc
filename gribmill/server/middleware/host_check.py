"""Checks the Host header, to prevent DNS rebinding attacks on browsers."""

from __future__ import annotations

import ipaddress

from starlette.types import ASGIApp, Receive, Scope, Send

from gribmill.server.problems import HttpProblem, problem_response
from gribmill.settings.schema import ServerSettings

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class HostCheck:
    """Responds with 421 unless the Host is in `server.hosts`, the listening address, or loopback; with 400 if there is
    none, or several."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._names = {*LOOPBACK_NAMES, settings.host.lower(), *(name.lower() for name in settings.hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (problem := self._problem(scope)):
            await problem_response(problem)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> HttpProblem | None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1:
            return HttpProblem(400, "a request has exactly one Host header")
        name = host_name(hosts[0])
        if name in self._names or self._is_own_address(scope, name):
            return None
        return HttpProblem(421, "this host name is not allowed; add it to server.hosts")

    def _is_own_address(self, scope: Scope, name: str) -> bool:
        """Whether the host is the connection's own IP address, which unlike a name cannot be rebound."""
        try:
            return scope.get("server") is not None and ipaddress.ip_address(name) == ipaddress.ip_address(
                scope["server"][0]
            )
        except ValueError:
            return False


def host_name(host: str) -> str:
    """The name in a Host header, without the port and the brackets of an IPv6 address."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
