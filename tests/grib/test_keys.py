"""Keys read from the octets, compared with ecCodes' keys of the same messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import eccodes
import numpy as np
import pytest

from gribmill.grib.decode.field import Field, fields, scan_fields
from gribmill.grib.messages import map_file
from gribmill.grib.names.array_name import array_name
from gribmill.grib.product.grib2 import TEMPLATES
from gribmill.grib.product.keys import Level
from gribmill.grib.product.levels import family, level_text
from gribmill.sandbox.grib_writer.sections import multi_field
from gribmill.tiles.read.units import conversion_for, shown_unit
from tests.make_grib import make_message
from tests.real_files import real, real_files

FILES = [path for folder in ("noaa", "ecmwf", "other") for path in real_files(f"{folder}/*.grib*")]
FIELDS_PER_FILE = 12
STATISTICS = {"avg": 0, "accum": 1, "max": 2, "min": 3}
MISSING = 255


def sample(path: Path) -> Iterator[Field]:
    found = [field for field in scan_fields(map_file(path), path.name) if isinstance(field, Field)]
    yield from found[:: max(1, len(found) // FIELDS_PER_FILE)]


def get(handle: int, key: str, kind: type = int) -> Any:
    return eccodes.codes_get(handle, key, kind) if eccodes.codes_is_defined(handle, key) else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_keys_of_real_files_are_those_that_eccodes_reads(path: Path) -> None:
    compared = 0
    for field in sample(path):
        handle = eccodes.codes_new_from_message(field.message())
        try:
            assert_equal_keys(field, handle)
            compared += 1
        finally:
            eccodes.codes_release(handle)
    assert compared > 0


def assert_equal_keys(field: Field, handle: int) -> None:
    keys = field.keys
    stamp = f"{get(handle, 'dataDate')}{get(handle, 'dataTime'):04d}"
    assert keys.reference.replace(second=0) == datetime.strptime(stamp, "%Y%m%d%H%M").replace(tzinfo=UTC)
    assert keys.centre == get(handle, "centre")
    assert field.packing.points == get(handle, "numberOfDataPoints")
    if field.packing.bits and field.packing.name != "ieee":
        assert field.packing.bits == get(handle, "bitsPerValue")
        assert field.packing.reference == pytest.approx(get(handle, "referenceValue", float), rel=1e-12)
        assert field.packing.binary == get(handle, "binaryScaleFactor")
        assert field.packing.decimal == get(handle, "decimalScaleFactor")
    if keys.edition == 1:
        assert keys.parameter == (get(handle, "table2Version"), get(handle, "indicatorOfParameter"))
        assert keys.end == timedelta(hours=get(handle, "endStep"))
        return
    names = ("discipline", "parameterCategory", "parameterNumber")
    assert keys.parameter == tuple(get(handle, name) for name in names)
    assert keys.template in TEMPLATES
    if keys.template == 32:
        return
    assert keys.member == get(handle, "perturbationNumber")
    assert keys.derived == get(handle, "derivedForecast")
    assert keys.percentile == get(handle, "percentileValue")
    assert (keys.level.kind if keys.level else 255) == get(handle, "typeOfFirstFixedSurface")
    assert_equal_times(field, handle)


def assert_equal_times(field: Field, handle: int) -> None:
    keys = field.keys
    statistic = get(handle, "typeOfStatisticalProcessing")
    if statistic != MISSING:
        assert STATISTICS.get(keys.statistic) == (statistic if statistic in STATISTICS.values() else None)
    if "PDMAX1" in field.source:
        return  # it starts at -7 h in two's complement, which ecCodes reads as -2^31 h
    eccodes.codes_set(handle, "stepUnits", "m")
    assert keys.start == timedelta(minutes=get(handle, "startStep"))
    assert keys.end == timedelta(minutes=get(handle, "endStep"))


def test_a_start_before_the_run_in_twos_complement_is_understood() -> None:
    (field,) = fields(real("noaa/aqm.20240516.t12z.CONUS.PM25-PDMAX1.grib2").read_bytes(), "aqm")
    assert (field.keys.start, field.keys.end) == (timedelta(hours=-7), timedelta(hours=16))
    assert field.keys.valid == datetime(2024, 5, 17, 4, tzinfo=UTC)


def keys_of(**options: Any) -> Any:
    (field,) = fields(make_message(packing="grid_simple", values=1.0, **options), "f")
    return field.keys


def test_times_in_minutes_and_windows() -> None:
    assert keys_of(step=45, step_units="m").end == timedelta(minutes=45)
    keys = keys_of(short_name="tp", window=(6, 12))
    assert (keys.start, keys.end, keys.statistic) == (timedelta(hours=6), timedelta(hours=12), "accum")
    assert keys.valid == keys.reference + timedelta(hours=12)


def test_an_impossible_date_is_refused() -> None:
    message = bytearray(make_message(packing="grid_simple", values=1.0))
    message[16 + 14] = 13
    with pytest.raises(Exception, match=r"f: message 1 at byte 0: its time 2026-13-1 12:0:0 is not valid"):
        list(fields(bytes(message), "f"))


@pytest.mark.parametrize("unit", [2, 12])
def test_a_step_beyond_any_forecast_is_refused(unit: int) -> None:
    message = bytearray(make_message(packing="grid_simple", values=1.0))
    place = message.index(b"\0\0\0\x22\4")
    message[place + 17] = unit
    message[place + 18 : place + 22] = b"\x7f\xff\xff\xff"
    (field,) = fields(bytes(message), "f")
    assert field.keys.end is None
    assert field.keys.valid is None


def test_each_field_of_a_message_has_its_own_level() -> None:
    pair = [
        make_message(
            short_name="t",
            level=level,
            packing="grid_simple",
            values=1.0,
            keys={"typeOfLevel": "isobaricInhPa", "level": level},
        )
        for level in (850, 500)
    ]
    assert [field.keys.level for field in fields(multi_field(pair), "f")] == [Level(100, 85000), Level(100, 50000)]


@pytest.mark.parametrize(("number", "statistic"), [(4, "max"), (5, "min"), (0, "other")])
def test_the_statistic_is_implied_by_the_parameter_if_the_message_has_none(number: int, statistic: str) -> None:
    untold = {"parameterNumber": number, "typeOfStatisticalProcessing": MISSING}
    assert keys_of(window=(0, 6), keys=untold).statistic == statistic
    assert keys_of(window=(0, 6), keys=untold | {"typeOfStatisticalProcessing": 0}).statistic == "avg"
    # Of NCEP's own: a climate's mean.
    assert keys_of(window=(0, 6), keys=untold | {"typeOfStatisticalProcessing": 192}).statistic == "other"


def test_differences_of_opposite_signs_have_two_statistics() -> None:
    found = [keys_of(window=(0, 6), keys={"typeOfStatisticalProcessing": number}) for number in (4, 8)]
    assert [keys.statistic for keys in found] == ["diff", "sdiff"]
    assert array_name(found[0]) != array_name(found[1])
    assert shown_unit("t_850_sdiff", "K", "metric") == shown_unit("t_850_diff", "K", "metric")
    for name in ("t_850_sdiff", "t_850_diff"):
        assert conversion_for(name, "K", "metric")(np.zeros(1)) == 0


def keys_of_grib1(centre: str, changes: dict[int, int], **labels: int) -> Any:
    """The keys of a GRIB1 message with octets of its section 1 changed; ECMWF's labels set, and read back."""
    handle = eccodes.codes_grib_new_from_samples("GRIB1")
    try:
        for key, value in ({"centre": centre} | labels).items():
            eccodes.codes_set(handle, key, value)
        message = bytearray(eccodes.codes_get_message(handle))
        assert all(get(handle, key) == value for key, value in labels.items())
    finally:
        eccodes.codes_release(handle)
    for octet, value in changes.items():
        message[7 + octet] = value
    (field,) = fields(bytes(message), "f")
    return field.keys


@pytest.mark.parametrize("definition", [1, 15, 16, 18, 23, 26, 30, 36, 40])
@pytest.mark.parametrize("member", [0, 7, 50])
def test_grib1_members_are_read_from_every_local_definition_of_ecmwf(definition: int, member: int) -> None:
    labels = {"setLocalDefinition": 1, "localDefinitionNumber": definition, "number": member}
    assert keys_of_grib1("ecmf", {}, **labels).member == member


def test_ecmwf_pressures_below_1_hpa_are_distinguished_in_grib1() -> None:
    assert keys_of_grib1("ecmf", {10: 210, 11: 0, 12: 50}).level == Level(100, 50.0)


@pytest.mark.parametrize(
    ("indicator", "start", "end"),
    [(2, 6, 12), (4, 6, 12), (6, -6, -12), (7, -6, 12), (10, 6 * 256 + 12, 6 * 256 + 12), (113, 6, 6), (123, 6, 6)],
)
def test_time_ranges_of_grib1(indicator: int, start: int, end: int) -> None:
    keys = keys_of_grib1("kwbc", {18: 1, 19: 6, 20: 12, 21: indicator})
    assert (keys.start, keys.end) == (timedelta(hours=start), timedelta(hours=end))


@pytest.mark.parametrize(
    ("centre", "table", "number", "statistic"),
    [
        ("kwbc", 2, 15, "max"), ("kwbc", 2, 16, "min"), ("kwbc", 2, 11, "other"), ("ecmf", 128, 121, "max"),
        ("ecmf", 128, 122, "min"), ("kwbc", 128, 121, "other"),
    ],
)  # fmt: skip
def test_the_statistic_is_implied_by_the_parameter_in_grib1(
    centre: str, table: int, number: int, statistic: str
) -> None:
    window = {4: table, 9: number, 18: 1, 19: 0, 20: 6}
    assert keys_of_grib1(centre, window | {21: 2}).statistic == statistic
    assert keys_of_grib1(centre, window | {21: 0}).statistic == "instant"
    assert keys_of_grib1(centre, window | {21: 3}).statistic == "avg"


PRODUCT = {
    "typeOfFirstFixedSurface": 103, "scaleFactorOfFirstFixedSurface": 1, "scaledValueOfFirstFixedSurface": 25,
    "indicatorOfUnitOfTimeRange": 1, "forecastTime": 6,
}  # fmt: skip
WINDOW = {"indicatorOfUnitForTimeRange": 1, "lengthOfTimeRange": 3, "typeOfStatisticalProcessing": 1}


def keys_of_template(template: int, **keys: int) -> Any:
    """The keys of a message that ecCodes makes with a product definition template."""
    handle = eccodes.codes_grib_new_from_samples("GRIB2")
    try:
        eccodes.codes_set(handle, "productDefinitionTemplateNumber", template)
        for key, value in keys.items():
            eccodes.codes_set(handle, key, value)
        (field,) = fields(eccodes.codes_get_message(handle), "f")
    finally:
        eccodes.codes_release(handle)
    return field.keys


def test_satellite_images_are_distinguished_by_their_bands() -> None:
    time = {"indicatorOfUnitOfTimeRange": 1, "forecastTime": 6}
    one, other = (keys_of_template(32, **time, NB=1, satelliteSeries=series) for series in (331, 332))
    assert one.end == timedelta(hours=6)
    assert one.level is None
    assert one.selector != other.selector
    assert array_name(one) != array_name(other)


@pytest.mark.parametrize("number", [number for number, template in TEMPLATES.items() if template.surfaces])
def test_every_template_is_read_where_eccodes_writes(number: int) -> None:
    template = TEMPLATES[number]
    with_member = template.ensemble in ("member", "reforecast")
    keys = keys_of_template(
        number,
        **PRODUCT,
        **(WINDOW if template.time_range else {}),
        **({"perturbationNumber": 7} if with_member else {}),
    )
    assert (keys.start, keys.end) == (timedelta(hours=6), timedelta(hours=9 if template.time_range else 6))
    assert keys.level == Level(103, 2.5)
    assert keys.member == (7 if with_member else None)
    assert keys.statistic == ("accum" if template.time_range else "instant")


def test_a_month_ends_where_the_message_says_it_does() -> None:
    end = {"year": 2007, "month": 4, "day": 23, "hour": 12, "minute": 0, "second": 0}
    stated = {f"{part}OfEndOfOverallTimeInterval": number for part, number in end.items()}
    months = {"indicatorOfUnitOfTimeRange": 3, "indicatorOfUnitForTimeRange": 3, "lengthOfTimeRange": 1}
    keys = keys_of_template(8, **months, forecastTime=0, **stated)
    assert (keys.start, keys.end) == (timedelta(0), timedelta(days=31))
    assert keys_of_template(8, **months, forecastTime=2, **stated).end == timedelta(days=31)
    assert keys_of_template(8, **months, forecastTime=0, **stated | {"monthOfEndOfOverallTimeInterval": 0}).end is None


@pytest.mark.parametrize(
    ("kind", "first", "second", "text"),
    [
        (1, 0, 0, "surface"),
        (1, 2, 8, "surface"),
        (102, 0, 0, "mean sea level"),
        (20, 0x6A, 0xB3, "273.15 K level"),
        (100, 3, 82, "850 mb"),
        (126, 0, 50, "0.5 mb"),
        (104, 10, 20, "1000-2000 m above mean sea level"),
        (105, 0, 2, "2 m above ground"),
        (112, 10, 40, "0.1-0.4 m below ground"),
        (114, 145, 165, "330-310 K isentropic layer"),
        (117, 7, 208, "PV=2e-06 (Km^2/kg/s) surface"),
        (117, 0x85, 0xDC, "PV=-1.5e-06 (Km^2/kg/s) surface"),
        (120, 50, 100, "0.5-1 Eta layer"),
        (121, 100, 50, "1000-1050 mb"),
        (128, 100, 200, "1-0.9 sigma layer"),
        (210, 0, 50, "boundary layer cloud top level"),
        (141, 100, 50, "kind 141 value 25650"),
        (235, 0, 200, "kind 235 value 200"),
        (200, 0, 0, "entire atmosphere (considered as a single layer)"),
        (0, 0, 0, "kind 0"),
    ],
)
def test_grib1_levels_are_written_as_wgrib2_writes_them(kind: int, first: int, second: int, text: str) -> None:
    keys = keys_of_grib1("kwbc", {10: kind, 11: first, 12: second})
    assert level_text(keys.level, keys.level2) == text


@pytest.mark.parametrize(
    ("level", "level2", "text"),
    [
        (Level(103, 2.0), None, "2 m above ground"),
        (Level(100, 85000.0), None, "850 mb"),
        (Level(100, 1.0), None, "0.01 mb"),
        (Level(108, 18000.0), Level(108, 0.0), "180-0 mb above ground"),
        (Level(106, 0.1), Level(106, 0.4), "0.1-0.4 m below ground"),
        (Level(106, 0.0), None, "0 m underground"),
        (Level(1, 0.0), None, "surface"),
        (Level(1), Level(8), "surface - top of atmosphere"),
        (Level(1), Level(1), "surface"),
        (Level(200), None, "entire atmosphere (considered as a single layer)"),
        (Level(241, 3.0), None, "3 in sequence"),
        (Level(109, -2e-6), None, "PV=-2e-06 (Km^2/kg/s) surface"),
        (Level(151), Level(151, 2.0), "soil level 2"),
        (Level(151, 3.0), None, "soil level 3"),
        (Level(150, 60.0), Level(150, 61.0), "60-61 generalized vertical height coordinate"),
        (Level(118, 1.0), None, "1 hybrid height level"),
        (Level(117, 5.0), None, "kind 117 value 5"),
        (None, None, ""),
    ],
)
def test_grib2_levels_are_written_as_wgrib2_writes_them(level: Level | None, level2: Level | None, text: str) -> None:
    assert level_text(level, level2) == text


def test_families_of_levels() -> None:
    assert family("850 mb") == ("{} mb", ("850",))
    assert family("0.1-0.4 m below ground") == ("{}-{} m below ground", ("0.1", "0.4"))
    assert family("0C isotherm") == ("0C isotherm", ())
