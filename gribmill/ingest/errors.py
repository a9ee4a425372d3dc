"""Errors of models, indexes and downloads."""

from __future__ import annotations

from gribmill.errors import GribmillError


class IngestError(GribmillError):
    """An error of a model, an index or a download."""


class ModelError(IngestError):
    """A model's description cannot be used, or a model does not exist."""


class BadIndex(IngestError):
    """An index file that cannot be trusted: read the GRIB file by its headers, or try another mirror."""

    def __init__(self, source: str, line: int | None, reason: str) -> None:
        self.source, self.line, self.reason = source, line, reason
        super().__init__(f"{source}{'' if line is None else f', line {line}'}: {reason}")


class WrongRun(BadIndex):
    """An index for a different run than the requested one."""
