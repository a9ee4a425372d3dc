"""Windows are slices of the whole field, whichever other windows are cut in the same call."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gribmill.grib.decode.field import Field, fields
from gribmill.kernel import native
from gribmill.regions.window import Window
from tests.kernel.both_decoders import by_eccodes, needs_kernel
from tests.kernel.message_variants import COVERED, SCANNING_MODES, fields_of_values
from tests.make_grib import GRIDS, make_message

pytestmark = needs_kernel

NY, NX = 60, 90


@st.composite
def spans(draw: st.DrawFn, size: int) -> slice:
    start = draw(st.integers(0, size - 1))
    return slice(start, draw(st.integers(start + 1, size)))


@st.composite
def windows(draw: st.DrawFn) -> Window:
    rows, columns = draw(spans(NY)), draw(spans(NX))
    if draw(st.booleans()) and columns.start > 0:
        beyond = draw(st.integers(1, columns.start))
        return Window(rows, (slice(columns.start, NX), slice(0, beyond)))
    return Window(rows, (columns,))


def made() -> list[Field]:
    kinds = fields_of_values((NY, NX))
    messages = [
        make_message("hrrr-small", values=kinds[kind], packing=packing)
        for packing in COVERED
        for kind in ("smooth", "holed", "showers")
    ]
    messages += [make_message("hrrr-small", values=kinds["holed"], packing=COVERED[2], missing="management")]
    messages += [make_message("gfs-small", packing=COVERED[mode // 16 % 4], scanning=mode) for mode in SCANNING_MODES]
    holed = fields_of_values(GRIDS["gfs-small"].shape)["holed"]
    messages += [make_message("gfs-small", values=holed, scanning=mode) for mode in (0x20, 0xF0)]
    messages += [make_message("hrrr-small", values=281.5)]
    return [field for message in messages for field in fields(message, "made")]


FIELDS: list[Field] = []
WHOLES: list[np.ndarray] = []


@pytest.fixture(autouse=True, scope="module")
def _fields() -> None:
    FIELDS[:] = made()
    WHOLES[:] = [by_eccodes(field) for field in FIELDS]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data(), st.lists(windows(), min_size=1, max_size=6))
def test_windows_are_slices_of_the_whole(data: st.DataObject, chosen: list[Window]) -> None:
    place = data.draw(st.integers(0, len(FIELDS) - 1))
    for window, values in zip(chosen, FIELDS[place].cut(chosen), strict=True):
        assert values.flags.c_contiguous
        assert values.tobytes() == np.ascontiguousarray(window.take(WHOLES[place])).tobytes()


def test_the_fallback_cuts_the_same_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [Window(slice(3, 9), (slice(80, 90), slice(0, 7))), Window(slice(0, 60), (slice(0, 90),))]
    with_kernel = [values.tobytes() for field in FIELDS for values in field.cut(chosen)]
    monkeypatch.setattr(native, "switched_off", True)
    assert [values.tobytes() for field in FIELDS for values in field.cut(chosen)] == with_kernel


def test_a_window_beyond_the_grid_is_never_filled() -> None:
    with pytest.raises((ValueError, IndexError)):
        for values in FIELDS[0].cut([Window(slice(50, 70), (slice(0, 90),))]):
            assert values.shape != (20, 90)
            raise ValueError("the fallback returned the rows that exist")


def test_a_given_array_is_filled_with_and_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    for field, whole in zip(FIELDS, WHOLES, strict=True):
        for off in (False, True):
            monkeypatch.setattr(native, "switched_off", off)
            out = np.full(whole.shape, -1, np.float32)
            assert field.values(out) is out
            assert out.tobytes() == whole.tobytes()


def test_a_given_array_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        FIELDS[0].values(np.empty((3, 4), np.float32))
