"""Requests generated from the OpenAPI document cause no server error and no undocumented response."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from gribmill.settings.schema import ServerSettings, Settings
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving

pytestmark = pytest.mark.process

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
# It never ends.
LEFT_OUT = "stream_events"
RUN = "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"


def findings(server: LiveServer, folder: Path, *options: str) -> str:
    """Run schemathesis; returns what it found wrong, or nothing."""
    words = ("run", f"{server.url}/api/openapi.json", "--exclude-operation-id", LEFT_OUT, "--checks", CHECKS)
    fixed = ("--seed", "1", "--no-shrink", "--continue-on-failure", "--warnings", "off", "--request-timeout", "60")
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words, *fixed, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    return done.stdout[-20_000:] + done.stderr[-2000:] if done.returncode else ""


def assert_well(server: LiveServer) -> None:
    """Check that the requests have left a sound queue and a server that answers."""
    assert server.store.verify() == []
    assert httpx.get(f"{server.url}/readyz", timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("backend", "phases"),
    [
        ("sqlite", "coverage,fuzzing"),
        pytest.param("postgres", "fuzzing", marks=pytest.mark.postgres),
    ],
)
def test_responses_match_the_document(backend: str, phases: str, tmp_path: Path) -> None:
    """The same requests each time."""
    with ExitStack() as resources:
        server = resources.enter_context(serving(settings_of(backend, tmp_path, resources), dev=True))
        found = findings(server, tmp_path, "--phases", phases, "--max-examples", "3")
        assert not found, found
        assert_well(server)


@pytest.mark.soak
@pytest.mark.parametrize("backend", BOTH)
def test_responses_match_the_document_for_many_requests(backend: str, tmp_path: Path) -> None:
    minutes = float(os.environ.get("GRIBMILL_SOAK_MINUTES", "1"))
    with ExitStack() as resources:
        server = resources.enter_context(serving(settings_of(backend, tmp_path, resources), dev=True))
        limit = str(round(60 * minutes / 2))
        found = findings(server, tmp_path, "--phases", "coverage,fuzzing,stateful", "--max-time", limit)
        assert not found, found
        assert_well(server)


def settings_of(backend: str, folder: Path, resources: ExitStack) -> Settings:
    settings = backend_settings(backend, folder, resources)
    return settings.model_copy(update={"server": ServerSettings(requests_per_minute=1e9)})
