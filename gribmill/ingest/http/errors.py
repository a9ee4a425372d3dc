"""How a request to a publisher can fail."""

from __future__ import annotations

import re

from gribmill.ingest.errors import IngestError

_ADDRESS = re.compile(r"\b(?:https?|file)://\S*: ")


class SourceError(IngestError):
    """A request that did not return what was requested; the message starts with the address."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, _printable(reason)
        super().__init__(f"{_printable(url)}: {self.reason}")


class NotThere(SourceError):
    """Not published yet, or no longer kept: nothing is wrong with the mirror."""


class RateLimited(SourceError):
    """The host, or our own limit for it, asks to retry after that many seconds."""

    def __init__(self, url: str, reason: str, retry_after_seconds: float) -> None:
        super().__init__(url, reason)
        self.retry_after_seconds = retry_after_seconds


class Broken(SourceError):
    """The host or the network failed: try another mirror, or the same one later."""

    def __init__(self, url: str, reason: str, status: int | None = None) -> None:
        super().__init__(url, reason)
        self.status = status


class Untrusted(SourceError):
    """A response that must not be used: it is not what was requested."""


class Changed(Untrusted):
    """The object was replaced since its first bytes were read: start again."""


class TooLarge(Untrusted):
    """More bytes than the limit for this kind of object."""


class NoRanges(Untrusted):
    """The whole object came instead of a range: the host, or a proxy, does not support ranges."""


class PastEnd(Untrusted):
    """The object ends before the requested bytes."""


def without_addresses(text: str) -> str:
    """The reason of one or several SourceErrors without the addresses, for short lines."""
    return _ADDRESS.sub("", text)


def _printable(text: str) -> str:
    """Escapes control characters: part of the text comes from hosts, and terminals act on them."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
