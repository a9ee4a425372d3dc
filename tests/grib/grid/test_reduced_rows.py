"""Inconsistent GRIB1 headers, on which ecCodes crashes, never reach it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gribmill.grib.decode.field import fields
from gribmill.grib.product.keys import ECMWF
from tests.make_grib import make_message, smooth_values

PRODUCT, GRID = 8, 8 + 28
LAT_LON, GAUSSIAN = 0, 4
ROWS = (20, 27, 36, 36, 27, 20)
LAST_ROW = GRID + 32 + 2 * (len(ROWS) - 1)


def holed() -> bytes:
    values = smooth_values((73, 144))
    values[3:6] = np.nan
    return make_message("gfs-small", values=values, packing="grid_simple", edition=1)


def reduced(kind: int = GAUSSIAN) -> bytes:
    """A GRIB1 message with a list of points per row, packed in eight bits each."""
    grid = bytearray(32) + b"".join(count.to_bytes(2, "big") for count in ROWS)
    grid[:10] = len(grid).to_bytes(3, "big") + bytes((0, 33, kind, 255, 255, 0, len(ROWS)))
    grid[10:16] = (68_000).to_bytes(3, "big") + bytes(3)
    grid[17:23] = (0x800000 | 68_000).to_bytes(3, "big") + (350_000).to_bytes(3, "big")
    grid[23:28] = b"\xff\xff\0\3\0"
    data = (11 + sum(ROWS)).to_bytes(3, "big") + bytes(7) + b"\x08" + bytes(range(sum(ROWS)))
    product = make_message("gfs-small", packing="grid_simple", edition=1)[PRODUCT:GRID]
    return whole(product + bytes(grid) + data)


def with_local_part(message: bytes, definition: int) -> bytes:
    """The message with 24 octets more in its product section: ECMWF's local part, by this definition."""
    product = b"\0\0\x34" + message[PRODUCT + 3 : GRID] + bytes(12) + bytes((definition,)) + bytes(11)
    return changed(whole(product + message[GRID:-4]), (PRODUCT + 4, bytes((ECMWF,))))


def whole(body: bytes) -> bytes:
    return b"GRIB" + (8 + len(body) + 4).to_bytes(3, "big") + b"\1" + body + b"7777"


def changed(message: bytes, *changes: tuple[int, bytes]) -> bytes:
    wrong = bytearray(message)
    for place, octets in changes:
        wrong[place : place + len(octets)] = octets
    return bytes(wrong)


# Behind a local part as long as this definition's, the field's numbers would be a grid section with 255 coordinates.
LONG_LOCAL, LONG_LOCAL_OCTETS = 2, 328
LYING = (PRODUCT + LONG_LOCAL_OCTETS, b"\0\0\x20\xff\xff\0")

DAMAGED = {
    "coordinates it has no room for": (changed(holed(), (GRID + 3, b"\x1d")), "needs 148 bytes and has 32"),
    "a list beyond its end": (changed(holed(), (GRID + 4, b"\x94")), "needs 147 bytes and has 32"),
    "a list that ends at the end mark": (
        changed(reduced(LAT_LON), (GRID + 4, b"\xe0"), (GRID + 6, b"\0\x1b")), "needs 223 bytes and has 44",
    ),
    "a type that is longer": (changed(holed(), (GRID + 5, b"\x0a")), "needs 42 bytes and has 32"),
    "a row of one point": (changed(reduced(), (LAST_ROW, b"\0\1")), "lists a row of 1 points"),
    "a row of one point, and columns": (
        changed(reduced(), (LAST_ROW, b"\0\1"), (GRID + 6, b"\0\x24")), "lists a row of 1 points",
    ),
    "columns and a list of others": (changed(reduced(), (GRID + 6, b"\0\x24")), "rows of 36 points and lists others"),
    "more rows than there can be": (changed(reduced(), (GRID + 8, b"\x80")), "states a grid of 65535 × 32774 points"),
    "a list shorter than its rows": (changed(reduced(), (GRID + 9, b"\7")), "does not describe its grid"),
    "a local part it has no room for": (
        changed(with_local_part(holed(), LONG_LOCAL), LYING), "52 bytes is too short for its local definition",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The output of `grib ls` for a file with all damaged messages followed by an intact one."""
    path = tmp_path_factory.mktemp("damaged") / "damaged.grib1"
    path.write_bytes(b"".join(message for message, _ in DAMAGED.values()) + holed())
    # In a separate process, because a failure may crash it.
    command = [sys.executable, "-m", "gribmill", "grib", "ls", "--stats", "--json", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    assert result.returncode in (0, 1), result.stderr[-300:]
    entries: list[dict[str, Any]] = json.loads(result.stdout)[0]["fields"]
    return entries


@pytest.mark.process
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_message_that_contradicts_itself_is_refused(damage: str, listed: list[dict[str, Any]]) -> None:
    assert DAMAGED[damage][1] in listed[list(DAMAGED).index(damage)]["damaged"]


@pytest.mark.process
def test_the_message_behind_refused_ones_is_read(listed: list[dict[str, Any]]) -> None:
    assert len(listed) == len(DAMAGED) + 1
    assert (listed[-1]["damaged"], listed[-1]["stats"]["missing"]) == (None, 3 * 144)


@pytest.mark.parametrize("kind", [LAT_LON, GAUSSIAN])
def test_rows_of_different_lengths_are_read(kind: int) -> None:
    (field,) = fields(reduced(kind), "f")
    assert np.array_equal(field.flat_values(), np.arange(sum(ROWS)))


def test_only_rows_around_the_globe_must_have_two_points() -> None:
    counts = b"".join(count.to_bytes(2, "big") for count in (55, 1, 0, 55, 28, 27))
    (field,) = fields(changed(reduced(LAT_LON), (GRID + 32, counts)), "f")
    assert np.array_equal(field.flat_values(), np.arange(sum(ROWS)))


def test_a_list_is_found_behind_vertical_coordinates() -> None:
    message = reduced()
    grid = b"\0\0" + bytes((44 + 8, 2)) + message[GRID + 4 : GRID + 32] + bytes(8) + message[GRID + 32 : GRID + 44]
    (field,) = fields(whole(message[PRODUCT:GRID] + grid + message[GRID + 44 : -4]), "f")
    assert np.array_equal(field.flat_values(), np.arange(sum(ROWS)))


@pytest.mark.parametrize("spare", [1, 2, 10])
def test_spare_octets_behind_a_grid_are_passed_over(spare: int) -> None:
    message = holed()
    grid = bytes((0, 0, 32 + spare)) + message[GRID + 3 : GRID + 32] + bytes(spare)
    (field,) = fields(whole(message[PRODUCT:GRID] + grid + message[GRID + 32 : -4]), "f")
    (same,) = fields(message, "f")
    assert np.array_equal(field.values(), same.values(), equal_nan=True)


def test_a_local_part_that_has_room_is_read() -> None:
    (field,) = fields(with_local_part(holed(), 1), "f")
    assert int(np.isnan(field.values()).sum()) == 3 * 144
