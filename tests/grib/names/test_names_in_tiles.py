"""A listing calls each field what a tile calls it, and `--vars` takes these names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import eccodes
import pytest
from click.testing import CliRunner

from gribmill.cli.main import cli
from gribmill.grib.inventory import inventory
from gribmill.grib.names.lexicon import lexicon
from gribmill.ingest.index.entry import IndexEntry, Inventory
from gribmill.ingest.index.select import select, wanted
from gribmill.regions.box import Box
from gribmill.regions.region import Region
from gribmill.tiles.build.build import build
from tests.grib.names.lexicon_lookup import from_ecmwf
from tests.make_grib import make_message, write
from tests.real_files import real

pytestmark = pytest.mark.slow

ALL = Region("all", Box(-180, -90, 180, 90))
REAL = [
    "noaa/gfs.20170322.t00z.2p50.f000.FULL.grib2",
    "noaa/nam.20070124.t00z.awp211.f012.jpeg.grib2",
    "noaa/aqm.20240516.t12z.CONUS.PM25-PDMAX1.grib2",
    "noaa/aqm.20240516.t12z.AK.O3.polar-stereo.grib2",
    "noaa/gfs.20200325.t18z.0p25.f006.APCP-x2.grib2",
    "noaa/nbm.20260616.t12z.f001.ASNOW-prob-thresholds.grib2",
    "ecmwf/ifs.20260310.00z.oper.0p25.0h.surface.grib2",
    "ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2",
]


@pytest.mark.parametrize("name", REAL)
def test_a_listing_has_the_names_of_the_arrays(name: str, tmp_path: Path) -> None:
    file = real(name)
    listed = {(entry.offset, entry.number): entry.name for entry in inventory(file)}
    stored = {}
    for tile in build(file, [ALL], tmp_path, everything=True, threads=2).tiles:
        for array, facts in tile.meta.variables.items():
            number = (
                str(facts.message) if (facts.offset, str(facts.message)) in listed else f"{facts.message}.{facts.field}"
            )
            stored[facts.offset, number] = array.removesuffix("_grid")
    assert stored
    assert stored == {place: listed[place] for place in stored}


@pytest.mark.slow
def test_nearly_all_fields_of_a_whole_gfs_file_have_a_name() -> None:
    entries = list(inventory(real("noaa/gfs.20221107.t00z.pgrb2.1p00.f024.FULL.grib2")))
    names = [entry.name or "" for entry in entries]
    assert [name for name in names if name.startswith("g2_")] == []
    assert len(set(names)) == len(names)


def test_the_command_line_takes_every_listed_name(tmp_path: Path) -> None:
    keys = {"discipline": 0, "parameterCategory": 2, "parameterNumber": 99, "typeOfFirstFixedSurface": 6}
    file = write(tmp_path / "x.grib2", [make_message("gfs-small", keys=keys), *[make_message("gfs-small")] * 2])
    names = [entry.name for entry in inventory(file)]
    assert names == ["g2_0_2_99_l6", "t2m", "t2m_2"]
    for name in names:
        arguments = ["cut", str(file), "-b", "0,0,20,20", "--vars", str(name), "-o", str(tmp_path / str(name))]
        shown = CliRunner().invoke(cli, arguments)
        assert shown.exit_code == 0, shown.output
        assert "not in the file" not in shown.output


LEVELS = [(7, None, "u_trop"), (6, None, "u_maxwind"), (103, 30, "u_30m"), (103, 10, "u10"), (105, 1, "u_hyb1")]


@pytest.mark.parametrize(("kind", "value", "name"), LEVELS)
def test_winds_are_named_by_their_level(kind: int, value: int | None, name: str, tmp_path: Path) -> None:
    keys = {"discipline": 0, "parameterCategory": 2, "parameterNumber": 2, "typeOfFirstFixedSurface": kind}
    if value is not None:
        keys |= {"scaledValueOfFirstFixedSurface": value, "scaleFactorOfFirstFixedSurface": 0}
    file = write(tmp_path / "u.grib2", [make_message("gfs-small", keys=keys)])
    assert [entry.name for entry in inventory(file)] == [name]
    found = lexicon().get(name)
    assert found is not None and found.name == name


AEROSOL = {"aerosolType": 62001, "typeOfSizeInterval": 0, "scaleFactorOfFirstSize": 7, "scaledValueOfFirstSize": 25}
OPTICAL = {
    **AEROSOL, "typeOfWavelengthInterval": 7, "scaleFactorOfFirstWavelength": 9, "scaledValueOfFirstWavelength": 545,
    "scaleFactorOfSecondWavelength": 9, "scaledValueOfSecondWavelength": 565,
}  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "name", "units"),
    [
        ({"productDefinitionTemplateNumber": 48, "parameterNumber": 102, **OPTICAL}, "aod_dust_lt2p5um_545_565nm", "1"),
        ({"productDefinitionTemplateNumber": 45, "parameterNumber": 1, **AEROSOL}, "colmd_dust_lt2p5um", "kg m-2"),
        ({"productDefinitionTemplateNumber": 40, "parameterNumber": 0, "constituentType": 8}, "massden_so2", "kg m-3"),
    ],
)
def test_aerosols_and_gases_are_named(keys: dict[str, Any], name: str, units: str, tmp_path: Path) -> None:
    template = {"productDefinitionTemplateNumber": keys["productDefinitionTemplateNumber"]}
    more = {"discipline": 0, "parameterCategory": 20, **keys, "typeOfFirstFixedSurface": 1}
    file = write(tmp_path / "a.grib2", [make_message("gfs-small", values=1e-6, keys=template | more)])
    (entry,) = inventory(file)
    assert (entry.name, entry.units) == (name, units)
    (built,) = build(file, [ALL], tmp_path, model="gefs", variables=[name]).tiles
    assert (
        built.meta.variables[name].units == units and "dust" in built.meta.variables[name].long_name
    ) or "so2" in name


def test_waves_of_a_range_of_periods_are_named() -> None:
    names = {entry.name for entry in inventory(real("ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2"))}
    assert {"swh_10_12s", "swh_12_14s"} <= names


@pytest.mark.parametrize(
    ("param", "levtype", "levelist", "name"),
    [
        ("max_i10fg", "sfc", None, "gust_max"), ("max_2t", "sfc", None, "t2m_max"), ("min_2t", "sfc", None, "t2m_min"),
        ("u", "hl", "100", "u100"), ("v", "hl", 100, "v100"), ("u", "sfc", "200", "u200"), ("ws", "hl", "100", "ws100"),
        ("u", "pl", "850", "u_850"), ("100u", "sfc", None, "u100"), ("slhf", "sfc", None, "slhf"),
        ("sve", "sfc", None, "sve"), ("zos", "sfc", None, "zos"), ("deg0l", "sfc", None, "deg0l"),
    ],
)  # fmt: skip
def test_new_names_of_ecmwf_are_known_beside_the_old_ones(
    param: str, levtype: str, levelist: str | int | None, name: str
) -> None:
    found = from_ecmwf(param, levtype, levelist)
    assert found is not None and found.name == name


def test_the_wind_at_100_m_is_selected_by_its_height() -> None:
    def entry(element: str, level: str, offset: int) -> IndexEntry:
        return IndexEntry(1, 1, offset, offset + 10, None, element, level, "6", "")

    lines = [entry("u", "pl 100", 0), entry("u", "hl 100", 10), entry("max_2t", "sfc", 20)]
    chosen = select(Inventory("ecmwf_index", "made", tuple(lines)), wanted(["u100", "t2m_max", "u_100"]), 6)
    assert {name: found.offset for name, found in chosen.found.items()} == {"u_100": 0, "u100": 10, "t2m_max": 20}


def test_clouds_of_the_national_blend_have_names(tmp_path: Path) -> None:
    level = {"typeOfFirstFixedSurface": 195, "scaledValueOfFirstFixedSurface": 0, "scaleFactorOfFirstFixedSurface": 0}
    keys = {"discipline": 0, "parameterCategory": 6, "parameterNumber": 1, **level}
    file = write(tmp_path / "c.grib2", [make_message("nbm-small", values=40.0, keys=keys)])
    assert [entry.name for entry in inventory(file)] == ["tcc_k195"]


@pytest.mark.parametrize(
    ("short_name", "options", "name"),
    [
        ("max_i10fg", {"window": (3, 6), "statistic": "max"}, "gust_max"),
        ("max_2t", {"window": (3, 6), "statistic": "max"}, "t2m_max"),
        ("min_2t", {"window": (3, 6), "statistic": "min"}, "t2m_min"),
        ("slhf", {"window": (0, 6)}, "slhf"),
        ("ewss", {"window": (0, 6)}, "ewss"),
        ("sve", {}, "sve"),
        ("zos", {}, "zos"),
        ("deg0l", {}, "deg0l"),
    ],
)
def test_messages_that_eccodes_gives_a_new_name_are_named(
    short_name: str, options: dict[str, Any], name: str, tmp_path: Path
) -> None:
    """The witness is ecCodes: it writes the keys of each short name under the tables in which the name is new."""
    with eccodes_message(short_name) as keys:
        message = make_message("ecmwf-small", keys=keys, step=6, **options)
    (entry,) = inventory(write(tmp_path / "x.grib2", [message]))
    assert entry.name == name


@contextmanager
def eccodes_message(short_name: str) -> Iterator[dict[str, int]]:
    """The keys that ecCodes sets for a short name under table version 35."""
    wanted_keys = ("discipline", "parameterCategory", "parameterNumber", "typeOfFirstFixedSurface")
    message = eccodes.codes_grib_new_from_samples("GRIB2")
    try:
        eccodes.codes_set(message, "centre", 98)
        eccodes.codes_set(message, "tablesVersion", 35)
        eccodes.codes_set(message, "shortName", short_name)
        found = {key: eccodes.codes_get(message, key, int) for key in wanted_keys}
        for key in ("scaleFactorOfFirstFixedSurface", "scaledValueOfFirstFixedSurface"):
            if not eccodes.codes_is_missing(message, key):
                found[key] = eccodes.codes_get(message, key, int)
        yield {"tablesVersion": 35, **found}
    finally:
        eccodes.codes_release(message)


def test_the_names_of_constituents_are_those_of_the_wmo_tables() -> None:
    """The witness is ecCodes, whose names of constituents contain the words of gribmill's."""
    words = {"total": "total aerosol", "seasalt": "sea salt", "organic_matter": "particulate organic matter dry"}
    message = eccodes.codes_grib_new_from_samples("GRIB2")
    try:
        eccodes.codes_set(message, "tablesVersion", 33)
        eccodes.codes_set(message, "productDefinitionTemplateNumber", 40)
        for number, name in constituents().items():
            eccodes.codes_set(message, "constituentType", int(number))
            theirs = eccodes.codes_get(message, "constituentTypeName").lower()
            ours = words.get(name, name.removesuffix("_absorbing").removesuffix("_scattering").replace("_", " "))
            assert ours in theirs, (number, name, theirs)
    finally:
        eccodes.codes_release(message)


def constituents() -> dict[str, str]:
    document = tomllib.loads((files("gribmill.grib.names") / "constituents.toml").read_text(encoding="utf-8"))
    return cast("dict[str, str]", document["constituents"])
