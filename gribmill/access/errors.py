"""What can be wrong with tokens."""

from __future__ import annotations

from gribmill.errors import GribmillError


class AccessError(GribmillError):
    """A token that cannot be made or changed so; the sentence says why."""


class TokenNotFound(AccessError):
    """There is no token with that id."""
