"""Unusual, truncated and crafted files: the right fields, or an error that says where and why."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields, scan_fields
from gribmill.grib.errors import GribError
from gribmill.grib.messages import DamagedMessage, map_file
from tests.real_files import REAL_GRIB, real, real_files

# How many fields decode and how many of their points are missing. Their values are compared with other
# decoders in test_real_files.
GOOD = {
    "alternate-row-scanning.grib2": (1, 0),
    "bug3246-three-grids.grib1": (12, 5187),
    "byte_wrong_earth_shape.grib2": (1, 0),
    "ecmwf-index-384msgs.reduced_gg.grib1": (384, 0),
    "ecmwf.second-order.grib1": (1, 0),
    "fake_wrong_grid_origin_latitude.grib2": (1, 0),
    "gfs.10p0.f010.grid_ieee.grib2": (6, 0),
    "gfs.1p00.CRLF-MANGLED.GOOD-TWIN.grib2": (1, 0),
    "gfs.20061128.jpeg.v.26msgs.grib2": (26, 0),
    "gfs.20111008.2p50.f072.MULTIFIELD-344.grib2": (344, 208129),
    "gfs.20170725.RawFileBadETOGrib.grib2": (1, 687174),
    "gfs.20190106.1p00.f006.template5_2.grib2": (2, 0),
    "gfs.combined-grib2-then-grib1.grib2": (18, 5187),
    "hwrf.20171020.t06z.truncated-by-gdal.grib2": (1, 0),
    "ifs-ocean.20260714.unstructured.ccsds.grib2": (1, 831784),
    "ifs.20250614.O1280-ccsds+spectral.grib2": (3, 0),
    "ij_ineg_jpos.grib2": (1, 0),
    "ij_ipos_jneg.grib2": (1, 0),
    "iris-mixed_support.grib2": (2, 0),
    "j_fastest.grib2": (1, 0),
    "jpeg2000_nbits_zero.grib2": (1, 0),
    "mrms.20040101.PrecipRate.grid_complex.grib2": (1, 10592615),
    "mrms.20260219-0424.PrecipFlag.png.grib2": (1, 0),
    "ncep.20130614.lambert.grib1": (1, 0),
    "ndfd.20231102.critfireo.grid_complex.grib2": (4, 5994839),
    "ndfd.20231130.waveh.grid_complex-missing.grib2": (1, 3431422),
    "one_value_and_nodata.grib2": (1, 341),
    "padding-between-messages.grib": (2, 0),
    "scanning_mode_with_bitmap.grib2": (1, 1),
    "simple_nbits_zero.grib2": (1, 0),
    "subgrids.grib2": (2, 0),
    "subgrids_reuse_bitmap.grib2": (2, 0),
    "tilde_shortname.grib": (1, 0),
    "wafs.20070110.thinned-grid.grib2": (92, 0),
    "wrfprs_nam.20170719.MULTIFIELD-u-v.grib2": (44, 0),
}
# Two fields of 47 million points: decoded in the long runs only.
LARGE = {"milton-adv22.20241010.8577x5505.grid_complex.grib2": (2, 93529102)}
# How many fields can still be read, and the error for the rest.
BAD = {
    "ALLOCATION-BOMB-orog_1km-196B.grib2": (0, "message 1 at byte 0: it states 933120000 points"),
    "empty-0bytes.grib": (0, "no GRIB message in its 0 bytes"),
    "era5-levels-corrupted.grib1": (1, "message 1 at byte 0: its 1588 bytes do not end with 7777"),
    "gefs.geavg.20260724.t00z.0p50.f000.TRUNCATED-1MiB.grib2": (5, "message 6 at byte 892271: .*truncated"),
    "gfs.20260724.t00z.0p25.f000.TRUNCATED-1MiB.grib2": (2, "message 3 at byte 991113: .*truncated"),
    "hrrr.20230914.t11z.wrfsfcf12.TRUNCATED-2MiB.grib2": (4, "message 5 at byte 1971449: .*truncated"),
    "nbm.blend.t17z.master.f001.co.HEAD-2000B.grib2": (0, "message 1 at byte 0: .*truncated"),
    "not-a-grib-edition.bak": (0, "message 1 at byte 0: GRIB edition 0 is not supported"),
    "ofs_atl.unknown-template.grib2": (0, "message 1 at byte 0: ecCodes cannot decode it"),
    "rap-native.gdt32768.240B.grib2": (0, "message 1 at byte 0: ecCodes cannot decode it"),
    "rotated_pole.BEGIN-234B.grib2": (0, "message 1 at byte 0: .*truncated"),
    "template_4_65535.grib2": (0, "message 1 at byte 0: ecCodes cannot decode it"),
}


def missing_points(found: list[Field]) -> int:
    return sum(int(np.isnan(f.values() if f.layout else f.flat_values()).sum()) for f in found)


def check_good(name: str, wanted: tuple[int, int]) -> None:
    path = real(f"adversarial/{name}")
    found = list(fields(map_file(path), name))
    # Reduced Gaussian fields take a while and are all alike: every eighth will do.
    some = found[::8] if len(found) == 384 else found
    assert (len(found), missing_points(some)) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", GOOD)
def test_unusual_intact_files_decode(name: str) -> None:
    check_good(name, GOOD[name])


@pytest.mark.soak
@pytest.mark.parametrize("name", LARGE)
def test_large_files_decode(name: str) -> None:
    check_good(name, LARGE[name])


@pytest.mark.parametrize("name", BAD)
def test_damaged_files_are_refused_with_file_message_offset_and_reason(name: str) -> None:
    path = real(f"adversarial/{name}")
    with pytest.raises(GribError, match=rf"^{re.escape(name)}: {BAD[name][1]}"):
        for field in fields(map_file(path), name):
            field.values() if field.layout else field.flat_values()


@pytest.mark.parametrize("name", BAD)
def test_undamaged_messages_of_a_damaged_file_are_read(name: str) -> None:
    readable = 0
    for field in scan_fields(map_file(real(f"adversarial/{name}")), name):
        if isinstance(field, DamagedMessage):
            continue
        try:
            field.flat_values()
        except GribError:
            continue
        readable += 1
    assert readable == BAD[name][0]


def test_no_file_of_the_collection_is_forgotten() -> None:
    names = {path.name for path in real_files("adversarial/*") if "GIT-LFS" not in path.name}
    if not REAL_GRIB.is_dir():
        pytest.skip("the collection of real files is not beside this checkout")
    assert names == {*GOOD, *BAD, *LARGE}
