"""The data root and catalogue of the pipeline's tests."""

from __future__ import annotations

from tests.pipeline.conftest import context, scribe, settings

__all__ = ["context", "scribe", "settings"]
