"""The settings that the sandbox gives to those who download from it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gribmill.ingest.models.registry import OwnModels, load_models
from gribmill.sandbox.client_settings import client_settings, client_tables
from gribmill.sandbox.publication import plan
from gribmill.settings.load import load_settings
from tests.cli.conftest import Run


@pytest.mark.parametrize("hour", [0, 1, 6, 23])
def test_run_is_complete_with_the_generated_hours_at_any_time_of_day(hour: int) -> None:
    now = datetime(2026, 11, 18, hour, 30, tzinfo=UTC)
    hrrr = load_models()["hrrr"]
    Path("gribmill.toml").write_text(
        client_settings([hrrr], "http://127.0.0.1:8750/", plan([hrrr], "0-18", now), ["ne"])
    )
    settings = load_settings()
    assert (settings.chain.models, settings.chain.regions) == (("hrrr",), ("ne",))
    assert settings.data_root == Path.cwd() / "data"
    model = load_models(OwnModels(settings.models, None, settings.roots))["hrrr"]
    assert model.hours(now.replace(minute=0)) == tuple(range(19))
    assert {mirror.root for mirror in model.mirrors} == {"http://127.0.0.1:8750/aws-hrrr/"}


def test_members_of_an_ensemble_share_one_table() -> None:
    now = datetime(2026, 11, 18, 12, 30, tzinfo=UTC)
    models = [load_models()[name] for name in ("gefs.p01", "gefs.p02")]
    text = client_tables(models, "http://x/", plan(models, "0-6/3", now))
    assert text.count("[models.gefs]") == 1
    assert 'hours = [{ cycles = "0-18/6", steps = "0-6/3" }]' in text


@pytest.mark.parametrize("words", [("--make", "hrrr"), ("--serve",)])
def test_settings_are_written_only_for_a_server_of_known_models(gribmill: Run, words: tuple[str, ...]) -> None:
    answer = gribmill("sandbox", "published", "--config-out", "gribmill.toml", *words)
    assert answer.code == 2 and "--config-out needs --make and --serve" in answer.err


def test_settings_that_exist_are_not_replaced(gribmill: Run) -> None:
    Path("mine.toml").write_text("# mine\n")
    words = ("--make", "hrrr", "--coarse", "30", "--hours", "0", "--serve", "--port", "0", "--config-out", "mine.toml")
    answer = gribmill("sandbox", "published", *words)
    assert answer.code == 1 and "mine.toml exists already" in answer.err
    assert Path("mine.toml").read_text() == "# mine\n"
