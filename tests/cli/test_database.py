"""`gribmill db` with jobs.db, and its messages when PostgreSQL is unavailable."""

from __future__ import annotations

import sys
from pathlib import Path

import jsonschema
import pytest

from gribmill.queue.store import Store
from tests.cli.conftest import Run
from tests.cli.job_driver import add
from tests.cli.json_outputs import OUTPUTS
from tests.servers.shared_postgres import fresh_database

# Nothing listens there.
NOWHERE = "postgresql://mill:pa55word@127.0.0.1:1/gribmill"


def test_init_creates_the_tables_once(gribmill: Run, data: Path) -> None:
    made = gribmill("db", "init")
    assert made.code == 0 and made.out.startswith(f"{data / 'jobs.db'}: applied 1, 2, ")
    again = gribmill("db", "init", "--json")
    jsonschema.validate(again.json, OUTPUTS["db init"].json_schema(mode="serialization"))
    assert again.json["applied"] == [] and 1001 in again.json["migrations"]
    assert gribmill("db", "migrate").out == f"{data / 'jobs.db'}: up to date\n"


@pytest.mark.parametrize("verb", ["migrate", "status"])
def test_without_a_database_the_command_says_how_to_make_one(gribmill: Run, data: Path, verb: str) -> None:
    answer = gribmill("db", verb)
    assert answer.code == 1
    assert str(data / "jobs.db") in answer.err and "`gribmill db init` creates" in answer.err
    assert not data.exists()


def test_status_shows_engine_size_and_rows(gribmill: Run, store: Store) -> None:
    add(store)
    add(store)
    answer = gribmill("db", "status")
    assert answer.code == 0
    assert answer.out.startswith("SQLite ")
    assert ["jobs", "2", "0"] in [line.split() for line in answer.out.splitlines()]
    assert answer.out.endswith("nothing to do\n")


def test_status_as_json_has_every_key(gribmill: Run, store: Store) -> None:
    found = gribmill("db", "status", "--json").json
    jsonschema.validate(found, OUTPUTS["db status"].json_schema(mode="serialization"))
    assert list(found) == [
        "engine", "version", "place", "bytes", "free_bytes", "migrations", "missing_migrations", "connections",
        "max_connections", "oldest_transaction", "tables", "indexes", "advice",
    ]  # fmt: skip
    assert found["missing_migrations"] == [] and found["advice"] == []


def test_without_psycopg_the_extra_is_named(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_DATABASE", NOWHERE)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for words in (("db", "status"), ("jobs", "list"), ("work", "--once")):
        answer = gribmill(*words)
        assert answer.code == 1
        assert answer.err == "error: a PostgreSQL database needs psycopg: pip install 'gribmill[postgres]'\n"


@pytest.mark.parametrize("words", [("jobs", "list"), ("status",), ("db", "status"), ("db", "init"), ("work", "--once")])
def test_a_server_that_does_not_answer_is_one_sentence_without_the_password(
    gribmill: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GRIBMILL_DATABASE", NOWHERE)
    answer = gribmill(*words)
    assert answer.code == 1
    assert "cannot be reached" in answer.err and "Connection refused. Is the server running" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert "pa55word" not in answer.out + answer.err


def test_password_is_not_in_the_list_of_settings(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_DATABASE", NOWHERE)
    for answer in (gribmill("config", "show"), gribmill("config", "show", "--json")):
        assert "postgresql://mill:***@127.0.0.1:1/gribmill" in answer.out
        assert "pa55word" not in answer.out


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("other.db", "the queue is in a file already; copy it with `gribmill jobs backup`"),
        ("postgresql://mill:pa55word@db", "--to 'postgresql://mill:***@db' is invalid: the URL names no database"),
        (NOWHERE, "cannot be reached"),
    ],
)
def test_impossible_move_is_refused_with_the_reason(gribmill: Run, store: Store, target: str, sentence: str) -> None:
    answer = gribmill("db", "move", "--to", target)
    assert answer.code == 1
    assert sentence in answer.err
    assert "pa55word" not in answer.err


def test_a_move_of_no_database_creates_none(gribmill: Run, data: Path) -> None:
    answer = gribmill("db", "move", "--to", NOWHERE)
    assert answer.code == 1
    assert f"there is no {data / 'jobs.db'} yet" in answer.err
    assert not data.exists()


@pytest.mark.postgres
def test_a_move_from_a_server_without_tables_creates_none(
    gribmill: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fresh_database("empty", lambda _: None) as url:
        monkeypatch.setenv("GRIBMILL_DATABASE", url)
        for _ in range(2):
            answer = gribmill("db", "move", "--to", str(tmp_path / "there" / "jobs.db"))
            assert answer.code == 1
            assert "has no gribmill tables yet" in answer.err
    assert not (tmp_path / "there").exists()


def test_a_move_is_refused_while_a_worker_runs(gribmill: Run, store: Store) -> None:
    store.workers.heartbeat("host-1-ab", 60.0)
    answer = gribmill("db", "move", "--to", NOWHERE)
    assert answer.code == 1
    assert "1 worker is running (host-1-ab): stop it, then move again" in answer.err
