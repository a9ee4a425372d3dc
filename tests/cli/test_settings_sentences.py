"""Mistakes in [chain] and [regions] that are easily made, and how they are found."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.pipeline.model_check import check_model
from tests.cli.conftest import Run


def settings(text: str) -> None:
    Path("gribmill.toml").write_text(text)


def test_an_unknown_key_of_a_region_lists_the_keys_of_a_region(gribmill: Run) -> None:
    settings("[regions.valley]\nbbox = [-73.5, 41.2, -71.5, 43.5]\n")
    answer = gribmill("regions", "check")
    assert answer.code == 1
    assert "regions.valley.bbox is not a setting (from gribmill.toml); did you mean box? " in answer.err
    assert "the keys of a region are: box, geojson, feature, title, resolution, method, encoding" in answer.err
    assert "chain.keep_days" not in answer.err


@pytest.mark.parametrize("command", [("config", "show"), ("regions", "check")])
def test_a_region_of_the_chain_that_does_not_exist_is_refused(gribmill: Run, command: tuple[str, ...]) -> None:
    settings('[chain]\nregions = ["nee"]\n')
    answer = gribmill(*command)
    assert answer.code == 1
    assert "[chain] regions: there is no region 'nee'; did you mean ne" in answer.err
    settings('[chain]\nregions = ["ne", "mine"]\n[regions.mine]\nbox = [-73.5, 41.2, -71.5, 43.5]\n')
    assert gribmill(*command).code == 0


def test_a_model_of_the_chain_that_does_not_exist_is_refused(gribmill: Run) -> None:
    settings('[chain]\nmodels = ["hrr"]\n')
    answer = gribmill("config", "show")
    assert answer.code == 1 and "there is no model 'hrr'; did you mean hrrr" in answer.err


@pytest.mark.parametrize("command", [("config", "show"), ("prune", "--dry-run")])
def test_retention_of_a_model_that_does_not_exist_is_refused(gribmill: Run, command: tuple[str, ...]) -> None:
    settings("[retention.hrr]\nkeep_days = 2\n")
    answer = gribmill(*command)
    assert answer.code == 1 and "there is no model 'hrr'; did you mean hrrr" in answer.err
    settings("[retention.gefs]\nkeep_days = 2\n")
    assert gribmill(*command).code == 0, "a family"


def test_a_box_with_latitude_first_gets_a_warning(gribmill: Run) -> None:
    settings("[regions.swapped]\nbox = [41.2, -73.5, 43.5, -71.5]\n")
    (view,) = gribmill("regions", "check", "--json").json
    assert view["ok"] is True
    assert "WARNING: reaches only global grids; box is [west, south, east, north]" in view["says"]
    assert "was -73.5,41.2,-71.5,43.5 meant?" in view["says"]


def test_a_box_elsewhere_reaches_only_global_grids_without_a_guess(gribmill: Run) -> None:
    settings("[regions.java]\nbox = [100, -10, 115, 5]\n")
    (view,) = gribmill("regions", "check", "--json").json
    assert view["says"].endswith("WARNING: reaches only global grids")
    settings("[regions.valley]\nbox = [-73.5, 41.2, -71.5, 43.5]\n")
    assert "WARNING" not in gribmill("regions", "check", "--json").json[0]["says"]


def test_check_of_a_model_without_indexes_names_its_limits() -> None:
    own = OwnModels({"mine": {"like": "gfs", "index": "none"}})
    findings = check_model(load_models(own)["mine"], datetime.now(UTC))
    assert findings.unchecked is not None and "its files have no index" in findings.unchecked


def test_monitoring_sees_invalid_settings_as_an_unknown_state(gribmill: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('[chain]\nkeep_days = "x"\n')
    for file in (bad, tmp_path / "none.toml"):
        answer = gribmill("status", "--check", flags=("--config", str(file)))
        assert (answer.code, answer.err) == (3, "")
        assert answer.out.startswith("GRIBMILL UNKNOWN - ")
        assert answer.out.count("\n") == 1
        assert gribmill("status", flags=("--config", str(file))).code == 1
