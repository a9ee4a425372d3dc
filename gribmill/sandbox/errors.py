"""Errors of the sandbox."""

from __future__ import annotations

from gribmill.errors import GribmillError


class SandboxError(GribmillError):
    """A folder or fault that cannot be served, or a forecast that cannot be generated."""
