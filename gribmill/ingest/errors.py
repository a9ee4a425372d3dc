"""Errors of models, indexes and downloads."""

from __future__ import annotations

from gribmill.errors import GribmillError


class IngestError(GribmillError):
    """An error of a model, an index or a download."""


class ModelError(IngestError):
    """A model's description is not valid, or a model does not exist."""


class BadIndex(IngestError):
    """The index file cannot be trusted: use the headers of the GRIB file instead, or try another mirror."""

    def __init__(self, source: str, line: int | None, reason: str) -> None:
        self.source, self.line, self.reason = source, line, reason
        super().__init__(f"{source}{'' if line is None else f', line {line}'}: {reason}")


class WrongRun(BadIndex):
    """The index is for a different run than requested."""
