"""`gribmill init` and `gribmill config show`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gribmill.config_file import default_data_root
from gribmill.settings.load import load_settings
from gribmill.settings.schema import Settings, known_keys
from tests.cli.conftest import Run


def test_written_file_loads_and_equals_the_defaults(gribmill: Run) -> None:
    answer = gribmill("init", flags=())
    place = f"data goes to {default_data_root()} unless the file sets `data`"
    assert (answer.code, answer.out) == (0, f"wrote gribmill.toml; {place}\n")
    assert load_settings() == Settings()
    assert load_settings(Path("gribmill.toml")) == Settings()


def test_written_file_holds_and_explains_every_setting(gribmill: Run) -> None:
    gribmill("init", "my.toml", flags=())
    text = Path("my.toml").read_text()
    for key, description in known_keys().items():
        name = key.rpartition(".")[2]
        assert f"\n{name} = " in text or f"\n# {name} = " in text or f"\n# [{name}.NAME]" in text, key
        assert description in text, key


def test_lines_that_are_commented_out_load_too(gribmill: Run) -> None:
    """Uncommenting a machine-dependent default has no effect."""
    gribmill("init", flags=())
    lines = Path("gribmill.toml").read_text().partition("# [regions")[0].splitlines()
    opened = [line[2:] if line.startswith(("# data =", "# lanes =")) else line for line in lines]
    assert opened != lines
    Path("gribmill.toml").write_text("\n".join(opened))
    assert load_settings() == Settings()


def test_an_existing_file_is_not_overwritten_unless_asked(gribmill: Run) -> None:
    Path("gribmill.toml").write_text("# mine\n")
    answer = gribmill("init", flags=())
    assert answer.code == 1 and "--force" in answer.err
    assert Path("gribmill.toml").read_text() == "# mine\n"
    assert gribmill("init", "--force", flags=()).code == 0
    assert "lease_seconds" in Path("gribmill.toml").read_text()


def test_init_works_beside_a_broken_file_and_a_missing_one(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gribmill.toml").write_text("not toml")
    assert gribmill("jobs", "list").code == 1
    assert gribmill("init", "--force", flags=()).code == 0
    monkeypatch.setenv("GRIBMILL_CONFIG", "other.toml")
    assert "gribmill init" in gribmill("jobs", "list").err
    assert gribmill("init", "other.toml", flags=()).code == 0
    assert gribmill("jobs", "list").code == 0


def test_init_into_a_missing_folder_is_an_error(gribmill: Run) -> None:
    answer = gribmill("init", "no/such/file.toml", flags=())
    assert answer.code == 1 and "no folder" in answer.err


def origins(gribmill: Run, *flags: str) -> dict[str, tuple[Any, str]]:
    answer = gribmill("config", "show", "--json", flags=flags)
    assert answer.code == 0, answer.err
    return {one["key"]: (one["value"], one["source"]) for one in answer.json}


def test_show_lists_the_origin_of_each_setting(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gribmill.toml").write_text(
        '[log]\nlevel = "debug"\nformat = "json"\n[queue]\nlease_seconds = 30\n[regions.here]\nbox = [1, 2, 3, 4]\n'
    )
    monkeypatch.setenv("GRIBMILL_QUEUE_LEASE_SECONDS", "45")
    monkeypatch.setenv("GRIBMILL_WORKERS_LANES", "{fetch = 7}")
    found = origins(gribmill, "--data", "there", "--log-level", "error")
    assert found["data"] == ("there", "--data")
    assert found["log.level"] == ("error", "--log-level")
    assert found["log.format"] == ("json", "gribmill.toml")
    assert found["queue.lease_seconds"] == (45.0, "GRIBMILL_QUEUE_LEASE_SECONDS")
    assert found["workers.lanes"] == ({"fetch": 7}, "GRIBMILL_WORKERS_LANES")
    assert found["queue.poll_seconds"] == (1.0, "default")
    assert found["regions"][1] == "gribmill.toml"
    assert found["regions"][0]["here"]["box"] == [1, 2, 3, 4]
    assert set(found) == set(known_keys())
    assert origins(gribmill, "--log-json")["log.format"] == ("json", "--log-json")


def test_values_of_the_table_are_toml(gribmill: Run) -> None:
    Path("gribmill.toml").write_text('[regions."a-b"]\nbox = [1, 2, 3, 4]\ntitle = "say \\"hi\\""\n')
    lines = gribmill("config", "show", flags=("--data", "/x y")).out.splitlines()
    assert lines[0].split() == ["setting", "value", "from"]
    rows = {key: (value, source) for key, value, source in (re.split(r" {2,}", line) for line in lines[1:])}
    assert rows["data"] == ('"/x y"', "--data")
    for key, (value, _) in rows.items():
        assert value == "not set" or "value" in tomllib.loads(f"value = {value}"), key
    assert tomllib.loads(f"v = {rows['regions'][0]}")["v"]["a-b"]["title"] == 'say "hi"'


def test_named_file_is_used_and_a_missing_one_refused(gribmill: Run) -> None:
    Path("other.toml").write_text("[queue]\nlease_seconds = 9\n")
    assert origins(gribmill, "--config", "other.toml")["queue.lease_seconds"] == (9.0, "other.toml")
    answer = gribmill("config", "show", flags=("--config", "none.toml"))
    assert answer.code == 1 and "none.toml" in answer.err


def test_bad_settings_are_one_sentence_on_stderr(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_QUEUE_LEASE_SECONDS", "0")
    answer = gribmill("config", "show")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("error: queue.lease_seconds = '0' is invalid") and answer.err.count("\n") == 1


def test_bad_flag_is_a_usage_error_that_names_what_is_allowed(gribmill: Run) -> None:
    answer = gribmill("config", "show", flags=("--log-level", "loud"))
    assert answer.code == 2
    assert "'debug', 'info', 'warning', 'error'" in answer.err
