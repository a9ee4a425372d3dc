"""What tests of the console use."""

from __future__ import annotations

from tests.console.module_site import site

__all__ = ["site"]
