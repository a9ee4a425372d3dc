"""Clients of the HTTP API: `gribmill.Client` and `gribmill.AsyncClient`. Needs the extra `client`."""

__all__ = ["async_client", "client"]
