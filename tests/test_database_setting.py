"""The `database` setting: which URLs are accepted, and that no password is shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gribmill.config_file import SettingsError
from gribmill.database_url import hide_password
from gribmill.settings.load import load_settings, load_with_origins

SECRET = "pa55w:rd/x"


@pytest.fixture(autouse=True)
def clean_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("GRIBMILL_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://mill@db.example/gribmill",
        "postgres://mill:secret@db.example:5433/gribmill?sslmode=verify-full",
        "postgresql://mill@one:5432,two:5432/gribmill?target_session_attrs=read-write",
        "postgresql:///gribmill?host=/run/postgresql",
        "postgresql://mill@[::1]:5432/gribmill",
        "postgresql://db.example/?dbname=gribmill",
    ],
)
def test_url_of_a_postgresql_database_is_accepted(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_DATABASE", url)
    assert load_settings().database == url


def test_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gribmill.toml").write_text('database = "postgresql://one/x"\n')
    assert load_settings().database == "postgresql://one/x"
    monkeypatch.setenv("GRIBMILL_DATABASE", "postgresql://two/x")
    assert load_settings().database == "postgresql://two/x"


def test_without_it_the_queue_is_in_jobs_db() -> None:
    assert load_settings().database is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"mysql://mill:{SECRET}@db/gribmill", "expected a URL such as postgresql://user@host/gribmill"),
        ("sqlite:///jobs.db", "leave it out to use jobs.db in the data root"),
        (f"mill:{SECRET}@db/gribmill", "expected a URL such as postgresql://user@host/gribmill"),
        (f"host=db dbname=gribmill password={SECRET}", "a URL cannot contain spaces"),
        (f"postgresql://mill:{SECRET}@home@db/gribmill", "write %40, %2F and %23"),
        (f"postgresql://mill:{SECRET}@db/gribmill", "write %40, %2F and %23"),
        ("postgresql://mill:pa55word@db", "the URL names no database"),
        ("postgresql://mill@[::1/gribmill", "the host is not valid"),
        ("postgresql://db/" + "x" * 2000, "longer than 2000 characters"),
    ],
)
def test_other_values_are_refused_with_a_reason_and_without_the_password(
    url: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRIBMILL_DATABASE", url)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert reason in str(refused.value)
    assert "database = " in str(refused.value)
    assert "(from GRIBMILL_DATABASE)" in str(refused.value)
    for part in (SECRET, "pa55w", "rd/x"):
        assert part not in str(refused.value)


def test_a_table_in_its_place_is_refused_without_showing_it() -> None:
    Path("gribmill.toml").write_text(f'[database]\nhost = "db"\npassword = "{SECRET}"\n')
    with pytest.raises(SettingsError, match="expected a URL such as postgresql://user@host/gribmill") as refused:
        load_settings()
    assert SECRET not in str(refused.value)


def test_password_is_not_shown_among_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_DATABASE", "postgresql://mill:secret@db/gribmill?sslpassword=hush&sslmode=require")
    settings, origins = load_with_origins()
    value = next(one.value for one in origins if one.key == "database")
    assert value == "postgresql://mill:***@db/gribmill?sslpassword=***&sslmode=require"
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("url", "as_shown"),
    [
        ("postgresql://mill@db/gribmill", "postgresql://mill@db/gribmill"),
        ("postgresql://mill:a@b:c@db/gribmill", "postgresql://mill:***@db/gribmill"),
        ("postgresql://db:5432/gribmill", "postgresql://db:5432/gribmill"),
        ("postgresql://one:1,two:2/gribmill", "postgresql://one:1,two:2/gribmill"),
        ("host=db password='it is' user=x", "host=db password=*** user=x"),
        ("mill:secret@db", "mill:***@db"),
        ("postgresql:/mill:secret@db/x", "postgresql:***@db/x"),
    ],
)
def test_password_is_hidden_wherever_it_is(url: str, as_shown: str) -> None:
    assert hide_password(url) == as_shown
