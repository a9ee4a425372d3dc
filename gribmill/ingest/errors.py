"""Errors of models, indexes and requests to publishers."""

from __future__ import annotations

import re

from gribmill.errors import GribmillError

_ADDRESS = re.compile(r"\b(?:https?|file)://\S*: ")


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


class SourceError(IngestError):
    """A request failed, or returned something else; the message starts with the address."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, _printable(reason)
        super().__init__(f"{_printable(url)}: {self.reason}")


class NotThere(SourceError):
    """The object is not published yet, or no longer kept. This is not a failure of the mirror."""


class RateLimited(SourceError):
    """The host, or our own rate limit for it, asks to retry after that many seconds."""

    def __init__(self, url: str, reason: str, retry_after_seconds: float) -> None:
        super().__init__(url, reason)
        self.retry_after_seconds = retry_after_seconds


class Broken(SourceError):
    """The host or the network failed: try another mirror, or the same one later."""

    def __init__(self, url: str, reason: str, status: int | None = None) -> None:
        super().__init__(url, reason)
        self.status = status


class Untrusted(SourceError):
    """The response must not be used: it is not what was requested."""


class Changed(Untrusted):
    """The object was replaced during the download: start again."""


class TooLarge(Untrusted):
    """More bytes than the limit for this kind of object."""


class NoRanges(Untrusted):
    """The host returned the whole object instead of a range: it, or a proxy, does not support ranges."""


class PastEnd(Untrusted):
    """The object ends before the requested bytes."""


def without_addresses(text: str) -> str:
    """The text of one or more SourceErrors without the addresses, for short lines."""
    return _ADDRESS.sub("", text)


def _printable(text: str) -> str:
    """Escapes control characters: part of the text comes from hosts, and terminals interpret them."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
