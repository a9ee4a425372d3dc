"""Where the server listens: a bound socket, and the allowed addresses. Cheap to import, for `gribmill run`."""

from __future__ import annotations

import ipaddress
import socket
import sys

from gribmill.errors import GribmillError
from gribmill.settings.schema import ServerSettings

# A connection is dropped if its peer acknowledges nothing for this long.
STALLED_SECONDS = 60


class ServeError(GribmillError):
    """The server cannot listen as configured."""


def check_exposure(settings: ServerSettings, *, dev: bool) -> None:
    """Refuse settings that would send tokens unencrypted, or allow remote access without a token."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise ServeError("TLS needs both a certificate and its key: --tls-cert and --tls-key")
    if is_loopback(settings.host):
        return
    if dev:
        raise ServeError(f"--dev lets anybody change anything: it is only for loopback, not for {settings.host}")
    if settings.tls_cert is None and not settings.behind_proxy:
        raise ServeError(
            f"{settings.host} can be reached from other machines: give --tls-cert and --tls-key,"
            " or set server.behind_proxy = true if a proxy in front of it terminates TLS"
        )


def is_loopback(host: str) -> bool:
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; raises ServeError if the address cannot be used."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _give_up_stalled_connections(listening)
        listening.bind(address)
    except OSError as error:
        raise ServeError(f"cannot listen on {host} port {port}: {error.strerror or error}") from None
    listening.set_inheritable(True)
    return listening


def _give_up_stalled_connections(listening: socket.socket) -> None:
    """Let Linux close half-open and stalled connections. Accepted connections inherit both options."""
    if sys.platform == "linux":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, STALLED_SECONDS)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_SECONDS * 1000)


def url_of(listening: socket.socket, *, tls: bool) -> str:
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if tls else 'http'}://{shown}:{port}"
