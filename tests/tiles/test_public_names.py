"""`import gribmill` is quick and provides every documented name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import gribmill
from gribmill.grib.errors import GribError
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
