"""A field: one quantity on one grid, from one message or a part of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gribmill.grib.decode.eccodes import check_local, decode
from gribmill.grib.errors import GribError, damaged
from gribmill.grib.grid.grid_section import has_grid_relative_winds
from gribmill.grib.grid.rows import ScanLayout, check_listed2, layout1, layout2, points1, reduced_rows, to_float32
from gribmill.grib.messages import DamagedMessage, Data, RawMessage, map_file, scan, without_messages
from gribmill.grib.packing.describe import FieldPacking, packing1, packing2
from gribmill.grib.packing.images import decode_wide_png, too_wide
from gribmill.grib.product.grib1 import keys1
from gribmill.grib.product.grib2 import keys2
from gribmill.grib.product.keys import Keys
from gribmill.grib.sections import Sections1, Sections2, sections1, sections2

# NumPy is imported when the first field is decoded: listings start faster without it.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gribmill.regions.grids import Grid
    from gribmill.regions.window import Window


@dataclass(frozen=True, eq=False)
class Field:
    """One field. Values are decoded only on request; the packed bytes stay in the mapped file."""

    source: str
    number: int
    sub: int
    subs: int
    offset: int
    length: int
    keys: Keys
    packing: FieldPacking
    layout: ScanLayout | None
    sections: Sections1 | Sections2 = dataclasses.field(repr=False)
    raw: memoryview = dataclasses.field(repr=False)

    @property
    def label(self) -> str:
        """The message number as in an index: `12`, or `12.2` for the second field of message 12."""
        return str(self.number) if self.subs == 1 else f"{self.number}.{self.sub}"

    @property
    def edition(self) -> int:
        """1 or 2."""
        return self.keys.edition

    @cached_property
    def grid(self) -> Grid:
        """The grid of its points. Raises GribError if it is invalid or not supported."""
        from gribmill.grib.grid.grid import grid_from_section

        with self._placed():
            return grid_from_section(self.edition, self.sections.grid)

    @cached_property
    def grid_notes(self) -> tuple[str, ...]:
        """Remarks on its grid, as sentences."""
        from gribmill.grib.grid.grid import grid_notes

        with self._placed():
            return grid_notes(self.edition, self.sections.grid)

    @property
    def grid_relative_winds(self) -> bool:
        """Whether u and v are along the grid's axes instead of east and north."""
        return has_grid_relative_winds(self.edition, self.sections.grid)

    def message(self) -> bytes:
        """A GRIB message with only this field."""
        if self.subs == 1 or isinstance(self.sections, Sections1):
            return bytes(self.raw)
        return self.sections.message()

    def values(self, out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Float32 rows south→north of columns west→east; NaN where a value is missing.

        If `out` is given, it is filled and returned: allocating a new array costs as much as decoding.
        """
        with self._placed():
            found = self._by_kernel(None, out)
            if found is not None:
                return found[0]
            values = self._normalised()
            if out is None:
                return values
            out[...] = values
            return out

    def cut(self, windows: Sequence[Window]) -> list[NDArray[np.float32]]:
        """The part of `values()` in each window, decoded in one pass."""
        with self._placed():
            found = self._by_kernel(windows)
            if found is None:
                import numpy as np

                reduced = reduced_rows(self.edition, self.sections.grid) if self.layout is None else None
                if reduced is not None:
                    flat = self._decoded()
                    return [reduced.take(flat, window) for window in windows]
                whole = self._normalised()
                found = [np.ascontiguousarray(window.take(whole)) for window in windows]
            return found

    def flat_values(self) -> NDArray[np.float32]:
        """The values in the message's own order, for any kind of grid."""
        with self._placed():
            return to_float32(self._decoded())

    def _by_kernel(
        self, windows: Sequence[Window] | None, out: NDArray[np.float32] | None = None
    ) -> list[NDArray[np.float32]] | None:
        from gribmill.grib.decode.native import decode_windows

        if self.layout is None or isinstance(self.sections, Sections1):
            return None
        return decode_windows(self.sections, self.packing.points, self.layout, windows, out)

    def _normalised(self) -> NDArray[np.float32]:
        reduced = reduced_rows(self.edition, self.sections.grid) if self.layout is None else None
        if reduced is not None:
            from gribmill.regions.window import Window

            rows, columns = reduced.shape
            return reduced.take(self._decoded(), Window(slice(0, rows), (slice(0, columns),)))
        if self.layout is None:
            raise GribError("its points are not rows of equal length: only flat_values() can return them")
        return self.layout.normalise(self._decoded())

    def check(self) -> None:
        """Raise GribError where ecCodes would decode wrong values or places, or crash. Decodes no values itself."""
        with self._placed():
            self._check()
            check_local(self.raw)
            if self.edition == 2:
                check_listed2(self.sections.grid, self.packing.points)

    def _check(self) -> None:
        from gribmill.grib.packing.validate import check1, check2

        if isinstance(self.sections, Sections2):
            check2(self.sections, self.packing, self.layout)
        else:
            check1(self.sections, self.packing, self.layout)

    def _decoded(self) -> NDArray[np.float64]:
        self._check()
        if isinstance(self.sections, Sections2) and too_wide(self.sections, self.packing):
            return decode_wide_png(self.sections, self.packing)
        return decode(self._without_local(), self.packing.points)

    def _without_local(self) -> bytes:
        """The message without section 2, which values do not depend on: ecCodes cannot read everything it may hold."""
        if isinstance(self.sections, Sections2) and self.sections.local:
            return self.sections._replace(local=b"").message()
        return self.message()

    @contextmanager
    def _placed(self) -> Iterator[None]:
        try:
            yield
        except GribError as error:
            raise damaged(self.source, self.label, self.offset, str(error)) from None


def read_fields(path: Path | str) -> Iterator[Field]:
    """Each field of a file, as `fields` yields them."""
    return fields(map_file(Path(path)), str(path))


def fields(data: Data, source: str) -> Iterator[Field]:
    """Yields each field. Raises GribError at the first damaged message, or if there is no message."""
    found = False
    for field in scan_fields(data, source):
        if isinstance(field, DamagedMessage):
            raise damaged(source, field.number, field.offset, field.reason)
        found = True
        yield field
    if not found:
        raise without_messages(data, source)


def scan_fields(data: Data, source: str) -> Iterator[Field | DamagedMessage]:
    """Yields each field, and a DamagedMessage for each damaged message."""
    for message in scan(data):
        if isinstance(message, DamagedMessage):
            yield message
            continue
        try:
            yield from _message_fields(data, message, source)
        except GribError as error:
            yield DamagedMessage(message.number, message.offset, str(error))


def _message_fields(data: Data, message: RawMessage, source: str) -> list[Field]:
    """The fields of one message. Raises a GribError that does not state the offset if the headers are damaged."""
    raw = memoryview(data)[message.offset : message.offset + message.length]
    if message.edition == 1:
        return [_field1(raw, message, source)]
    parts = sections2(raw)
    return [
        Field(
            source, message.number, sub, len(parts), message.offset, message.length,
            keys2(part.discipline, part.identification, part.product, part.local), packing2(part), layout2(part.grid),
            part, raw,
        )
        for sub, part in enumerate(parts, 1)
    ]  # fmt: skip


def _field1(raw: memoryview, message: RawMessage, source: str) -> Field:
    part = sections1(raw)
    keys = keys1(part.product)
    points = points1(part.grid, keys.centre)
    if points is None:
        raise GribError("it does not describe its grid, or in an unsupported way")
    return Field(
        source, message.number, 1, 1, message.offset, message.length,
        keys, packing1(part, points), layout1(part.grid), part, raw,
    )  # fmt: skip
