"""User-defined variables through the whole chain: a generated NBM file, a worker, tiles and readers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gribmill.sandbox.forecast.index_lines import noaa_lines
from gribmill.sandbox.publisher.server import Server
from gribmill.tiles.read.dataset import open_tile
from tests.make_grib import make_message

pytestmark = pytest.mark.process

RUN = datetime(2026, 11, 1, 12, tzinfo=UTC)
RUN_ID = "20261101_12"
KEY = "nbm/blend.20261101/12/core/blend.t12z.core.f012.co.grib2"
ABOVE_0P254: dict[str, Any] = {
    "productDefinitionTemplateNumber": 9, "probabilityType": 1, "scaleFactorOfUpperLimit": 3,
    "scaledValueOfUpperLimit": 254, "typeOfStatisticalProcessing": 1,
}  # fmt: skip
SETTINGS = """
data = "data"
variables_file = "more.toml"
[workers]
lanes = {{ fetch = 1, build = 1 }}
[chain]
models = ["nbm_co"]
regions = ["corner"]
[regions.corner]
box = [-126.0, 19.4, -125.0, 20.2]
[roots]
aws-nbm = "{url}nbm/"
nomads-nbm = "{url}nbm/"
[models.nbm_co]
variables = ["t2m", "tp_bucket", "pop", "pop_6h", "t2m_spread", "t2m_p10", "thunder"]
[variables.pop]
long_name = "Chance of more than 0.25 mm"
units = "%"
palette = "humidity"
range = [0, 100]
noaa = "APCP"
level = "surface"
statistic = "accum"
extra = "prob >0.254:prob fcst 255/255"
[variables.t2m_spread]
long_name = "Standard deviation of the temperature at 2 m"
units = "K"
noaa = "TMP"
level = "2 m above ground"
extra = "ens std dev"
"""
MORE = """
[t2m_p10]
long_name = "Temperature at 2 m, tenth percentile"
units = "K"
grib2 = "0.0.0"
level = "2 m above ground"
percentile = 10
[thunder]
long_name = "Chance of thunder in an hour"
units = "%"
noaa = "TSTM"
grib2 = "0.19.2"
level = "surface"
time = "11-12 hour acc fcst"
extra = "probability forecast"
"""


def chance(start: int, percent: float) -> bytes:
    times = {"forecastTime": start, "lengthOfTimeRange": 12 - start}
    return make_message(
        "nbm-small", "tp", percent, reference=RUN, window=(start, 12), missing="management", keys=ABOVE_0P254 | times
    )


def temperature(value: float, **keys: Any) -> bytes:
    return make_message("nbm-small", "2t", value, reference=RUN, step=12, keys=keys)


def thunder(percent: float) -> bytes:
    numbers = {"discipline": 0, "parameterCategory": 19, "parameterNumber": 2}
    return make_message("nbm-small", "tp", percent, reference=RUN, window=(11, 12), keys=numbers)


def publish(root: Path) -> None:
    """Publish plain fields, and fields that differ only in the end of their index lines."""
    rows = [
        ("APCP:surface:11-12 hour acc fcst:prob >0.254:prob fcst 255/255", chance(11, 30.0)),
        ("APCP:surface:6-12 hour acc fcst:prob >0.254:prob fcst 255/255", chance(6, 60.0)),
        ("TSTM:surface:11-12 hour acc fcst:probability forecast", thunder(15.0)),
        ("APCP:surface:11-12 hour acc fcst:", make_message("nbm-small", "tp", 2.5, reference=RUN, window=(11, 12))),
        ("TMP:2 m above ground:12 hour fcst:", temperature(290.0)),
        (
            "TMP:2 m above ground:12 hour fcst:ens std dev",
            temperature(1.5, productDefinitionTemplateNumber=2, derivedForecast=2),
        ),
        (
            "TMP:2 m above ground:12 hour fcst:10% level",
            temperature(287.0, productDefinitionTemplateNumber=6, percentileValue=10),
        ),
    ]
    path, offset, lines = root / KEY, 0, []
    path.parent.mkdir(parents=True)
    for row, message in rows:
        lines.append((offset, [row]))
        offset += len(message)
    path.write_bytes(b"".join(message for _, message in rows))
    text = "".join(f"{line}\n" for line in noaa_lines(lines, f"{RUN:%Y%m%d%H}"))
    path.with_name(f"{path.name}.idx").write_text(text)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with settings and a data root, after a scan and a worker."""
    root = tmp_path_factory.mktemp("own")
    publish(root / "mirror")
    with Server(root / "mirror", port=0) as server:
        (root / "gribmill.toml").write_text(SETTINGS.format(url=server.url))
        (root / "more.toml").write_text(MORE)
        gribmill(root, "scan", "nbm_co", "--run", RUN_ID, "--here")
        gribmill(root, "work", "--drain")
        yield root


def gribmill(root: Path, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gribmill", *arguments], cwd=root, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_worker_puts_own_variables_into_the_tile_with_their_names_and_values(place: Path) -> None:
    tile = open_tile(place / f"data/tiles/nbm_co/{RUN_ID}/corner/012.npz")
    values = {name: round(float(tile[name].mean()), 3) for name in tile.data_vars if tile[name].ndim >= 2}
    assert values == {
        "t2m": 290.0, "tp_bucket": 2.5, "pop": 30.0, "pop_6h": 60.0, "t2m_spread": 1.5, "t2m_p10": 287.0,
        "thunder": 15.0,
    }  # fmt: skip
    assert tile["pop"].attrs["long_name"] == "Chance of more than 0.25 mm"
    assert (tile["pop"].attrs["units"], tile["t2m_p10"].attrs["units"]) == ("%", "K")
    assert tile["pop_6h"].attrs["long_name"] == "Chance of more than 0.25 mm over 6 h"


def test_nothing_was_absent_or_failed(place: Path) -> None:
    facts = json.loads(gribmill(place, "tile", "info", f"data/tiles/nbm_co/{RUN_ID}/corner/012.npz", "--json"))
    assert facts["absent"] == [] and facts["skipped"] == [] and facts["duplicates"] == []
    assert json.loads(gribmill(place, "jobs", "list", "--status", "failed", "--json"))["jobs"] == []


def test_point_and_maps_have_them(place: Path) -> None:
    names = "pop,pop_6h,t2m_spread,t2m_p10,thunder"
    facts = json.loads(gribmill(place, "point", "19.8", "-125.5", "--region", "corner", "--vars", names, "--json"))
    (row,) = facts["hours"]
    # A six-hour probability is neither computed from hourly ones nor confused with them.
    assert (row["pop"], row["pop_6h"], row["thunder"], row["t2m_spread"]) == (30.0, 60.0, 15.0, 1.5)
    assert row["t2m_p10"] == pytest.approx(13.85)
    assert facts["window_minutes"]["pop"] == [[660, 720]]
    gribmill(place, "tile", "plot", f"data/tiles/nbm_co/{RUN_ID}/corner/012.npz", "pop", "--out", "pop.png")
    assert (place / "pop.png").stat().st_size > 10_000


def test_commands_know_own_models_and_variables(place: Path) -> None:
    assert "nbm_co" in gribmill(place, "models", "check", "nbm_co", "--index", f"mirror/{KEY}.idx")
    listed = gribmill(place, "grib", "ls", f"mirror/{KEY}")
    assert {"pop", "pop_6h", "thunder", "t2m_spread", "t2m_p10"} <= set(listed.split())
    gribmill(
        place,
        "cut",
        f"mirror/{KEY}",
        "--region",
        "corner",
        "--vars",
        "pop,t2m_p10",
        "--model",
        "nbm_co",
        "--out",
        "cut",
    )
    assert set(open_tile(place / f"cut/tiles/nbm_co/{RUN_ID}/corner/012.npz").data_vars) >= {"pop", "t2m_p10"}
    gribmill(place, "fetch", "nbm_co", RUN_ID, "12", "--vars", "pop_6h", "--out", "pop.grib2")
    assert "pop" in gribmill(place, "grib", "ls", "pop.grib2")
    shown = gribmill(place, "config", "show")
    assert "Chance of thunder" in shown and "variables_file" in shown


def test_without_the_settings_the_same_names_are_unknown(place: Path, tmp_path: Path) -> None:
    assert "no variable pop in the lexicon" in gribmill(
        tmp_path, "cut", str(place / f"mirror/{KEY}"), "--bbox", "-126,19.4,-125,20.2", "--vars", "pop", code=2
    )
