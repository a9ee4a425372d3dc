"""Validates values packed as a JPEG 2000 or PNG image: rejects damaged images and those without one pixel per value."""

from __future__ import annotations

import zlib

from gribmill.grib.errors import GribError
from gribmill.grib.octets import unsigned

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The octet holds the number of bits minus one; its first bit is set for signed values.
JPEG_DEEPEST = 31
# Bits per pixel by colour type and bit depth, for the PNG images that GRIB2 allows: grey, RGB, RGB with alpha.
PNG_PIXEL_BITS = {(0, 8): 8, (0, 16): 16, (2, 8): 24, (6, 8): 32}


def check_jpeg(data: memoryview, values: int) -> None:
    """Raise GribError unless the SIZ marker at the start of the code stream describes one pixel per value.

    ecCodes aborts the process if the image does not have exactly one unsigned component.
    """
    if bytes(data[:4]) != b"\xff\x4f\xff\x51" or len(data) < 45:
        raise GribError("its packed image is not a JPEG 2000 code stream")
    components, depth, steps = unsigned(data, 41, 42), unsigned(data, 43, 43), bytes(data[43:45])
    if components != 1 or depth >= JPEG_DEEPEST or steps != b"\1\1":
        raise GribError("its packed image does not have exactly one unsigned component")
    right, bottom, left, top = (unsigned(data, place, place + 3) for place in (9, 13, 17, 21))
    _check_pixels(max(right - left, 0) * max(bottom - top, 0), values)


def check_png(data: memoryview, values: int, bits: int) -> None:
    """Raise GribError unless the header chunk describes one pixel per value, and every chunk is within the data.

    Otherwise ecCodes aborts the process; it does so too if a pixel has fewer or more bytes than a value.
    """
    if bytes(data[:8]) != PNG_SIGNATURE or bytes(data[12:16]) != b"IHDR":
        raise GribError("its packed image is not a PNG")
    _check_pixels(unsigned(data, 17, 20) * unsigned(data, 21, 24), values)
    depth, colour = unsigned(data, 25, 25), unsigned(data, 26, 26)
    if PNG_PIXEL_BITS.get((colour, depth)) != (bits + 7) // 8 * 8:
        raise GribError(f"its packed image of depth {depth} and colour type {colour} cannot hold {bits}-bit values")
    place, kind = len(PNG_SIGNATURE), b""
    while kind != b"IEND":
        if place + 12 > len(data):
            raise GribError("its packed image is truncated")
        length, kind = unsigned(data, place + 1, place + 4), bytes(data[place + 4 : place + 8])
        end = place + 12 + length
        if end > len(data) or zlib.crc32(data[place + 4 : end - 4]) != unsigned(data, end - 3, end):
            raise GribError("its packed image is damaged")
        place = end


def _check_pixels(pixels: int, values: int) -> None:
    if pixels != values:
        raise GribError(f"its packed image has {pixels} pixels for {values} values")
