"""Real files, point by point, against decoders that share no code with gribmill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gribmill.grib.decode.field import Field, read_fields, scan_fields
from gribmill.grib.decode.winds import pairs
from gribmill.grib.grid.rows import ALTERNATING
from gribmill.grib.messages import map_file
from tests.grib.decode.whole_winds import earth_relative
from tests.real_files import real, real_files
from tests.witness.other_decoders import OtherDecoders

pytestmark = pytest.mark.witness

# A few fields of each file, spread over it, in every run of the tests; all of them in `make soak`.
POINTS_PER_FILE = 2_200_000
FIELDS_PER_FILE = 8
# Fields of 24 and 47 million points, which take other decoders half a minute.
LONG = {
    "milton-adv22.20241010.8577x5505.grid_complex.grib2",
    "mrms.20220704-1100.MergedReflectivityQCComposite.png.grib2",
    "mrms.20260219-0424.PrecipFlag.png.grib2",
    "mrms.20040101.PrecipRate.grid_complex.grib2",
    "ifs.20260714.00z.O1280.2t.mtg2.grib2",
    "ifs.20250614.O1280-ccsds+spectral.grib2",
}
# Files that are not compared: nothing intact to decode, or a field too large for other decoders.
NOT_USABLE = {
    "ALLOCATION-BOMB-orog_1km-196B.grib2", "empty-0bytes.grib", "era5-levels-corrupted.grib1",
    "nbm.blend.t17z.master.f001.co.HEAD-2000B.grib2", "not-a-grib-edition.bak", "rotated_pole.BEGIN-234B.grib2",
    "ofs_atl.unknown-template.grib2", "rap-native.gdt32768.240B.grib2", "template_4_65535.grib2",
}  # fmt: skip
FILES = [
    path
    for folder in ("noaa", "ecmwf", "other", "adversarial")
    for path in real_files(f"{folder}/*.*")
    if path.name not in NOT_USABLE
]

# Why a decoder skips a file; without a reason here it must decode it.
GDAL_SILENT = {
    "wafs.20070110.thinned-grid.grib2": "reduced grid", "ifs-ocean.20260714.unstructured.ccsds.grib2": "no rows",
    "ecmwf-index-384msgs.reduced_gg.grib1": "reduced grid", "ecmwf.second-order.grib1": "reduced grid",
    "ifs.20250614.O1280-ccsds+spectral.grib2": "reduced grid", "ifs.20260714.00z.O1280.2t.mtg2.grib2": "reduced grid",
    "tigge-ecmwf.20070505.00z.120h.reduced_gg.jpeg.grib2": "reduced grid",
    "gefs.geavg.20260724.t00z.0p50.f000.TRUNCATED-1MiB.grib2": "refuses a truncated file as a whole",
    "gfs.20260724.t00z.0p25.f000.TRUNCATED-1MiB.grib2": "refuses a truncated file as a whole",
    "hrrr.20230914.t11z.wrfsfcf12.TRUNCATED-2MiB.grib2": "refuses a truncated file as a whole",
}  # fmt: skip
PYGRIB_SILENT = {"rap.20230910.t00z.f001.TSOIL.gdt32769.grib2": "does not know the grid"}
# One each of alternating rows, CCSDS, a bitmap and PNG: cfgrib is slow and decodes with ecCodes.
CFGRIB = (
    "adversarial/alternate-row-scanning.grib2",
    "ecmwf/ifs.20230711.12z.0p4.3h.skt.grib2",
    "noaa/gefs.gec00.20250101.t00z.0p50.f003.SOILW.grib2",
    "noaa/gfs.20220210.t00z.0p25.f024.HGT500.png.grib2",
)
# GDAL unpacks in single precision: its last bit or two may differ, and nothing else.
GDAL_ULPS = 2
# What ecCodes writes for missing values. pygrib makes a hole of every value that is this to 1 in 100,000; on
# the same fields GDAL has no holes.
PYGRIB_MISSING = 9999.0
PYGRIB_NEAR = 1e-5 * PYGRIB_MISSING + 1e-3


def found_fields(path: Path) -> list[Field]:
    return [field for field in scan_fields(map_file(path), path.name) if isinstance(field, Field)]


def spread(path: Path) -> list[int]:
    """Some fields of a file, always with the first and the last."""
    found = found_fields(path)
    if not found:
        return []
    count = min(len(found), FIELDS_PER_FILE, max(1, POINTS_PER_FILE // found[0].packing.points))
    return sorted({round(place) for place in np.linspace(0, len(found) - 1, count)})


@pytest.fixture(scope="session")
def decoders(tmp_path_factory: pytest.TempPathFactory) -> OtherDecoders:
    short = [path for path in FILES if path.name not in LONG]
    return OtherDecoders(tmp_path_factory.mktemp("witness"), {path: spread(path) for path in short})


def ours(field: Field) -> Any:
    return field.values() if field.layout else field.flat_values()


def compare(decoder: str, path: Path, theirs: dict[int, Any]) -> None:
    found = found_fields(path)
    for number, array in theirs.items():
        field = found[number]
        if decoder == "gdal" and found[0].sections.grid != field.sections.grid:
            continue  # GDAL has one size for all bands of a file, that of the first
        values = ours(field)
        if decoder == "gdal":
            compare_gdal(values, array.reshape(values.shape), field, path)
        else:
            compare_pygrib(values, array.reshape(values.shape))


def compare_pygrib(values: Any, array: Any) -> None:
    differs = ~((values == array) | (np.isnan(values) & np.isnan(array)))
    assert np.all(np.abs(values[differs] - PYGRIB_MISSING) <= PYGRIB_NEAR)
    assert np.all(np.isnan(array[differs]))


def compare_gdal(values: Any, array: Any, field: Field, path: Path) -> None:
    if path.name == "rap.20230910.t00z.f001.TSOIL.gdt32769.grib2":
        array = array[::-1]  # GDAL does not know the grid and leaves its rows as they come
    if path.name.endswith("nbits_zero.grib2"):
        # R = 25, D = -1: ecCodes (and NCEP's library) take R for the constant, GDAL R × 10.
        assert (values, array) == (25, 250)
        return
    assert np.array_equal(np.isnan(values), np.isnan(array)), field.label
    there = ~np.isnan(values)
    a, b = (rows[there].view(np.int32).astype(np.int64) for rows in (values, array))
    assert np.abs(a - b).max(initial=0) <= GDAL_ULPS, field.label


@pytest.mark.parametrize("path", [path for path in FILES if path.name not in LONG], ids=lambda path: path.name)
@pytest.mark.parametrize("decoder", ["gdal", "pygrib"])
def test_every_usable_file_decodes_as_others_decode_it(decoder: str, path: Path, decoders: OtherDecoders) -> None:
    theirs = decoders.ask(decoder, path)
    silent = path.name in (GDAL_SILENT if decoder == "gdal" else PYGRIB_SILENT)
    assert silent == (not theirs)
    compare(decoder, path, theirs)


@pytest.mark.soak
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
@pytest.mark.parametrize("decoder", ["gdal", "pygrib"])
def test_every_field_of_every_usable_file(decoder: str, path: Path, tmp_path: Path) -> None:
    everything = OtherDecoders(tmp_path, {path: list(range(len(found_fields(path))))})
    theirs = everything.ask(decoder, path)
    silent = path.name in (GDAL_SILENT if decoder == "gdal" else PYGRIB_SILENT)
    assert silent == (not theirs)
    compare(decoder, path, theirs)


def test_cfgrib_gives_the_same_arrays(tmp_path: Path) -> None:
    paths = [real(name) for name in CFGRIB]
    cfgrib = OtherDecoders(tmp_path, {path: [0] for path in paths})
    for path in paths:
        (theirs,) = cfgrib.ask("cfgrib", path).values()
        (field,) = read_fields(path)
        # cfgrib decodes to single precision, where ecCodes rounds otherwise in the last bit.
        assert np.array_equal(np.isnan(theirs), np.isnan(field.values()))
        assert np.allclose(theirs, field.values(), rtol=2e-7, atol=0, equal_nan=True)


def test_alternating_rows_of_nbm_are_decoded_in_order(decoders: OtherDecoders) -> None:
    path = real("noaa/nbm.20250901.t00z.core.f001.co.TMP-2m.grib2")
    (field,) = read_fields(path)
    assert field.layout is not None
    assert field.layout.scanning & ALTERNATING
    values, raw = field.values(), field.flat_values().reshape(field.layout.ny, field.layout.nx)
    assert np.array_equal(values[::2], raw[::2])
    assert np.array_equal(values[1::2], raw[1::2, ::-1])
    # Neighbouring rows of a temperature field are alike; mirrored ones are not.
    assert np.nanmean(np.abs(np.diff(values, axis=0))) < 0.5 < np.nanmean(np.abs(np.diff(raw, axis=0)))
    compare("gdal", path, decoders.ask("gdal", path))


@pytest.mark.parametrize(
    ("name", "messages", "fields"),
    [
        ("adversarial/wrfprs_nam.20170719.MULTIFIELD-u-v.grib2", 30, 44),
        ("adversarial/gfs.20111008.2p50.f072.MULTIFIELD-344.grib2", 308, 344),
        ("noaa/gefs.gep19.20090605.t00z.1p00.f180.jpeg.grib2", 43, 51),
        ("other/jma-meps.20190605.00z.20msgs.grib2", 1, 20),
    ],
)
def test_nam_and_other_submessages_each_give_their_own_field(
    name: str, messages: int, fields: int, tmp_path: Path
) -> None:
    path = real(name)
    found = list(read_fields(path))
    assert (found[-1].number, len(found)) == (messages, fields)
    for u, v in pairs(found):
        if u.number == v.number:
            assert not np.array_equal(u.values(), v.values())
    several = [number for number, field in enumerate(found) if field.subs > 1]
    theirs = OtherDecoders(tmp_path, {path: several}).ask("pygrib", path)
    assert sorted(theirs) == several
    compare("pygrib", path, theirs)


def test_nam_winds_of_one_message_are_rotated_together() -> None:
    found = list(read_fields(real("adversarial/wrfprs_nam.20170719.MULTIFIELD-u-v.grib2")))
    u, v = next((u, v) for u, v in pairs(found) if u.number == v.number)
    assert u.grid_relative_winds
    east, north = earth_relative(u, v)
    assert np.allclose(np.hypot(east, north), np.hypot(u.values(), v.values()), atol=1e-5)


def test_hrrr_winds_are_simply_packed_and_grid_relative(decoders: OtherDecoders) -> None:
    path = real("noaa/hrrr.20230722.t06z.wrfsfcf01.UGRD-10m.grid_simple.grib2")
    (field,) = read_fields(path)
    assert (field.packing.name, field.grid_relative_winds, field.grid.shape) == ("simple", True, (1059, 1799))
    theirs = decoders.ask("gdal", path)[0]
    assert np.array_equal(field.values(), theirs)


def test_ecmwf_longitudes_from_180_are_in_order(decoders: OtherDecoders) -> None:
    path = real("ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2")
    field = list(read_fields(path))[-1]
    assert field.grid.shape == (721, 1440)
    assert field.grid.wraps
    assert np.allclose(field.grid.x, np.arange(-180, 180, 0.25), atol=1e-9)
    assert np.allclose(field.grid.y, np.arange(-90, 90.1, 0.25), atol=1e-9)
    waves = field.values()

    def at(lat: float, lon: float) -> float:
        j, i = field.grid.index(lat, lon)
        return float(waves[round(float(j)), round(float(i))])

    for land in ((23, 5), (-25, 135), (45, 100), (40, -100), (-10, -55)):
        assert np.isnan(at(*land)), land
    for sea in ((0, -150), (30, -40), (-50, 90), (10, 179.75), (10, -180), (-55, 0)):
        assert 0 < at(*sea) < 20, sea
    compare("gdal", path, decoders.ask("gdal", path))


def test_gfs_wave_has_no_waves_on_land(decoders: OtherDecoders) -> None:
    path = real("noaa/gfswave.20230823.t18z.atlocn.0p16.f001.grib2")
    found = {field.keys.parameter: field for field in read_fields(path)}
    field = found[(10, 0, 3)]
    bits = np.unpackbits(np.frombuffer(field.sections.bitmap[6:], np.uint8), count=field.packing.points)
    assert field.layout is not None
    mask = bits.reshape(field.layout.ny, field.layout.nx)[::-1] == 0
    values = field.values()
    assert np.array_equal(np.isnan(values), mask)
    j, i = (round(float(place)) for place in field.grid.index(40.0, -90.0))
    assert np.isnan(values[j, i])
    j, i = (round(float(place)) for place in field.grid.index(32.0, -65.0))
    assert 0 < values[j, i] < 15
    for decoder in ("gdal", "pygrib"):
        compare(decoder, path, decoders.ask(decoder, path))


def test_a_value_of_9999_in_a_real_file_is_not_missing() -> None:
    """This file contains heights of 9,999 m, which other readers turn into missing values."""
    found = list(read_fields(real("noaa/gefs.gep19.20090605.t00z.1p00.f180.jpeg.grib2")))
    values = [field.values() for field in found]
    assert sum(int((array == PYGRIB_MISSING).sum()) for array in values) > 0
    assert not any(np.isnan(array).any() for array in values)
