"""The bytes of a tile as a response: conditional requests, ranges, and zero-copy sending.

Bytes in the page cache are sent with sendfile(2), or copied if TLS is used. Only files that must be read from disk, and
objects in a store, are read in a thread.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gribmill.server.data.byte_ranges import FilePart, RangeOutsideFile, parse_ranges
from gribmill.server.etag import has_current, wants_other
from gribmill.server.file_sender import EXTENSION, NO_WAIT, FileSender
from gribmill.server.problems import HttpProblem
from gribmill.storage.object_path import ObjectPath, StoredPath
from gribmill.tiles.format.npz_reader import Identity, identity_of

MEDIA_TYPE = "application/x-npz"
# The memory that a slow client occupies.
CHUNK_BYTES = 256 * 2**10
CHUNK_BYTES_REMOTE = 2 * 2**20
RunInThread = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class TileFacts:
    """A tile at one moment: `tag` identifies its content, `store_tag` is its ETag in the object store."""

    path: StoredPath
    tag: str
    size: int
    built_at: datetime
    identity: Identity
    store_tag: str | None


class TileBytes(Response):
    """Sends parts of a tile, and the multipart text between them. If the tile is replaced meanwhile, the connection is
    closed, so that two versions are never mixed."""

    def __init__(
        self,
        tile: TileFacts,
        pieces: Sequence[FilePart | bytes],
        status_code: int,
        headers: Mapping[str, str],
        run: RunInThread,
        media_type: str = MEDIA_TYPE,
    ) -> None:
        super().__init__(status_code=status_code, headers=dict(headers), media_type=media_type)
        length = sum(one.end - one.begin if isinstance(one, FilePart) else len(one) for one in pieces)
        self.headers["content-length"] = str(length)
        self._tile, self._pieces, self._run = tile, pieces, run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sender: FileSender | None = scope.get("extensions", {}).get(EXTENSION)
        try:
            if scope["method"] == "HEAD":
                await self._send_start(send)
            elif sender is not None and not isinstance(self._tile.path, ObjectPath):
                await self._send_file(self._tile.path, send, sender)
            else:
                await self._send_chunks(send)
        except FileNotFoundError:
            raise HttpProblem(404, f"{self._tile.path.name} was removed") from None
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

    async def _send_chunks(self, send: Send) -> None:
        async with aclosing(self._chunks()) as chunks:
            # Read the first bytes before sending the head: until then, an error can still be the response.
            first = await anext(chunks, b"")
            await self._send_start(send)
            await send({"type": "http.response.body", "body": first, "more_body": True})
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def _send_file(self, path: Path, send: Send, sender: FileSender) -> None:
        with self._opened(path) as file:
            await self._send_start(send)
            for piece in self._pieces:
                if isinstance(piece, bytes):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                    continue
                at = piece.begin
                while (at := await sender.send(file, at, piece.end)) < piece.end:
                    chunk = await self._read(file, piece, at)
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    at += len(chunk)

    async def _chunks(self) -> AsyncGenerator[bytes | memoryview, None]:
        for piece in self._pieces:
            if isinstance(piece, bytes):
                yield piece
            else:
                async for chunk in self._part(piece):
                    yield chunk

    def _part(self, part: FilePart) -> AsyncGenerator[bytes | memoryview, None]:
        path = self._tile.path
        return self._remote_part(path, part) if isinstance(path, ObjectPath) else self._local_part(path, part)

    async def _remote_part(self, path: ObjectPath, part: FilePart) -> AsyncGenerator[bytes | memoryview, None]:
        for at in range(part.begin, part.end, CHUNK_BYTES_REMOTE):
            until = min(at + CHUNK_BYTES_REMOTE, part.end)
            yield bytes(await self._run(path.read_range, at, until, self._tile.store_tag))

    async def _local_part(self, path: Path, part: FilePart) -> AsyncGenerator[bytes | memoryview, None]:
        with self._opened(path) as file:
            at = part.begin
            while at < part.end:
                chunk = await self._read(file, part, at)
                yield chunk
                at += len(chunk)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[int]:
        """Open the file and yield its descriptor, if it is still the same file."""
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if identity_of(os.fstat(file)) != self._tile.identity:
                raise HttpProblem(503, f"{path.name} is being replaced: try again", headers={"Retry-After": "1"})
            yield file
        finally:
            os.close(file)

    async def _read(self, file: int, part: FilePart, at: int) -> bytes | memoryview:
        """The next bytes of a part."""
        size = min(CHUNK_BYTES, part.end - at)
        if NO_WAIT:
            buffer = bytearray(size)
            try:
                count = os.preadv(file, [buffer], at, NO_WAIT)
                if count > 0:
                    return memoryview(buffer)[:count]
            except OSError:
                pass  # not in the page cache, or RWF_NOWAIT is not supported
        found: bytes = await self._run(os.pread, file, size, at)
        if not found:
            raise RuntimeError(f"{self._tile.path} became shorter while it was sent")
        return found


def tile_response(
    tile: TileFacts, request_headers: Headers, version: str | None, run: RunInThread, facts: Mapping[str, str]
) -> Response:
    """The response to a request for a tile: 200, 206 or 304; raises problems 404, 412 and 416.

    `version` is the tag in the URL; content under a URL with a tag never changes and may be cached as immutable.
    `facts` are headers that name the run.
    """
    path, tag, size = tile.path, tile.tag, tile.size
    if version is not None and version != tag:
        raise HttpProblem(404, f"{path.name} was replaced: this version no longer exists")
    etag = f'"{tag}"'
    final = "private, max-age=31536000, immutable" if version else "private, no-cache"
    headers = {"ETag": etag, "Cache-Control": final, "Accept-Ranges": "bytes", **facts}
    if wants_other(request_headers, etag):
        raise HttpProblem(412, f"the ETag of {path.name} is now {etag}")
    if has_current(request_headers, etag):
        return Response(status_code=304, headers=headers)
    asked = request_headers.get("range")
    if (unless := request_headers.get("if-range")) and unless.strip() != etag:
        asked = None
    try:
        parts = parse_ranges(asked, size)
    except RangeOutsideFile:
        raise HttpProblem(
            416,
            f"the range is outside the tile, which has {size} bytes",
            headers={"Content-Range": f"bytes */{size}"},
        ) from None
    if not parts:
        return TileBytes(tile, [FilePart(0, size)], 200, headers, run)
    if len(parts) == 1:
        headers["Content-Range"] = _content_range(parts[0], size)
        return TileBytes(tile, parts, 206, headers, run)
    boundary = secrets.token_hex(16)
    kind = f"multipart/byteranges; boundary={boundary}"
    return TileBytes(tile, _multipart(parts, size, boundary), 206, headers, run, kind)


def _multipart(parts: Sequence[FilePart], size: int, boundary: str) -> list[FilePart | bytes]:
    pieces: list[FilePart | bytes] = []
    for part in parts:
        lines = (f"--{boundary}", f"Content-Type: {MEDIA_TYPE}", f"Content-Range: {_content_range(part, size)}", "", "")
        pieces += [("\r\n" * bool(pieces) + "\r\n".join(lines)).encode(), part]
    return [*pieces, f"\r\n--{boundary}--\r\n".encode()]


def _content_range(part: FilePart, size: int) -> str:
    return f"bytes {part.begin}-{part.end - 1}/{size}"
