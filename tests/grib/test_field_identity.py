"""The identity of a field, compared with ecCodes: ECMWF's labels, members, ensemble statistics, thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import eccodes
import pytest

from gribmill.grib.decode.field import Field, fields, read_fields
from gribmill.grib.messages import read_headers
from gribmill.grib.names.array_name import array_name
from gribmill.grib.names.lexicon import lexicon
from gribmill.grib.names.long_names import of_ensemble
from gribmill.grib.product.keys import Keys, MarsLabels, field_identity, identity_text
from tests.make_grib import make_message
from tests.real_files import real, real_files

ECMWF_FILES = [path for path in real_files("ecmwf/*") if "multiarea" not in path.name]


def theirs(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            yield {key: _text(handle, f"mars.{key}") for key in ("class", "stream", "type")} | {
                "expver": _text(handle, "experimentVersionNumber")
            }
            eccodes.codes_release(handle)


def _text(handle: int, key: str) -> str | None:
    return eccodes.codes_get(handle, key, str) if eccodes.codes_is_defined(handle, key) else None


@pytest.mark.parametrize("path", ECMWF_FILES, ids=lambda path: path.name)
def test_labels_of_real_ecmwf_files_are_those_that_eccodes_reads(path: Path) -> None:
    for ours, them in zip(read_fields(path), theirs(path), strict=True):
        identity = field_identity(ours.keys)
        for key in ("class", "stream", "type"):
            assert identity[key] == them[key]
        assert them["expver"] in (None, identity["expver"])


def test_headers_alone_give_the_same_identity_as_fields() -> None:
    path = real("ecmwf/aifs-single.20260628.06z.0p25.0h.wave.grib2")
    headers = [field.keys for header in read_headers(path) for field in header.fields]
    assert headers == [field.keys for field in read_fields(path)]
    assert all(keys.mars is not None for keys in headers)


def field_of(**keys: Any) -> Field:
    (field,) = fields(make_message("gfs-small", "2t", packing="grid_simple", keys=keys), "f")
    return field


def test_members_statistics_percentiles_and_thresholds_are_named() -> None:
    member = field_of(productDefinitionTemplateNumber=1, typeOfEnsembleForecast=3, perturbationNumber=2)
    assert field_identity(member.keys)["ensemble_member"] == 2
    assert field_identity(member.keys)["member_kind"] == "positively perturbed"
    assert identity_text(field_identity(member.keys), whole=False) == "member 2"
    spread = field_of(productDefinitionTemplateNumber=2, derivedForecast=2)
    assert field_identity(spread.keys)["derived"] == "standard deviation"
    percentile = field_of(productDefinitionTemplateNumber=6, percentileValue=90)
    assert identity_text(field_identity(percentile.keys), whole=False) == "percentile 90"
    limit = {"scaleFactorOfUpperLimit": 2, "scaledValueOfUpperLimit": 27315}
    chance = field_of(productDefinitionTemplateNumber=5, probabilityType=1, **limit)
    assert field_identity(chance.keys)["upper"] == 273.15
    assert identity_text(field_identity(chance.keys), whole=False) == "probability of exceeding 273.15"


def grib1(centre: int, changes: dict[int, int], extension: bytes = b"") -> Keys:
    """The keys of a GRIB1 message whose product section is extended and changed, by octet."""
    handle = eccodes.codes_grib_new_from_samples("GRIB1")
    plain = eccodes.codes_get_message(handle)
    eccodes.codes_release(handle)
    length = int.from_bytes(plain[8:11], "big")
    product = bytearray(plain[8 : 8 + min(length, 28)]).ljust(40, b"\0") + extension
    product[:3] = len(product).to_bytes(3, "big")
    for octet, value in ({5: centre} | changes).items():
        product[octet - 1] = value
    rest = plain[8 + length :]
    total = 8 + len(product) + len(rest)
    message = b"GRIB" + total.to_bytes(3, "big") + b"\1" + bytes(product) + rest
    (field,) = fields(message, "f")
    return field.keys


@pytest.mark.parametrize(
    ("extension", "expected"),
    [
        ((1, 1, 2, 1, 255), {"ensemble_member": 0, "member_kind": "low-resolution control"}),
        ((1, 2, 7, 1, 255), {"ensemble_member": 7, "member_kind": "negatively perturbed"}),
        ((1, 3, 7, 1, 255), {"ensemble_member": 7, "member_kind": "positively perturbed"}),
        ((1, 5, 0, 1, 255), {"derived": "mean"}),
        ((1, 5, 0, 11, 255), {"derived": "standard deviation"}),
        ((0, 5, 0, 11, 255), {}),
    ],
)
def test_ncep_extension_of_grib1_for_ensembles_is_read(extension: tuple[int, ...], expected: dict[str, Any]) -> None:
    identity = field_identity(grib1(7, {}, bytes(extension)))
    assert {key: value for key, value in identity.items() if key not in ("centre", "subcentre", "process")} == expected


MODA = bytes((1, 23, 2)) + (1071).to_bytes(2, "big") + b"0001" + bytes((0, 0, 0))


@pytest.mark.parametrize("indicator", [0, 123])
def test_an_era5_monthly_mean_is_never_named_as_an_analysis(indicator: int) -> None:
    keys = grib1(98, {4: 128, 9: 167, 10: 1, 11: 0, 12: 0, 18: 1, 19: 0, 20: 0, 21: indicator}, MODA)
    assert (keys.mars and keys.mars.stream) == "moda"
    assert keys.of_many == "mean"
    assert lexicon().match_keys(keys) is None
    assert array_name(keys) == "t2m_mean_of_many"
    assert "mean of many" in of_ensemble("Temperature at 2 m", "K", keys)[0]


SEASONAL = bytes((12, 31, 80)) + (1221).to_bytes(2, "big") + b"0001" + (7).to_bytes(2, "big") + bytes(69)


def test_a_seasonal_forecast_of_another_centre_in_ecmwfs_archive_has_its_labels_names_and_members() -> None:
    # Copernicus' monthly means of the Met Office, as ECMWF archives them: table 128, subcentre 98.
    octets = {4: 128, 9: 167, 10: 1, 11: 0, 12: 0, 18: 1, 19: 2, 20: 232, 21: 10, 26: 98}
    keys = grib1(74, octets, SEASONAL)
    assert keys.mars == MarsLabels("c3", "msmm", "fcmean")
    assert array_name(keys) == "t2m_mean_of_many"
    identity = field_identity(keys)
    assert (identity["centre"], identity["ensemble_member"]) == (74, 7)
    assert field_identity(grib1(74, octets | {26: 0}, SEASONAL)).keys().isdisjoint({"class", "ensemble_member"})


@pytest.mark.parametrize("definition", [1, 12, 13, 14, 15, 16, 18, 23, 26, 27, 28, 30, 36, 40, 50])
def test_members_in_ecmwfs_local_definitions_of_grib1_are_those_that_eccodes_reads(definition: int) -> None:
    handle = eccodes.codes_grib_new_from_samples("GRIB1")
    for key, value in {"centre": 98, "setLocalDefinition": 1, "localDefinitionNumber": definition, "number": 7}.items():
        eccodes.codes_set(handle, key, value)
    (field,) = fields(eccodes.codes_get_message(handle), "f")
    eccodes.codes_release(handle)
    assert field.keys.ensemble_member == 7


def test_ecmwf_analyses_of_an_hour_keep_their_name() -> None:
    oper = MODA[:3] + (1025).to_bytes(2, "big") + MODA[5:]
    keys = grib1(98, {4: 128, 9: 167, 10: 1, 11: 0, 12: 0, 18: 1, 19: 0, 20: 0, 21: 0}, oper)
    match = lexicon().match_keys(keys)
    assert match is not None
    assert match.variable.name == "t2m"
    assert keys.ensemble_member is None  # ECMWF writes member 0 of 0 there


@pytest.mark.parametrize(("indicator", "name"), [(0, "t2m"), (1, "t2m"), (2, "t2m"), (3, None), (4, None), (51, None)])
def test_an_ecmwf_mean_or_sum_over_a_time_range_is_not_named_as_a_moment(indicator: int, name: str | None) -> None:
    oper = MODA[:3] + (1025).to_bytes(2, "big") + MODA[5:]
    keys = grib1(98, {4: 128, 9: 167, 10: 1, 11: 0, 12: 0, 18: 1, 19: 0, 20: 24, 21: indicator}, oper)
    match = lexicon().match_keys(keys)
    assert (match.variable.name if match else None) == name


def test_a_probability_of_ncep_in_grib1_has_its_limits() -> None:
    # 273.15 and 0 as floats of the IBM 360.
    limits = bytes.fromhex("43111266") + bytes(4)
    keys = grib1(7, {9: 191}, bytes((1, 5, 0, 1, 255, 11, 1)) + limits)
    assert keys.probability is not None
    assert keys.probability.kind == 0
    assert keys.probability.lower == pytest.approx(273.15, abs=1e-3)
