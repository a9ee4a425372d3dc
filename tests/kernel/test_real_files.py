"""The kernel decodes real files to the values of ecCodes, bit for bit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gribmill.grib.decode.field import Field, scan_fields
from gribmill.grib.errors import GribError
from gribmill.grib.messages import map_file
from gribmill.grib.sections import Sections2
from tests.kernel.both_decoders import by_eccodes, by_kernel, needs_kernel
from tests.real_files import real, real_files

pytestmark = needs_kernel

# One file for each kind of producer and packing, and how many of its fields are compared.
SUBSET = {
    "noaa/hrrr.20230722.t06z.wrfsfcf01.TMP-surface.grib2": 1,
    "noaa/hrrr.20230722.t06z.wrfsfcf01.UGRD-10m.grid_simple.grib2": 1,
    "noaa/hrrr.20260301.t00z.wrfprsf00.hydrology-constant-212B.grib2": 1,
    "noaa/gfs.20230104.t18z.0p25.f186.RH-constant-210B.grib2": 1,
    "noaa/gfs.20251201.t00z.0p25.f000.TMP-2m.grib2": 1,
    "noaa/gfs.20221107.t00z.1p00.f012.subset.grib2": 40,
    "noaa/gefs.geavg.20251030.t12z.pgrb2a.0p50.f000.FULL.grib2": 5,
    "noaa/stage4.2022081004.01h.grib2": 1,
    "adversarial/gfs.20190106.1p00.f006.template5_2.grib2": 2,
    "adversarial/ndfd.20231130.waveh.grid_complex-missing.grib2": 1,
    "adversarial/gfs.20111008.2p50.f072.MULTIFIELD-344.grib2": 30,
    "adversarial/alternate-row-scanning.grib2": 1,
    "adversarial/j_fastest.grib2": 1,
    "adversarial/scanning_mode_with_bitmap.grib2": 1,
    "ecmwf/ifs.20260310.00z.oper.0p25.0h.surface.grib2": 5,
    "ecmwf/s2s-control.20260810.00z.grib2": 3,
    "other/mf-arome.20260413.21z.TCDC.ccsds.grib2": 1,
}


def compare(path: Path, most: int) -> Counter[str]:
    """How many fields the kernel decoded and declined, and every field that differs from ecCodes."""
    seen: Counter[str] = Counter()
    for field in scan_fields(map_file(path), path.name):
        if not isinstance(field, Field) or field.layout is None or not isinstance(field.sections, Sections2):
            continue
        found = by_kernel(field)
        seen["declined" if found is None else "decoded"] += 1
        if found is not None and found.tobytes() != expected(field):
            seen[f"message {field.label} differs"] += 1
        if seen["decoded"] + seen["declined"] == most:
            break
    return seen


def expected(field: Field) -> bytes | str:
    try:
        return by_eccodes(field).tobytes()
    except GribError as error:
        return str(error)


@pytest.mark.parametrize("name", sorted(SUBSET))
def test_fields_of_operational_models_are_equal(name: str) -> None:
    assert compare(real(name), SUBSET[name]) == {"decoded": SUBSET[name]}


@pytest.mark.soak
@pytest.mark.parametrize("path", real_files("*/*.grib2"), ids=lambda path: path.name)
def test_every_field_of_every_real_file_is_equal(path: Path) -> None:
    assert compare(path, 1_000_000).keys() <= {"decoded", "declined"}
