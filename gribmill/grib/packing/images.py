"""Values packed as a JPEG 2000 or PNG image.

Damaged images, and images without one pixel per value, are rejected before ecCodes decodes them. PNG images that are
too wide for ecCodes are decoded here: libpng rejects more than a million pixels per row. If a field has a bitmap, its
values form a single row of pixels.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError
from gribmill.grib.packing.describe import FieldPacking
from gribmill.grib.sections import BITMAP_FOLLOWS, Sections2, unsigned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The octet holds the number of bits minus one; its first bit is set for signed values.
JPEG_DEEPEST = 31
# Bits per pixel by colour type and bit depth, for the PNG images that GRIB2 allows: grey, RGB, RGB with alpha.
PNG_PIXEL_BITS = {(0, 8): 8, (0, 16): 16, (2, 8): 24, (6, 8): 32}
LIBRARY_LIMIT = 1_000_000
PNG_TEMPLATES = {41, 40010}
SUB, UP, AVERAGE, PAETH = 1, 2, 3, 4


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


def too_wide(sections: Sections2, packing: FieldPacking) -> bool:
    """Whether the field is packed as a PNG image that ecCodes rejects because of its size."""
    image = sections.data[5:]
    if packing.template not in PNG_TEMPLATES or not packing.bits or not packing.coded or len(image) < 33:
        return False
    return max(unsigned(image, 17, 20), unsigned(image, 21, 24)) > LIBRARY_LIMIT


def decode_wide_png(sections: Sections2, packing: FieldPacking) -> NDArray[np.float64]:
    """The values in the message's order, NaN where missing; computed with the same operations as in ecCodes."""
    import numpy as np

    assert packing.reference is not None and packing.binary is not None and packing.decimal is not None
    integers = pixels(sections.data[5:])
    values = (integers * 2.0**packing.binary + packing.reference) * 10.0**-packing.decimal
    if sections.bitmap[5] != BITMAP_FOLLOWS:
        return values
    present = np.unpackbits(np.frombuffer(sections.bitmap[6:], np.uint8), count=packing.points).view(np.bool_)
    whole = np.full(packing.points, np.nan)
    whole[present] = values[: int(present.sum())]
    return whole


def pixels(image: memoryview) -> NDArray[np.float64]:
    """The pixels of a grey, RGB or RGBA image, row by row, as unsigned numbers of one to four octets."""
    import numpy as np

    width, height, depth, colour = (unsigned(image, *octets) for octets in ((17, 20), (21, 24), (25, 25), (26, 26)))
    if unsigned(image, 29, 29) != 0:
        raise GribError("its packed image is interlaced, which is not supported")
    size = PNG_PIXEL_BITS[colour, depth] // 8
    raw = _inflated(image, height * (1 + width * size))
    rows = np.empty((height, width, size), np.uint8)
    above = np.zeros((width, size), np.uint8)
    for row, line in enumerate(np.frombuffer(raw, np.uint8).reshape(height, 1 + width * size)):
        above = rows[row] = _unfiltered(int(line[0]), line[1:].reshape(width, size), above)
    numbers = np.zeros(height * width, np.float64)
    for octet in range(size):
        numbers = numbers * 256.0 + rows[:, :, octet].ravel()
    return numbers


def _inflated(image: memoryview, expected: int) -> bytes:
    place, packed = len(PNG_SIGNATURE), []
    while place + 12 <= len(image):
        length, kind = unsigned(image, place + 1, place + 4), bytes(image[place + 4 : place + 8])
        if kind == b"IDAT":
            packed.append(bytes(image[place + 8 : place + 8 + length]))
        place += 12 + length
    try:
        # One byte more than expected: this limits the output of a decompression bomb.
        raw = zlib.decompressobj().decompress(b"".join(packed), expected + 1)
    except zlib.error as error:
        raise GribError(f"its packed image is damaged: {error}") from None
    if len(raw) != expected:
        raise GribError(f"its packed image inflates to {len(raw)} bytes instead of {expected}")
    return raw


def _unfiltered(kind: int, line: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Reverses the filter of one row of pixels (PNG specification, section 9)."""
    import numpy as np

    if kind == 0:
        return line
    # With zeros above, as in the first row, the Paeth predictor is always the left pixel.
    if kind == SUB or (kind == PAETH and not above.any()):
        return np.cumsum(line, axis=0, dtype=np.uint8)
    if kind == UP:
        return line + above
    if kind not in (AVERAGE, PAETH):
        raise GribError(f"its packed image has a row with filter {kind}, which does not exist")
    columns = [_one_by_one(kind, line[:, octet].tolist(), above[:, octet].tolist()) for octet in range(line.shape[1])]
    return np.array(columns, np.uint8).T


def _one_by_one(kind: int, line: list[int], above: list[int]) -> list[int]:
    """Unfilters one octet of each pixel, for filters in which each pixel depends on the previous one."""
    found, left, corner = [], 0, 0
    for octet, up in zip(line, above, strict=True):
        if kind == AVERAGE:
            left = (octet + (left + up) // 2) & 255
        else:
            guess = left + up - corner
            near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))
            left = (octet + near[2]) & 255
        corner = up
        found.append(left)
    return found
