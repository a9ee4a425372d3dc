"""How clients connect to a server: its URL, the token, and timeouts."""

from __future__ import annotations

import os
import ssl
from typing import Any

from gribmill.errors import GribmillError
from gribmill.queue.remote.server_url import check_server_url
from gribmill.version import __version__

try:
    import httpx
except ModuleNotFoundError:
    raise GribmillError("gribmill.Client needs httpx, which is not installed: pip install 'gribmill[client]'") from None

__all__ = ["httpx", "options"]

CONNECT_SECONDS = 5.0
TOKEN_VARIABLE = "GRIBMILL_TOKEN"  # noqa: S105
# Variables that name a file with the certificates of a private CA, as for other programs.
CA_VARIABLES = ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE")


def options(url: str, token: str | None, timeout_seconds: float) -> dict[str, Any]:
    """Options for an httpx client. Without a token, GRIBMILL_TOKEN is used if it is set."""
    token = token or os.environ.get(TOKEN_VARIABLE)
    headers = {"User-Agent": f"gribmill/{__version__}"} | ({"Authorization": f"Bearer {token}"} if token else {})
    authority = next(filter(None, map(os.environ.get, CA_VARIABLES)), None)
    return {
        "base_url": check_server_url(url),
        "headers": headers,
        "timeout": httpx.Timeout(timeout_seconds, connect=CONNECT_SECONDS),
        "verify": ssl.create_default_context(cafile=authority) if authority else True,
        "trust_env": False,  # no netrc: the token is the only credential
    }
