"""Errors of tokens."""

from __future__ import annotations

from gribmill.errors import GribmillError


class AccessError(GribmillError):
    """A token cannot be created or changed as requested; the message says why."""


class TokenNotFound(AccessError):
    """There is no token with that id."""
