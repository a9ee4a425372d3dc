"""What a request to a publisher can end in, other than well."""

from __future__ import annotations

from gribmill.ingest.errors import IngestError


class SourceError(IngestError):
    """A request that did not bring what was asked for; the sentence names the address."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, _printable(reason)
        super().__init__(f"{_printable(url)}: {self.reason}")


class NotThere(SourceError):
    """Not published yet, or no longer kept: nothing is wrong with the mirror."""


class RateLimited(SourceError):
    """The host, or our own limit for it, asks to come back after so many seconds."""

    def __init__(self, url: str, reason: str, retry_after_seconds: float) -> None:
        super().__init__(url, reason)
        self.retry_after_seconds = retry_after_seconds


class Broken(SourceError):
    """The host, or the way to it, is out of order: another mirror, or the same one later."""

    def __init__(self, url: str, reason: str, status: int | None = None) -> None:
        super().__init__(url, reason)
        self.status = status


class Untrusted(SourceError):
    """An answer that must not be used: it is not the bytes that were asked for."""


class Changed(Untrusted):
    """The object is no longer the one that the first bytes came from: start again."""


class TooLarge(Untrusted):
    """More bytes than anything of this kind has."""


class NoRanges(Untrusted):
    """The whole object instead of a range: this host, or something on the way to it, knows no ranges."""


class PastEnd(Untrusted):
    """The object ends before the bytes that were asked for."""


def _printable(text: str) -> str:
    """Hosts choose some of the words, and a terminal obeys control characters: these are written as escapes."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
