"""`import gribmill` is quick and provides every documented name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gribmill
from gribmill.grib.errors import GribError
from gribmill.sandbox.grib_writer.sections import split_sections
from tests.make_grib import make_message, write

HEAVY = ("numpy", "eccodes", "xarray", "pandas", "cfgrib", "pydantic", "rich", "click")


@pytest.mark.process
def test_importing_gribmill_imports_nothing_heavy() -> None:
    code = f"import sys, gribmill; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", [name for name in gribmill.__all__ if name != "__version__"])
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    assert getattr(gribmill, name).__doc__
    assert name in dir(gribmill)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'opentile'"):
        gribmill.opentile  # noqa: B018


def test_any_grib_opens_in_xarray_and_leaves_no_index_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.grib2", [make_message("gfs-small", "2t", 280.0), make_message("gfs-small", "10u", 3.0)])
    opened = gribmill.open_grib(path)
    assert {name for dataset in opened for name in dataset.data_vars} == {"t2m", "u10"}
    (only,) = gribmill.open_grib(path, shortName="2t")
    assert list(only.data_vars) == ["t2m"]
    assert [item.name for item in tmp_path.iterdir()] == ["a.grib2"]


@pytest.mark.parametrize("content", [None, b"", b"no grib at all"])
def test_a_file_that_is_not_grib_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "bad.grib2"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(GribError, match=r"bad\.grib2"):
        gribmill.open_grib(path)


@pytest.mark.parametrize(
    "damage", ["truncated", "too many bits", "another shape", "rows with other points", "a row of one point"]
)
def test_a_damaged_grib_is_refused_and_not_opened_in_part(damage: str, tmp_path: Path) -> None:
    whole, other = make_message("gfs-small", "2t", 280.0), bytearray(make_message("gfs-small", "10u"))
    sections = {number: other.index(part) for number, part in split_sections(bytes(other))}
    if damage == "truncated":
        del other[-10:]
    elif damage == "too many bits":
        other[sections[5] + 19] = 64
    elif "row" in damage:
        place, first = sections[3], 143 if damage == "rows with other points" else 1
        rows = b"".join(number.to_bytes(2, "big") for number in (first, *[144] * 72))
        grid = bytearray(other[place : place + 72])
        grid[13] = 40 if first == 1 else 0
        grid[:4], grid[10:12], grid[30:34] = (72 + len(rows)).to_bytes(4, "big"), b"\2\1", b"\xff" * 4
        other[place : place + 72] = grid + rows
        other[8:16] = len(other).to_bytes(8, "big")
    else:
        other[sections[3] + 71] ^= 0x10  # cfgrib refuses alternating rows without a sentence
        other[sections[3] + 33] ^= 1
    path = write(tmp_path / "bad.grib2", [whole, bytes(other)])
    with pytest.raises(GribError, match=r"bad\.grib2: message 2 at byte"):
        gribmill.open_grib(path)
