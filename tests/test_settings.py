"""Settings: precedence, validation and error messages."""

from __future__ import annotations

import os
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from gribmill.config_file import SettingsError, data_root, default_data_root
from gribmill.settings.load import load_settings, load_with_origins
from gribmill.settings.schema import Settings, known_keys


@pytest.fixture(autouse=True)
def clean_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("GRIBMILL_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write(text: str, name: str = "gribmill.toml") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def test_later_layers_win(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().queue.lease_seconds == 60.0
    write("[queue]\nlease_seconds = 10\npoll_seconds = 2\n")
    assert load_settings().queue.lease_seconds == 10.0
    monkeypatch.setenv("GRIBMILL_QUEUE_LEASE_SECONDS", "20")
    assert load_settings().queue.lease_seconds == 20.0
    settings = load_settings(flags={"queue.lease_seconds": 30})
    assert settings.queue.lease_seconds == 30.0
    assert settings.queue.poll_seconds == 2.0, "a layer replaces single settings, not whole tables"


def test_data_root_comes_from_flag_variable_file_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().data == default_data_root()
    write('data = "from-file"\n')
    assert load_settings().data_root == Path.cwd() / "from-file"
    monkeypatch.setenv("GRIBMILL_DATA", "~/from-variable")
    assert load_settings().data_root == Path("~/from-variable").expanduser()
    assert load_settings(flags={"data": Path("/from/flag")}).data_root == Path("/from/flag")


def test_file_is_the_named_one_the_variables_or_the_working_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    write('data = "local"\n')
    write('data = "variable"\n', "variable.toml")
    named = write('data = "named"\n', "named.toml")
    assert load_settings().data.name == "local"
    monkeypatch.setenv("GRIBMILL_CONFIG", "variable.toml")
    assert load_settings().data.name == "variable"
    assert load_settings(named).data.name == "named"


def test_paths_start_at_the_settings_file_or_where_gribmill_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, started = tmp_path / "etc", tmp_path / "started"
    for each in (folder, started):
        each.mkdir()
    file = folder / "gribmill.toml"
    file.write_text('data = "weather"\nmodels_dir = "models"\n[regions.coast]\ngeojson = "coast.json"\n')
    monkeypatch.chdir(started)
    for named in (file, Path("../etc/gribmill.toml")):
        settings = load_settings(named)
        assert settings.data_root.resolve() == folder / "weather"
        assert settings.models_dir is not None
        assert settings.models_dir.resolve() == folder / "models"
        assert settings.regions["coast"].geojson is not None
        assert settings.regions["coast"].geojson.resolve() == folder / "coast.json"
    monkeypatch.setenv("GRIBMILL_DATA", "from-variable")
    assert load_settings(file).data_root == started / "from-variable"
    assert load_settings(file, {"data": Path("from-flag")}).data_root == started / "from-flag"
    file.write_text('data = "/srv/weather"\nmodels_dir = "~/models"\n')
    monkeypatch.delenv("GRIBMILL_DATA")
    assert load_settings(file).data_root == Path("/srv/weather")
    assert load_settings(file).models_dir == Path("~/models").expanduser()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[queue]\nlease_secs = 1\n", ["queue.lease_secs is not a setting", "did you mean queue.lease_seconds?"]),
        ("dta = 1\n", ["dta is not a setting", "data"]),
        ("[zzz]\nqqq = 1\n", ["zzz", "the settings are:", "queue.lease_seconds"]),
        ("[queue]\nlease_seconds = 0\n", ["queue.lease_seconds = 0 is invalid", "gribmill.toml", "must be at least 1"]),
        ("[queue]\nlease_seconds = 3601\n", ["queue.lease_seconds", "must be at most 3600"]),
        ('[queue]\nsynchronous = "off"\n', ["queue.synchronous = 'off'", "'full' or 'normal'"]),
        ('[log]\nlevel = "loud"\n', ["log.level", "'debug', 'info', 'warning' or 'error'"]),
        ("[workers.lanes]\nfetch = 0\n", ["workers.lanes.fetch", "greater than 0"]),
        ('[workers]\nlanes = "many"\n', ["workers.lanes = 'many'"]),
        ("[queue]\nkeep_failed_days = -1\n", ["queue.keep_failed_days", "greater than 0"]),
        ("queue = 5\n", ["queue = 5 is invalid"]),
        ("[chain]\nkeep_days = 1e308\n", ["chain.keep_days = 1e+308 is invalid", "36500"]),
        ("[queue]\nkeep_failed_days = inf\n", ["queue.keep_failed_days = inf is invalid"]),
        ("[workers]\nbuild_threads = 100000\n", ["workers.build_threads = 100000 is invalid", "64"]),
        ("[regions.here]\nbx = [1]\n", ["regions.here.bx is not a setting"]),
        (
            "[retention.hrrr]\nkeep_day = 2\n",
            ["retention.hrrr.keep_day is not a setting", "did you mean keep_days?", "keep_runs, keep_gigabytes"],
        ),
        ('[variables.pop]\nlong_name = "x"\n', ["variables.pop.units is missing (from "]),
        ('data = "a\\u0000b"\n', ["'data' has a control character (\\x00)"]),
        ('[regions.here]\ngeojson = "\\u0000"\n', ["'regions.here.geojson' has a control character"]),
        ('data = ""\n', ["data = '' is invalid", "the path is empty"]),
        ('models_dir = ""\n', ["models_dir = '' is invalid", "the path is empty"]),
        ("[chain]\nkeep_days = true\n", ["chain.keep_days = True is invalid", "must be a number"]),
        ("[chain]\nkeep_gigabytes = true\n", ["chain.keep_gigabytes = True is invalid", "must be a number"]),
        ("[workers.lanes]\nfetch = true\n", ["workers.lanes.fetch = True is invalid", "must be a number"]),
        ("[regions.here]\nbox = [true, 1, 2, 3]\n", ["regions.here.box.0 = True is invalid"]),
        ("= 3\n", ["gribmill.toml is not valid TOML", "line 1"]),
    ],
    ids=lambda value: value.replace("\n", " ") if isinstance(value, str) else "",
)
def test_bad_files_are_refused_naming_key_and_what_is_allowed(text: str, words: list[str]) -> None:
    write(text)
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    for word in words:
        assert word in str(refusal.value)


def test_all_mistakes_are_reported_at_once() -> None:
    write("[queue]\nlease_seconds = 0\npoll_seconds = 0\n")
    with pytest.raises(SettingsError, match=r"lease_seconds.*poll_seconds"):
        load_settings()


def test_misspelt_variable_is_refused_with_a_suggestion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_QUEUE_LEASE_SECOND", "5")
    with pytest.raises(SettingsError, match=r"GRIBMILL_QUEUE_LEASE_SECOND is not.*mean GRIBMILL_QUEUE_LEASE_SECONDS"):
        load_settings()


def test_bad_variable_is_refused_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_QUEUE_POLL_SECONDS", "often")
    with pytest.raises(SettingsError, match=r"queue.poll_seconds = 'often' .*from GRIBMILL_QUEUE_POLL_SECONDS"):
        load_settings()


def test_variables_of_the_tools_around_are_not_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_SOAK_MINUTES", "10")
    monkeypatch.setenv("GRIBMILL_TEST_CHROMIUM", "/usr/bin/chromium")
    monkeypatch.setenv("GRIBMILL_LOG_LEVEL", "")
    assert load_settings() == Settings()


def test_every_setting_has_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "GRIBMILL_DATA": "/d",
        "GRIBMILL_QUEUE_ALLOW_NETWORK_FILES": "true",
        "GRIBMILL_WORKERS_LANES": "{fetch = 2, build = 3}",
        "GRIBMILL_WORKERS_MAX_MEMORY_MB": "99",
        "GRIBMILL_REGIONS": "{here = {box = [1, 2, 3, 4]}}",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.queue.allow_network_files is True
    assert settings.workers.lanes == {"fetch": 2, "build": 3}
    assert settings.workers.max_memory_mb == 99
    assert settings.regions["here"].box == [1, 2, 3, 4]


def test_origins_cover_every_setting_with_a_description() -> None:
    settings, origins = load_with_origins()
    assert [origin.key for origin in origins] == list(known_keys())
    assert all(origin.source == "default" and origin.description for origin in origins)
    assert {origin.key: origin.value for origin in origins}["queue.lease_seconds"] == settings.queue.lease_seconds


def test_file_of_unusual_size_or_encoding_is_refused() -> None:
    Path("gribmill.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(SettingsError, match="larger than"):
        load_settings()
    Path("gribmill.toml").write_bytes(b'data = "\xff"')
    with pytest.raises(SettingsError, match="not valid TOML"):
        load_settings()


def test_settings_are_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        load_settings().queue.lease_seconds = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("text", ["hrrr,gfs", "hrrr, gfs", '["hrrr", "gfs"]'])
def test_a_variable_holds_several_names(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GRIBMILL_CHAIN_MODELS", text)
    assert load_settings().chain.models == ("hrrr", "gfs")


@pytest.mark.parametrize("text", ["-5,7", "[-5, 7]"])
def test_range_of_priorities_is_two_numbers_in_order(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GRIBMILL_QUEUE_TENANT_PRIORITIES", text)
    assert load_settings().queue.tenant_priorities == (-5, 7)
    monkeypatch.delenv("GRIBMILL_QUEUE_TENANT_PRIORITIES")
    for value, words in (("[7, -5]", "the lowest priority comes first"), ("[7]", "2 values"), ("[0, 2e9]", "0")):
        write(f"[queue]\ntenant_priorities = {value}\n")
        with pytest.raises(SettingsError, match=words):
            load_settings()


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    write("[queue]\n")

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("gribmill.toml_table.open_regular", refused)
    with pytest.raises(SettingsError, match=r"gribmill\.toml cannot be read: Permission denied"):
        load_settings()


def test_library_functions_find_the_data_root_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_root("~/here") == Path("~/here").expanduser()
    assert data_root() == load_settings().data_root == default_data_root()
    write('data = "weather"\n[queue]\nno_such_setting = 1\n', "etc.toml")
    monkeypatch.setenv("GRIBMILL_CONFIG", "etc.toml")
    assert data_root() == Path.cwd() / "weather", "other settings need not be valid"
    monkeypatch.setenv("GRIBMILL_DATA", "~/variable")
    assert data_root() == Path("~/variable").expanduser()


@pytest.mark.parametrize("value", ['""', "5", '"~nobody-has-this-name/x"'])
def test_library_functions_refuse_a_bad_data_root(value: str) -> None:
    write(f"data = {value}\n")
    with pytest.raises(SettingsError, match=r"^data = .* is invalid \(from gribmill.toml\)"):
        data_root()
