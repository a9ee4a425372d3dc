"""What clients are told when something unexpected happens, and what they are not told."""

from __future__ import annotations

from typing import NoReturn

import pytest

from gribmill.queue.errors import StatementRefused, StoreError
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.storage.errors import StorageError
from tests.server.live_server import LiveServer

PATH = "/srv/weather/jobs.db"


def _raise(error: Exception) -> NoReturn:
    raise error


def test_unexpected_error_passes_the_middleware_and_leaves_the_connection_open(
    dev_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Jobs, "list", lambda *_, **__: _raise(ZeroDivisionError()))
    with dev_server.client() as client:
        answer = client.get("/api/v1/jobs")
        assert answer.status_code == 500
        assert "unexpected error" in answer.json()["detail"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        counted = client.get("/metrics").text
        page = client.get("/jobs", headers={"Accept": "text/html"})
    assert 'gribmill_http_request_seconds_count{method="GET",route="/api/v1/jobs",status="500"} 1.0' in counted
    assert (page.status_code, page.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "an unexpected error" in page.text.lower()


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreError(f"{PATH}: the queue cannot be opened or read: disk I/O error"), 503),
        (StatementRefused(f"{PATH}: a statement was refused: CHECK constraint failed: json_valid(after)"), 422),
        (StorageError("/srv/weather/tiles/hrrr/latest.json is damaged"), 503),
    ],
    ids=lambda one: str(type(one).__name__),
)
def test_paths_and_sql_of_the_server_are_only_logged(
    dev_server: LiveServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    error: Exception, status: int,
) -> None:  # fmt: skip
    monkeypatch.setattr(Jobs, "list", lambda *_, **__: _raise(error))
    with dev_server.client() as client:
        answer = client.get("/api/v1/jobs")
        page = client.get("/jobs", headers={"Accept": "text/html"})
    assert answer.status_code == page.status_code == status
    for text in (answer.text, page.text):
        assert "/srv/weather" not in text
        assert "json_valid" not in text
    assert str(error) in caplog.text


def test_action_of_the_console_names_no_path_when_the_database_fails(
    dev_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Jobs, "cancel", lambda *_, **__: _raise(StoreError(f"{PATH}: disk I/O error")))
    same = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    with dev_server.client(follow_redirects=True) as client:
        made = client.post("/api/v1/jobs", json={"definition_key": "sleep"}).json()["id"]
        page = client.post(f"/jobs/{made}/cancel", headers=same)
    assert "The database cannot be used now" in page.text
    assert PATH not in page.text
