"""Decodes PNG images that are too wide for ecCodes: libpng rejects more than a million pixels per row.

If a field has a bitmap, its values form a single row of pixels.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from gribmill.grib.errors import GribError
from gribmill.grib.octets import unsigned
from gribmill.grib.packing.describe import FieldPacking
from gribmill.grib.packing.images import PNG_PIXEL_BITS, PNG_SIGNATURE
from gribmill.grib.sections import BITMAP_FOLLOWS, Sections2

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIBRARY_LIMIT = 1_000_000
PNG_TEMPLATES = {41, 40010}
SUB, UP, AVERAGE, PAETH = 1, 2, 3, 4


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
