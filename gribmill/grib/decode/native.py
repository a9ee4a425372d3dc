"""Decodes fields directly into float32 windows with the native kernel, or declines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from gribmill.arrays import Values
from gribmill.grib.grid.rows import ScanLayout
from gribmill.grib.packing.validate import POINT_LIMIT
from gribmill.grib.product.grib2 import TEMPLATES
from gribmill.grib.sections import Sections2, unsigned
from gribmill.kernel import native
from gribmill.regions.window import Window

# The memory of whole fields is reused once they are no longer referenced: fresh pages cost a quarter of the decoding
# time. Two fields (the current and the previous one) are kept, except on the largest grids, to limit memory use.
MOST_KEPT = 2
KEPT_POINTS = range(2**18, 2**22)
_kept: list[NDArray[np.float32]] = []


def _references(held: list[NDArray[np.float32]]) -> int:
    """The reference count of the only array in a list. It depends on the Python version, and since 3.14 on how the
    array is reached, so it is compared only with that of an unreferenced one, counted here too."""
    return sys.getrefcount(held[0])


UNREFERENCED = _references([np.empty(0, np.float32)])


def empty_field(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """An uninitialised array of this shape."""
    points = prod(shape)
    if points not in KEPT_POINTS:
        return np.empty(shape, np.float32)
    base = _free(points)
    if base is None:
        base = np.empty(points, np.float32)
    _kept.append(base)
    del _kept[:-MOST_KEPT]
    # A view references its base, so the base is not reused while a view exists.
    return base.reshape(shape)


def _free(points: int) -> NDArray[np.float32] | None:
    """An unused array of that size, removed from the list so that no other thread can take it."""
    for _ in range(len(_kept)):
        try:
            held = [_kept.pop(0)]
        except IndexError:
            return None
        if held[0].size == points and _references(held) == UNREFERENCED:
            return held.pop()
        _kept.append(held.pop())
    return None


# Grid definition templates that every ecCodes release supports, and the length of their section. ecCodes rejects other
# templates and shorter sections, so the kernel must not decode them.
GRIDS = {0: 72, 1: 84, 10: 72, 20: 65, 30: 81, 40: 72}
# ecCodes rejects products of S2S, the archive of sub-seasonal forecasts, with an unknown statistical process. These are
# the production statuses of S2S (code table 1.3) and the processes that ecCodes knows (code table 4.10).
S2S = {6, 7}
NAMED_STATISTICS = {*range(12), 100, 101, 102, 255}
# The kernel's limit for one call; for more regions, ecCodes decodes the field.
MAX_WINDOWS = 4096


def decode_windows(
    sections: Sections2, points: int, layout: ScanLayout, windows: Sequence[Window] | None, out: Values | None = None
) -> list[Values] | None:
    """The values of each window, or of the whole grid (into `out` if given); None if ecCodes must decode the field.

    The values are bitwise equal to ecCodes' float64 values cast to float32. Sections that contradict each other are
    always left to the checks before ecCodes, so that errors are the same with and without the kernel.
    """
    if not native.available() or not _known(sections) or layout.ny * layout.nx != points or points > POINT_LIMIT:
        return None
    chosen = [Window(slice(0, layout.ny), (slice(0, layout.nx),))] if windows is None else list(windows)
    if not 0 < len(chosen) <= MAX_WINDOWS:
        return None
    if out is not None:
        arrays: tuple[Values, ...] = (out,)
    elif windows is None:
        arrays = (empty_field(chosen[0].shape),)
    else:
        arrays = tuple(np.empty(window.shape, np.float32) for window in chosen)
    if out is not None and (windows is not None or not _fits(out, layout)):
        return None
    declined = native.decode_field(
        sections.packing, sections.bitmap, sections.data, points, layout.ny, layout.nx, layout.scanning,
        np.array([_numbers(window) for window in chosen], np.uint32), arrays,
    )  # fmt: skip
    return None if declined else list(arrays)


def _fits(out: Values, layout: ScanLayout) -> bool:
    return out.shape == (layout.ny, layout.nx) and out.dtype == np.float32 and out.flags.carray


def _known(sections: Sections2) -> bool:
    """Whether ecCodes is certain to accept the headers: it rejects lists that overrun their section."""
    grid, product = sections.grid, sections.product
    if unsigned(grid, 11, 12) or unsigned(product, 6, 7):
        return False
    template = unsigned(grid, 13, 14)
    if template not in GRIDS or len(grid) < GRIDS[template] or len(product) < _product_length(product):
        return False
    return unsigned(sections.identification, 20, 20) not in S2S or _statistics(product) <= NAMED_STATISTICS


def _product_length(product: bytes) -> int:
    """The minimum length of the product section; for an unknown template, longer than any section."""
    template = TEMPLATES.get(unsigned(product, 8, 9))
    if template is None or not template.surfaces:
        return sys.maxsize
    end = template.end_of_time_range
    return end + 11 + 12 * unsigned(product, end + 7, end + 7) if template.time_range else end - 1


def _statistics(product: bytes) -> set[int]:
    """The statistical process of each time range (code table 4.10)."""
    template = TEMPLATES[unsigned(product, 8, 9)]
    if not template.time_range:
        return set()
    return set(product[template.end_of_time_range + 11 : _product_length(product) : 12])


def _numbers(window: Window) -> tuple[int, ...]:
    seam = window.cols[1] if len(window.cols) > 1 else slice(0, 0)
    first = window.cols[0]
    return window.rows.start, window.rows.stop, first.start, first.stop, seam.start, seam.stop
