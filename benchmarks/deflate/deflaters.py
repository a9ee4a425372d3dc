"""Ways to deflate one array as a ZIP member: each returns the deflated bytes, after the CRC-32 was computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import deflate
from isal import isal_zlib

from benchmarks.deflate.tile_arrays import Array
from gribmill.kernel import native
from gribmill.tiles.format.npz_writer import encode_member, npy_header

Deflater = Callable[[Array], Any]
KIB = 1024


def own() -> Deflater:
    """As tiles are written: with restart points every 16 KiB where the array is larger, and with statistics."""
    return lambda array: encode_member("x", array).data


def isal(level: int, block: int) -> Deflater:
    """ISA-L, with a full flush after every `block` raw bytes, where a reader can start."""

    def run(array: Array) -> bytes:
        header, body = npy_header(array.dtype, array.shape), array.reshape(-1).view("u1").data
        if len(header) + len(body) <= block:
            raw = header + body
            isal_zlib.crc32(raw)
            return isal_zlib.compress(raw, level, -15)
        compressor: Any = isal_zlib.compressobj(level, isal_zlib.DEFLATED, -15)
        pieces, crc = [compressor.compress(header)], isal_zlib.crc32(header)
        for start in range(0, len(body), block):
            part = body[start : start + block]
            crc = isal_zlib.crc32(part, crc)
            last = start + block >= len(body)
            pieces += (compressor.compress(part), compressor.flush(4 if last else 3))  # Z_FINISH, Z_FULL_FLUSH
        return b"".join(pieces)

    return run


def libdeflate(level: int) -> Deflater:
    """libdeflate, whose streams can only be read from the beginning."""

    def run(array: Array) -> Any:
        raw = npy_header(array.dtype, array.shape) + array.reshape(-1).view("u1").data
        isal_zlib.crc32(raw)
        return deflate.deflate_compress(raw, level)

    return run


def with_statistics(deflater: Deflater) -> Deflater:
    """The kernel sums up float32 values while it deflates them; others take a second pass."""

    def run(array: Array) -> Any:
        native.summarize(array)
        return deflater(array)

    return run
