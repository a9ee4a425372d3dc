"""Messages with several fields, taken apart into messages with one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pytest

from gribmill.grib.decode.field import fields
from gribmill.grib.errors import GribError
from gribmill.grib.sections import sections1, sections2
from gribmill.sandbox.grib_writer.sections import multi_field
from tests.make_grib import make_message, smooth_values, write

SHAPE = (60, 90)
U = smooth_values(SHAPE, seed=1, mean=3)
V = smooth_values(SHAPE, seed=2, mean=-3)
HOLES = np.zeros(SHAPE, bool)
HOLES[10:20, 30:50] = True


def message(name: str, values: np.ndarray | float | None, **options: Any) -> bytes:
    given: dict[str, Any] = {"packing": "grid_simple", "bits": 24, **options}
    return make_message("hrrr-small", name, values, **given)


def test_each_field_of_a_message_comes_out_with_its_own_values() -> None:
    both = multi_field([message("10u", U), message("10v", V)])
    u, v = fields(both, "f")
    assert (u.label, v.label, u.offset, v.offset) == ("1.1", "1.2", 0, 0)
    assert (u.keys.parameter, v.keys.parameter) == ((0, 2, 2), (0, 2, 3))
    assert np.abs(u.values() - U).max() < 1e-5
    assert np.abs(v.values() - V).max() < 1e-5


def test_a_field_taken_out_is_byte_for_byte_the_message_it_was_made_of() -> None:
    one, two = message("10u", U), message("10v", V)
    assert [field.message() for field in fields(multi_field([one, two]), "f")] == [one, two]


@pytest.mark.parametrize("repeat_from", [2, 3, 4], ids=["sections 2-7", "sections 3-7", "sections 4-7"])
def test_sections_not_repeated_hold_for_the_next_field(repeat_from: int) -> None:
    parts = [message("10u", U), message("10v", V), message("2t", U + 280)]
    three = multi_field(parts, repeat_from=repeat_from)
    assert [field.message() for field in fields(three, "f")] == parts


def test_a_local_section_holds_until_another_comes() -> None:
    one, two = message("10u", U), message("10v", V)
    local = (8).to_bytes(4, "big") + b"\2abc"
    end = 16 + 21
    with_local = one[:8] + (len(one) + len(local)).to_bytes(8, "big") + one[16:end] + local + one[end:]
    first, second = sections2(multi_field([with_local, two]))
    assert first.local == second.local == local
    first, second = sections2(multi_field([one, with_local], repeat_from=2))
    assert (first.local, second.local) == (b"", local)


def test_a_reused_bitmap_is_the_previous_one() -> None:
    holed = [message("10u", np.where(HOLES, np.nan, U)), message("10v", np.where(HOLES, np.nan, V))]
    both = multi_field(holed, reuse_bitmap=True)
    assert len(both) < sum(map(len, holed)) - 600
    for field, values in zip(fields(both, "f"), (U, V), strict=True):
        decoded = field.values()
        assert np.array_equal(np.isnan(decoded), HOLES)
        assert np.nanmax(np.abs(decoded - values)) < 1e-5


def test_a_reused_bitmap_skips_fields_without_one() -> None:
    holed = np.where(HOLES, np.nan, U)
    parts = [message("10u", holed), message("2t", V), message("10v", holed)]
    three = multi_field(parts)
    place = three.rindex((6 + (SHAPE[0] * SHAPE[1] + 7) // 8).to_bytes(4, "big") + b"\6\0")
    cut = place + 6 + (SHAPE[0] * SHAPE[1] + 7) // 8
    body = three[:place] + b"\0\0\0\6\6\xfe" + three[cut:]
    again = body[:8] + len(body).to_bytes(8, "big") + body[16:]
    assert [int(np.isnan(field.values()).sum()) for field in fields(again, "f")] == [200, 0, 200]


def test_reusing_a_bitmap_that_was_never_defined_is_an_error() -> None:
    one = message("10u", U)
    place = one.index(b"\0\0\0\6\6\xff")
    with pytest.raises(GribError, match="message 1 at byte 0: it refers to an earlier bitmap"):
        list(fields(one[: place + 5] + b"\xfe" + one[place + 6 :], "f"))


@pytest.mark.parametrize(
    ("octet", "value", "words"),
    [
        (16 + 4, 9, "section 9 may not follow section 0"),
        (16 + 3, 200, "section 1 states a length of 200 bytes|may not follow"),
        (16, 255, "section 1 states a length"),
        (37 + 4, 5, "section 5 may not follow section 1"),
    ],
)
def test_invalid_sequences_of_sections_are_refused(octet: int, value: int, words: str) -> None:
    wrong = bytearray(message("10u", U))
    wrong[octet] = value
    with pytest.raises(GribError, match=words):
        list(fields(bytes(wrong), "f"))


def test_grib1_sections_beyond_the_message_are_refused() -> None:
    old = bytearray(make_message("gfs-small", packing="grid_simple", edition=1))
    old[8 + 28 : 8 + 31] = b"\xff\xff\xff"
    with pytest.raises(GribError, match="grid section states a length of 16777215 bytes"):
        sections1(bytes(old))


def test_ecmwfs_own_multi_field_reader_sees_the_same(tmp_path: Path) -> None:
    """ecCodes splits fields only when reading files; there it must agree."""
    both = multi_field([message("10u", np.where(HOLES, np.nan, U)), message("10v", V)])
    path = write(tmp_path / "multi.grib2", [both])
    eccodes.codes_grib_multi_support_on()
    try:
        with path.open("rb") as file:
            for field in fields(both, "f"):
                handle = eccodes.codes_grib_new_from_file(file)
                eccodes.codes_set(handle, "missingValue", float("nan"))
                theirs = eccodes.codes_get_values(handle).astype(np.float32)
                eccodes.codes_release(handle)
                assert np.array_equal(field.flat_values(), theirs, equal_nan=True)
    finally:
        eccodes.codes_grib_multi_support_off()
