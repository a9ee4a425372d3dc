"""Errors of the sandbox."""

from __future__ import annotations

from gribmill.errors import GribmillError


class SandboxError(GribmillError):
    """A folder or fault cannot be served, or a forecast cannot be generated."""
