"""Compresses responses with zstd or gzip, for clients that accept it.

Compression can reveal a secret that shares a response with text chosen by an attacker (BREACH). Here it cannot:
only responses to GET are compressed, secrets appear only in responses to POST, pages have no CSRF tokens, and a
request that another site makes a browser send carries no session (SameSite=Strict).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import zstandard
from isal import igzip
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Shorter responses fit into one packet uncompressed.
LEAST_BYTES = 1000
# Larger ones are compressed in a thread, so that they do not block other requests.
MOST_AT_ONCE = 200_000
# Text formats. Tiles, pictures and Arrow are already compressed; event streams must not be buffered.
TEXT_TYPES = frozenset({"application/json", "application/javascript", "image/svg+xml"})
NOT_AS_A_WHOLE = frozenset({204, 206, 304})


def compress_zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(body)


def compress_gzip(body: bytes) -> bytes:
    return igzip.compress(body, 1)


# In order of preference, if a client accepts several equally.
ENCODINGS: Mapping[str, Callable[[bytes], bytes]] = {"zstd": compress_zstd, "gzip": compress_gzip}


class ResponseCompression:
    """Compresses complete text responses to GET and HEAD. Ranges, streams and everything else pass unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        wanted = None if "range" in headers else chosen_encoding(headers.get("accept-encoding", ""))
        answer = _Answer(send, wanted)
        await self._app(scope, receive, answer.send)


class _Answer:
    """Holds back the head of a response until its body is known to be complete."""

    def __init__(self, send: Send, encoding: str | None) -> None:
        self._send = send
        self._encoding = encoding
        self._head: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and is_text(message):
            vary(message)
            if self._encoding is not None:
                self._head = message
                return
        elif self._head is not None:
            head, self._head = self._head, None
            body = message.get("body", b"")
            if not message.get("more_body") and len(body) >= LEAST_BYTES and self._encoding is not None:
                message = {**message, "body": await self._compressed(head, bytes(body), self._encoding)}
            await self._send(head)
        await self._send(message)

    async def _compressed(self, head: Message, body: bytes, encoding: str) -> bytes:
        compress = ENCODINGS[encoding]
        small = compress(body) if len(body) <= MOST_AT_ONCE else await asyncio.to_thread(compress, body)
        headers = MutableHeaders(scope=head)
        headers["Content-Encoding"], headers["Content-Length"] = encoding, str(len(small))
        if (tag := headers.get("etag", "")).startswith('"'):
            headers["ETag"] = f"W/{tag}"  # weak: the bytes differ, the content does not; routes compare weakly
        return small


def is_text(start: Message) -> bool:
    """Whether a response may be compressed, judging by its head."""
    headers = Headers(raw=start["headers"])
    if start["status"] in NOT_AS_A_WHOLE or "content-encoding" in headers or "content-range" in headers:
        return False
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        return False
    return kind.startswith("text/") or kind.endswith("+json") or kind in TEXT_TYPES


def vary(start: Message) -> None:
    headers = MutableHeaders(scope=start)
    headers.add_vary_header("Accept-Encoding")


def chosen_encoding(accepted: str) -> str | None:
    """The encoding that the client prefers; None if it accepts none of ours."""
    weights: dict[str, float] = {}
    for one in accepted.lower().split(",")[:20]:
        name, _, parameter = one.partition(";")
        weights[name.strip()] = _weight(parameter)
    found = {name: weights.get(name, weights.get("*", 0.0)) for name in ENCODINGS}
    best = max(found, key=lambda name: found[name])
    return best if found[best] > 0 else None


def _weight(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return min(1.0, max(0.0, float(value)))
    except ValueError:
        return 0.0
