"""Regions: built in, from settings, from GeoJSON; bad ones are refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gribmill.config_file import SettingsError
from gribmill.regions.box import Box
from gribmill.regions.errors import RegionError
from gribmill.regions.region import Region, built_in_regions, load_regions, region_named
from gribmill.settings.load import load_settings
from gribmill.settings.schema import RegionSettings


def test_built_in_regions_exist_with_plausible_boxes() -> None:
    regions = built_in_regions()
    wanted = {"ne", "nw", "sw", "se", "mw", "conus", "alaska", "hawaii", "puerto_rico", "europe", "global", "arctic"}
    assert wanted <= set(regions) and len(regions) >= 50
    assert regions["alaska"].box.crosses_dateline
    assert regions["global"].box == Box(-180, -90, 180, 90)
    places = {
        "ne": (40.7, -74.0), "nw": (47.6, -122.3), "sw": (34.05, -118.2), "se": (33.7, -84.4), "mw": (41.9, -87.6),
        "alaska": (61.2, -149.9), "hawaii": (21.3, -157.9), "puerto_rico": (18.4, -66.1), "europe": (48.9, 2.4),
        "japan": (35.7, 139.7), "australia": (-33.9, 151.2), "new_zealand": (-41.3, 174.8), "india": (28.6, 77.2),
        "southern_africa": (-26.2, 28.0), "brazil": (-23.5, -46.6), "fiji": (-18.1, 178.4), "global": (0, 0),
    }  # fmt: skip
    for name, place in places.items():
        assert regions[name].box.contains(*place), name
    assert regions["alaska"].box.contains(52.9, 172.9)  # Attu, west of the dateline
    for name in ("ne", "nw", "sw", "se", "mw", "california", "texas", "florida"):
        box, conus = regions[name].box, regions["conus"].box
        assert conus.contains(box.south, box.west) and conus.contains(box.north, box.east), name
    assert all(region.title for region in regions.values())


def test_user_region_joins_the_built_in_ones_or_replaces_one(tmp_path: Path) -> None:
    config = tmp_path / "gribmill.toml"
    config.write_text(
        """
        [regions.tuscany]
        title = "Tuscany"
        box = [9.6, 42.2, 12.4, 44.5]
        resolution = 0.05
        method = "cells"

        [regions.ne]
        box = [-75, 40, -70, 45]
        """
    )
    regions = load_regions(load_settings(config).regions)
    assert regions["tuscany"] == Region("tuscany", Box(9.6, 42.2, 12.4, 44.5), "Tuscany", 0.05, "cells")
    assert regions["ne"].box == Box(-75, 40, -70, 45)
    assert regions["conus"] == built_in_regions()["conus"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"box": [1, 2, 3]}, "region mine: box has 3 numbers"),
        ({"box": [10, 50, 20, 40]}, "region mine: south 50 is north"),
        ({"box": [0, 0, float("nan"), 1]}, "region mine: east"),
        ({}, "region mine: give either"),
        ({"box": [0, 0, 1, 1], "geojson": "a.json"}, "region mine: give either"),
        ({"geojson": Path("nowhere.json")}, "nowhere.json cannot be read"),
        ({"box": [0, 0, 1, 1], "feature": "x"}, "feature names"),
        ({"box": [0, 0, 1, 1], "method": "cells"}, "needs a resolution"),
        ({"box": [0, 0, 1, 1], "resolution": 0}, "resolution is in degrees"),
        ({"box": [0, 0, 1, 1], "resolution": 99.0}, "resolution is in degrees"),
    ],
)
def test_a_bad_region_is_refused_by_name_with_the_reason(values: dict[str, Any], reason: str) -> None:
    with pytest.raises(RegionError, match=reason):
        load_regions({"mine": RegionSettings(**values)})


@pytest.mark.parametrize("name", ["", "Alps", "../x", "a b", "_a", "-a", "a" * 41, "a\n", "ä"])
def test_names_that_could_be_paths_or_worse_are_refused(name: str) -> None:
    with pytest.raises(RegionError, match="not a region name"):
        Region(name, Box(0, 0, 1, 1), "")


def test_settings_refuse_tables_that_are_not_regions(tmp_path: Path) -> None:
    config = tmp_path / "gribmill.toml"
    for text, key in (("box = 'here'", "box"), ("method = 'magic'", "method"), ("bocks = [1]", "bocks")):
        config.write_text(f"[regions.mine]\n{text}\n")
        with pytest.raises(SettingsError, match=rf"regions\.mine\.{key}"):
            load_settings(config)


def test_a_name_that_does_not_exist_gets_a_suggestion() -> None:
    with pytest.raises(RegionError, match="did you mean alaska"):
        region_named(built_in_regions(), "alasca")
    with pytest.raises(RegionError, match="regions list"):
        region_named(built_in_regions(), "qqqqqq")
