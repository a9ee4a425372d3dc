"""User-defined models: changed, new or on other mirrors; invalid ones are refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gribmill.identity import run_time
from gribmill.ingest.errors import ModelError
from gribmill.ingest.models.registry import OwnModels, load_models, models_named
from gribmill.pipeline.models import configured_models
from gribmill.settings.load import load_settings

RUN = run_time("20260901_00")
COMPLETE = """
title = "Our own"
index = "none"
licence = "ours"
attribution = "us"
variables = ["t2m"]
[[mirrors]]
name = "disk"
root = "file:///srv/grib"
[[layouts]]
key = "{Ymd}{HH}/our_{fff}.grib2"
[[hours]]
cycles = "0, 12"
steps = "0-6"
"""


def with_tables(**tables: Any) -> OwnModels:
    return OwnModels(tables=tables)


def test_a_table_changes_the_keys_that_it_names_and_leaves_the_rest() -> None:
    model = load_models(with_tables(hrrr={"variables": ["t2m", "u10"], "scan_seconds": 10}))["hrrr"]
    assert model.variables == ("t2m", "u10")
    assert model.scan_seconds == 10
    assert model.urls(RUN, 0) == load_models()["hrrr"].urls(RUN, 0)


def test_new_model_is_like_another_except_for_changed_keys() -> None:
    layout = {"key": "hrrr.{Ymd}/conus/hrrr.t{HH}z.wrfnatf{ff}.grib2"}
    models = load_models(with_tables(hrrr_nat={"like": "hrrr", "layouts": [layout]}))
    assert models["hrrr_nat"].urls(RUN, 1)[0].grib_url.endswith("/hrrr.20260901/conus/hrrr.t00z.wrfnatf01.grib2")
    assert models["hrrr_nat"].variables == models["hrrr"].variables


def test_a_folder_of_files_adds_models_and_the_settings_win(tmp_path: Path) -> None:
    (tmp_path / "ours.toml").write_text(COMPLETE)
    (tmp_path / "hrrr.toml").write_text('variables = ["t2m"]\nscan_seconds = 7\n')
    models = load_models(OwnModels({"hrrr": {"variables": ["u10"]}}, tmp_path))
    assert (models["hrrr"].variables, models["hrrr"].scan_seconds) == (("u10",), 7)
    (source,) = models["ours"].urls(RUN, 6)
    assert (source.grib_url, source.index_url) == ("file:///srv/grib/2026090100/our_006.grib2", None)
    assert source.mirror.listing == "folder"


def test_roots_put_a_mirror_elsewhere_in_every_model_that_uses_it() -> None:
    models = load_models(OwnModels(roots={"aws-hrrr": "http://127.0.0.1:8000/hrrr"}))
    for name in ("hrrr", "hrrr_prs", "hrrrak"):
        first, second, *_ = models[name].urls(RUN, 0)
        assert first.grib_url.startswith("http://127.0.0.1:8000/hrrr/hrrr.20260901/")
        assert second.grib_url.startswith("https://storage.googleapis.com/")
    local = load_models(OwnModels(roots={"aws-hrrr": "file:///data/mirror"}))["hrrr"].mirrors[0]
    assert (local.root, local.listing) == ("file:///data/mirror/", "folder")


def test_the_settings_file_has_all_three(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "ours.toml").write_text(COMPLETE)
    config = tmp_path / "gribmill.toml"
    config.write_text(
        f'models_dir = "{folder}"\n[models.gfs]\nvariables = ["t2m"]\n'
        '[roots]\naws-gfs = "http://127.0.0.1:9/x"\n[models.late]\nlike = "ours"\n'
        '[[models.late.layouts]]\nfrom = 2030-01-01T00:00:00Z\nkey = "{Ymd}{HH}/x{ff}"\n'
    )
    settings = load_settings(config)
    models = configured_models(settings)
    assert models["gfs"].variables == ("t2m",)
    assert models["gfs"].mirrors[0].root == "http://127.0.0.1:9/x/"
    assert models["ours"].hours(RUN) == tuple(range(7))
    assert models["late"].hours(RUN) == ()
    # Workers get the settings as JSON.
    again = configured_models(type(settings).model_validate(settings.model_dump(mode="json")))
    assert again == models


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"varables": ["t2m"]}, "varables: unknown key"),
        ({"variables": []}, "variables: "),
        ({"variables": ["t2m", "t2m"]}, "listed twice"),
        ({"variables": ["../x"]}, "variables.0"),
        ({"grid": "../x"}, "grid: "),
        ({"index": "csv"}, "index: "),
        ({"scan_seconds": 0}, "scan_seconds: "),
        ({"hours": [{"cycles": "0-24", "steps": "0"}]}, "hours 0 to 23"),
        ({"hours": [{"cycles": "0", "steps": "5-1"}]}, "'5-1'"),
        ({"hours": [{"cycles": "0", "steps": "0", "from": "2026-01-01T00:30:00Z"}]}, "on the hour"),
        ({"hours": [{"cycles": "0", "steps": "0", "from": "2026-01-01"}]}, "hours.0.from"),
        ({"hours": [{"cycles": "0", "steps": "0", "from": "0001-01-01T00:00:00+14:00"}]}, "hours.0.from"),
        ({"layouts": [{"key": "../{Ymd}{HH}{ff}"}]}, "path below the mirror's root"),
        ({"like": ["hrrr"]}, "there is no such model"),
        ({"mirrors": 5}, "mirrors: "),
        ({"mirrors": [{"name": ["a"], "root": "https://a.org/"}]}, "mirrors.0.name"),
        ({"layouts": [{"key": "{Ymd}{HH}{ff}", "mirrors": ["nowhere"]}]}, "can be referred to"),
        ({"layouts": [{"key": "{Ymd}{HH}{member}{ff}"}]}, "needs [[members]]"),
        ({"layouts": [{"key": "{Ymd}{HH}{ff}", "colour": 1}]}, "layouts.0.colour: unknown key"),
        ({"mirrors": [{"name": "a", "root": "ftp://x/"}]}, "https://"),
        ({"mirrors": [{"name": "a", "root": "https://u:p@x/"}]}, "may not have a user"),
        ({"mirrors": [{"name": "a", "root": "https://x/?q=1"}]}, "question mark"),
        ({"mirrors": [{"name": "a", "root": "https://x/ y"}]}, "not a valid address"),
        ({"mirrors": [{"name": "a", "root": "https://x:99999/"}]}, "not a valid address"),
        ({"mirrors": [{"name": "a", "root": "file://host/x"}]}, "file:///"),
        ({"mirrors": [{"name": "a", "root": "https://x/", "host": "moon"}]}, "there is no host moon"),
        ({"mirrors": [{"name": "a", "root": "https://x/"}] * 2}, "need different names"),
        ({"latency": [{"points": [[6, 10, 20], [0, 10, 20]]}]}, "hours must increase"),
        ({"latency": [{"points": [[0, 20, 10]]}]}, "cannot be late before"),
        ({"latency": [{"points": [[0, 1, 2]], "mirror": "nowhere"}]}, "can be referred to"),
        ({"members": [{"id": "../x"}]}, "members.0.id"),
        ({"members": [{"id": "p{n}", "numbers": "1-3", "token": "../{n}"}]}, "members.0.token"),
        ({"members": [{"id": "p", "numbers": "1-3"}]}, "two are called p"),
        ({"members": [{"id": "p{n}", "numbers": "1-3"}, {"id": "p3"}]}, "two are called p3"),
        ({"members": [{"id": "p{n}", "numbers": "1-1001"}]}, "more than 1000"),
        ({"like": "nothing"}, "there is no such model"),
    ],
)
def test_errors_name_the_model_and_the_key(change: dict[str, Any], words: str) -> None:
    base = {"like": "rap", "latency": []} if "like" not in change else {}
    with pytest.raises(ModelError) as caught:
        load_models(with_tables(ours={**base, **change}))
    assert words in str(caught.value)
    assert "ours" in str(caught.value)


@pytest.mark.parametrize("name", ["../hrrr", "HRRR", "a b", "", "x" * 41, "gefs.p01"])
def test_names_that_could_be_paths_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match="is not a model name"):
        load_models(OwnModels(tables={name: {"like": "hrrr"}}))


def test_incomplete_model_is_refused() -> None:
    with pytest.raises(ModelError, match=r"model ours \(settings, \[models.ours\]\): title: is missing"):
        load_models(with_tables(ours={"index": "none"}))


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("title = ")
    with pytest.raises(ModelError, match=r"bad\.toml is not valid TOML"):
        load_models(OwnModels(folder=tmp_path))
    path.write_bytes(b"x" * 500_001)
    with pytest.raises(ModelError, match="larger than"):
        load_models(OwnModels(folder=tmp_path))
    with pytest.raises(ModelError, match="there is no folder"):
        load_models(OwnModels(folder=tmp_path / "nowhere"))


def test_root_of_an_unknown_mirror_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ModelError, match="aws-hrr: no model has such a mirror; did you mean aws-hrrr"):
        load_models(OwnModels(roots={"aws-hrr": "http://x/"}))


def test_an_unknown_model_is_refused_with_suggestions() -> None:
    with pytest.raises(ModelError, match="no model 'hrr'; did you mean hrrr"):
        models_named(load_models(), "hrr")
    with pytest.raises(ModelError, match="gribmill models list"):
        models_named(load_models(), "zzzzzz")
