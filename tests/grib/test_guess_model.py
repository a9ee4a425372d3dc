"""Recognition of a file's model, for real and generated files; an uncertain one gets a neutral name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from gribmill.grib.decode.field import fields, read_fields
from gribmill.grib.errors import GribError
from gribmill.grib.guess_model import AEROSOLS, guess_model
from gribmill.identity import MODEL_ID
from tests.make_grib import make_message
from tests.real_files import real, real_files

# The most frequent model of each file; a question mark follows those that are not recognised.
REAL = {
    "noaa/hrrr.20251203.t00z.wrfsfcf00.HPBL.grib2": "hrrr",
    "noaa/gfs.20251201.t00z.0p25.f000.TMP-2m.grib2": "gfs",
    "noaa/gfs.20250129.t00z.1p00.f006.TCDC.grib2": "gfs_1p00",
    "noaa/gdas.20211116.t00z.0p25.f000.TMP-2m.grib2": "gdas",
    "noaa/gdas.20240120.t00z.sfluxgrb.f000.gaussian.grib2": "gdas_sflux",
    "noaa/gdaswave.20211130.t00z.wcoast.0p16.f000.grib2": "gdaswave_0p16",
    "noaa/gefs.gec00.20250101.t00z.0p50.f003.SOILW.grib2": "gefs_0p50.c00",
    "noaa/gefs.gep08.20200825.t00z.0p50.f012.subregion.grib2": "gefs_0p50.p08",
    "noaa/gefs.20210416.t00z.0p50.f006.avg.TMP-2m.grib2": "gefs_0p50.avg",
    "noaa/gefs.20210416.t00z.0p50.f006.spr.TMP-2m.grib2": "gefs_0p50.spr",
    "noaa/gefs.gep19.20090605.t00z.1p00.f180.jpeg.grib2": "gefs_1p00.p19",
    "noaa/nam.20170624.t06z.grid221.f081.SBT.grib2": "nam",
    "noaa/nbm.20250901.t00z.core.f001.co.TMP-2m.grib2": "nbm_co",
    "noaa/nbm.20260616.t12z.f001.PWAT-prob-above.grib2": "nbm_co",
    "noaa/aqm.20240516.t12z.AK.O3.polar-stereo.grib2": "aqm_ak",
    "noaa/ndfd.20251021.conus.maxt.grib2": "ndfd",
    "noaa/stage4.2022081004.01h.grib2": "stage4",
    "noaa/wpc.2022080912.f168.p06m.grib2": "wpc_qpf",
    "noaa/ncep-gp80-gaussian.20230614.3runs.grib2": "kwbc_s1_p80?",
    "adversarial/mrms.20260219-0424.PrecipFlag.png.grib2": "mrms",
    "adversarial/milton-adv22.20241010.8577x5505.grid_complex.grib2": "psurge",
    "adversarial/wrfprs_nam.20170719.MULTIFIELD-u-v.grib2": "kwbc_p118?",
    "adversarial/one_value_and_nodata.grib2": "kwbc_s212_p96?",
    "adversarial/ncep.20130614.lambert.grib1": "kwbc_p89?",
    "adversarial/tilde_shortname.grib": "ecmwf_rd_oper_hhe4?",
    "adversarial/padding-between-messages.grib": "ifs_an",
    "ecmwf/ifs.20260310.00z.oper.0p25.0h.surface.grib2": "ifs",
    "ecmwf/ifs-enfo-em.20240101.00z.3-6h.grib1": "ifs_enfo.em",
    "ecmwf/ifs-enfo-es.20240101.00z.3-6h.grib1": "ifs_enfo.es",
    "ecmwf/aifs-single.20260310.12z.0p25.0h.t500.grib2": "aifs",
    "ecmwf/era5.201903.2t.uk.hourly744.grib1": "era5",
    "ecmwf/era5.20170101.levels-members.grib1": "era5_enda.m00",
    "ecmwf/s2s-control.20260810.00z.grib2": "s2s_ecmwf.cf",
    "other/mf-arome.20260413.21z.TCDC.ccsds.grib2": "lfpw_p204?",
    "other/jma-meps.20190605.00z.20msgs.grib2": "rjtd.c00?",
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_labelled_as_what_it_is(name: str) -> None:
    path = real(name)
    guesses = Counter(guess_model(item.keys, item.grid, path.name) for item in read_fields(path))
    (guess, _) = guesses.most_common(1)[0]
    assert guess.model_id + ("" if guess.recognised else "?") == REAL[name]


@pytest.mark.slow
@pytest.mark.parametrize("path", real_files("[aeno]*/*"), ids=lambda path: path.name)
def test_no_real_file_is_labelled_with_another_models_name(path: Any) -> None:
    """The collection's file names begin with the model."""
    try:
        items = list(read_fields(path))
    except GribError:
        return
    for item in items:
        try:
            guess = guess_model(item.keys, item.grid, path.name)
        except GribError:
            continue
        assert MODEL_ID.fullmatch(guess.model_id)
        for model in ("hrrr", "gefs", "gdas", "nbm", "rap", "era5", "aifs", "s2s", "tigge"):
            if path.name.startswith(model):
                assert guess.family.startswith(model) or not guess.recognised
            elif guess.family.startswith(model):
                assert model in path.name


def guess(grid: str, file: str = "f", **keys: Any) -> str:
    (item,) = fields(make_message(grid, "2t", packing="grid_simple", keys=keys), "f")
    found = guess_model(item.keys, item.grid, file, aerosols=item.keys.template in AEROSOLS)
    return found.model_id + ("" if found.recognised else "?")


def labels(mars_class: str, stream: str, kind: str = "fc", **more: Any) -> dict[str, Any]:
    local = {"setLocalDefinition": 1, "localDefinitionNumber": 1}
    return local | {"marsClass": mars_class, "marsType": kind, "marsStream": stream} | more


MEMBER: dict[str, Any] = {"productDefinitionTemplateNumber": 1, "perturbationNumber": 0}


@pytest.mark.parametrize(
    ("expected", "keys"),
    [
        ("ifs", labels("od", "oper")),
        ("ifs_an", labels("od", "oper", "an")),
        ("ifs_wave", labels("od", "wave")),
        ("aifs", labels("ai", "oper")),
        ("aifs_ens.cf", labels("ai", "enfo", "cf") | MEMBER),
        ("aifs_ens.pf07", labels("ai", "enfo", "pf") | MEMBER | {"perturbationNumber": 7}),
        ("era5_moda", labels("ea", "moda", "an")),
        ("era5_land", labels("l5", "oper", "an")),
        ("ecmwf_od_mmsf?", labels("od", "mmsf")),
        ("ecmwf_p158?", {"generatingProcessIdentifier": 158}),
    ],
)
def test_models_of_ecmwf_are_distinguished_by_their_labels(expected: str, keys: dict[str, Any]) -> None:
    assert guess("ecmwf-small", **keys) == expected


def test_hrrr_nam_and_rrfs_share_a_grid_and_differ_by_process() -> None:
    for process, model in ((83, "hrrr"), (84, "namnest"), (134, "rrfs_conus"), (128, "kwbc_p128?")):
        assert guess("hrrr-small", generatingProcessIdentifier=process) == model


def test_files_of_the_assimilation_or_another_subcentre_are_not_gfs() -> None:
    assert guess("gfs-small", generatingProcessIdentifier=96) == "gfs"
    assert guess("gfs-small", generatingProcessIdentifier=82) == "gdas"
    assert guess("gfs-small", "gdas.t00z.pgrb2.0p25.f003", generatingProcessIdentifier=96) == "gdas"
    assert guess("gfs-small", generatingProcessIdentifier=96, subCentre=3) == "kwbc_s3_p96?"


def test_aerosols_with_the_process_of_gfs_are_not_gfs() -> None:
    keys: dict[str, Any] = {"productDefinitionTemplateNumber": 46, "generatingProcessIdentifier": 96}
    assert guess("gfs-small", **keys) == "kwbc_p96_aerosol?"
