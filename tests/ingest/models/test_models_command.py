"""`gribmill models`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gribmill.cli.chain.models.group import models
from gribmill.ingest.errors import ModelError
from gribmill.settings.load import load_settings
from gribmill.settings.schema import Settings
from tests.ingest.make_index import noaa_lines


def run(*arguments: str, settings: Settings | None = None) -> Result:
    # Click keeps the options for help at the first call: as below `gribmill`, for the tests that come after.
    names = ["-h", "--help"]
    return CliRunner().invoke(
        models, arguments, obj=settings or Settings(), catch_exceptions=False, help_option_names=names
    )


def as_json(*arguments: str, settings: Settings | None = None) -> Any:
    return json.loads(run(*arguments, "--json", settings=settings).output)


def test_list_shows_each_family_once_and_members_on_request() -> None:
    rows = {row["model"]: row for row in as_json("list")}
    assert rows["gefs"]["members"] == 33
    assert rows["hrrr"]["members"] is None
    assert rows["hrrr"]["mirrors"][0] == "aws-hrrr"
    assert rows["gefs"]["title"] == "GEFS, global, 0.25°"
    members = [row["model"] for row in as_json("list", "--members")]
    assert {"gefs.p01", "ifs_enfo.pf50", "hrrr"} <= set(members)
    assert "hrrr" in run("list").output


def test_show_lists_mirrors_hours_and_licence() -> None:
    facts = as_json("show", "ifs")
    assert facts["licence"] == "CC-BY-4.0"
    assert facts["cycles"] == "0-18/6"
    assert "t2m" in facts["variables"]
    assert [row["mirror"] for row in facts["addresses"]] == ["aws-ecmwf", "gcs-ecmwf", "ecmwf"]
    assert facts["addresses"][0]["index"].endswith("h-oper-fc.index")
    assert facts["latency"][0]["hour"] == 0
    text = run("show", "ifs").output
    assert "CC-BY-4.0" in text and "https://data.ecmwf.int/forecasts/" in text


def test_show_of_an_ended_model_names_its_last_run() -> None:
    facts = as_json("show", "nam")
    assert facts["newest run"] == "none: the last was 20261014_06"
    assert facts["addresses"][0]["file"].endswith("nam.20261014/nam.t06z.awphys84.tm00.grib2")


def test_show_of_a_family_names_its_members() -> None:
    family = as_json("show", "gefs")
    assert (family["model"], family["title"], family["members"][0]) == ("gefs", "GEFS, global, 0.25°", "gefs.c00")
    assert family["ends lines with"] is None, "each member has its own words"
    assert as_json("show", "gefs.p01")["members"] is None


def test_check_passes_a_model_and_says_what_it_tried() -> None:
    (row,) = as_json("check", "rap")
    assert row["problems"] == [] and row["keys"] > 500 and row["variables"] == "32/32"
    assert run("check", "rap").exit_code == 0


def test_check_on_an_index_names_what_is_not_in_it(tmp_path: Path) -> None:
    index = tmp_path / "x.idx"
    index.write_bytes(noaa_lines(["TMP:2 m above ground:8 hour fcst:", "DPT:2 m above ground:8 hour fcst:"]))
    result = run("check", "hrrr", "--index", str(index))
    assert result.exit_code == 1
    assert "not found in the index: rh2m" in result.output
    assert "2/41" in result.output


def test_check_finds_a_variable_that_does_not_exist_and_a_grid_without_a_name(tmp_path: Path) -> None:
    config = tmp_path / "gribmill.toml"
    config.write_text('[models.rap]\nvariables = ["t2m", "t2n"]\ngrid = "nowhere"\n')
    result = run("check", "rap", settings=load_settings(config))
    assert result.exit_code == 1
    assert "there is no variable 't2n'" in result.output
    assert "there is no grid 'nowhere'" in result.output


def test_index_is_checked_with_one_model_only(tmp_path: Path) -> None:
    index = tmp_path / "x.idx"
    index.write_bytes(noaa_lines(["TMP:2 m above ground:8 hour fcst:"]))
    assert run("check", "gefs", "--index", str(index)).exit_code == 2
    assert run("check", "--index", str(index)).exit_code == 2


def test_an_unknown_model_is_refused_with_suggestions() -> None:
    with pytest.raises(ModelError, match="did you mean hrrr"):
        run("show", "hrr")
