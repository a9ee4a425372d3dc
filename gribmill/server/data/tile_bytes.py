"""The bytes of a tile as an answer: conditional requests, ranges, and sending without copies in between.

Bytes of a file that the system has in memory are sent at once; only a file that must come from the disk, or an object
from its store, is read in a thread.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gribmill.server.data.byte_ranges import FilePart, RangeOutsideFile, parse_range
from gribmill.server.problems import HttpProblem
from gribmill.storage.object_path import ObjectPath, StoredPath

MEDIA_TYPE = "application/x-npz"
CHUNK_BYTES = 2**20
CHUNK_BYTES_REMOTE = 4 * 2**20
RunInThread = Callable[..., Awaitable[Any]]
# Linux: the bytes that are in memory, or an error instead of waiting for the disk.
_NO_WAIT = getattr(os, "RWF_NOWAIT", 0)


class TileBytes(Response):
    """Sends a part of a tile. A tile that was replaced meanwhile breaks the connection off rather than mix two."""

    def __init__(
        self,
        path: StoredPath,
        part: FilePart,
        status_code: int,
        headers: Mapping[str, str],
        run: RunInThread,
        etag: str | None,
    ) -> None:
        super().__init__(status_code=status_code, headers=dict(headers), media_type=MEDIA_TYPE)
        self.headers["content-length"] = str(part.end - part.begin)
        self._path, self._part, self._run, self._etag = path, part, run, etag

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole = scope["method"] != "HEAD"
        async with contextlib.aclosing(self._chunks() if whole else _nothing()) as chunks:
            first = await anext(chunks, b"")
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": first, "more_body": True})
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _chunks(self) -> AsyncGenerator[bytes | memoryview, None]:
        begin, end = self._part
        if isinstance(self._path, ObjectPath):
            for at in range(begin, end, CHUNK_BYTES_REMOTE):
                until = min(at + CHUNK_BYTES_REMOTE, end)
                yield bytes(await self._run(self._path.read_range, at, until, self._etag))
            return
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            at = begin
            while at < end:
                chunk = await self._read(descriptor, min(CHUNK_BYTES, end - at), at)
                if not chunk:
                    raise RuntimeError(f"{self._path} became shorter while it was sent")
                yield chunk
                at += len(chunk)
        finally:
            os.close(descriptor)

    async def _read(self, descriptor: int, size: int, at: int) -> bytes | memoryview:
        if _NO_WAIT:
            buffer = bytearray(size)
            try:
                count = os.preadv(descriptor, [buffer], at, _NO_WAIT)
                if count > 0:
                    return memoryview(buffer)[:count]
            except OSError:
                pass  # not in memory, or a file system that cannot tell
        found: bytes = await self._run(partial(os.pread, descriptor, size, at))
        return found


async def _nothing() -> AsyncGenerator[bytes | memoryview, None]:
    return
    yield b""


@dataclass(frozen=True, slots=True)
class TileFacts:
    """A tile as a look found it: `tag` tells its contents apart, `store_tag` is the ETag in its object store."""

    path: StoredPath
    tag: str
    size: int
    store_tag: str | None


def tile_response(
    tile: TileFacts, request_headers: Mapping[str, str], version: str | None, run: RunInThread
) -> Response:
    """The answer to a request for a tile: 200, 206, 304; 404, 412 and 416 are problems.

    `version` is the tag in the address: such an address has one content for ever, and may be kept without asking.
    """
    path, tag, size = tile.path, tile.tag, tile.size
    if version is not None and version != tag:
        raise HttpProblem(404, f"{path.name} was replaced: this version of it does not exist any more")
    etag = f'"{tag}"'
    final = "private, max-age=31536000, immutable" if version else "private, no-cache"
    headers = {"ETag": etag, "Cache-Control": final, "Accept-Ranges": "bytes"}
    if _matches(request_headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    if (match := request_headers.get("if-match")) and not _matches(match, etag):
        raise HttpProblem(412, f"{path.name} has another ETag now: {etag}")
    asked = request_headers.get("range")
    if (unless := request_headers.get("if-range")) and unless.strip() != etag:
        asked = None
    try:
        part = parse_range(asked, size)
    except RangeOutsideFile:
        raise HttpProblem(
            416,
            f"the tile has {size} bytes, and the range has none of them",
            headers={"Content-Range": f"bytes */{size}"},
        ) from None
    if part is None:
        return TileBytes(path, FilePart(0, size), 200, headers, run, tile.store_tag)
    headers["Content-Range"] = f"bytes {part.begin}-{part.end - 1}/{size}"
    return TileBytes(path, part, 206, headers, run, tile.store_tag)


def _matches(header: str | None, etag: str) -> bool:
    """Whether one of the tags of If-None-Match or If-Match is this one (weak comparison), or any will do."""
    if header is None:
        return False
    return header.strip() == "*" or any(one.strip().removeprefix("W/") == etag for one in header.split(","))
