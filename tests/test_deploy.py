"""Files in deploy/ are checked by their tools; what cannot run here must at least be well-formed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from gribmill.cli.main import cli
from gribmill.settings.load import load_settings, variable_of
from gribmill.settings.schema import ServerSettings, Settings, known_keys
from tests.server.live_server import serving

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: the YAML of deploy/ is not read")

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
# Environment variables that are allowed although no setting has that key.
SECRETS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def tool(name: str) -> str:
    """A program of this environment, or of the machine."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: this file of deploy/ is not checked here")
    return found


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, env={**os.environ, **environment}, timeout=120, check=False
    )


def documents(path: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


@pytest.mark.process
def test_dockerfile_follows_the_rules_of_hadolint() -> None:
    done = run(tool("hadolint"), "--no-color", DEPLOY / "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.process
def test_compose_file_fits_its_schema() -> None:
    done = run(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")
    assert done.returncode == 0, done.stdout


@pytest.mark.process
def test_kubernetes_objects_fit_their_schemas() -> None:
    done = run(tool("kubernetes-validate"), "--strict", "--quiet", DEPLOY / "kubernetes" / "gribmill.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.process
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_are_sound_and_hardened(unit: Path, tmp_path: Path) -> None:
    program = tool("systemd-analyze")
    # The program and the user are the installation's.
    text = unit.read_text().replace("/srv/gribmill/.venv/bin/gribmill", "/bin/true")
    copy = tmp_path / unit.name
    copy.write_text(re.sub(r"(?m)^(User|Group)=.*", r"\1=daemon", text))
    verified = run(program, "verify", copy)
    if "Failed to initialize manager" in verified.stderr:
        pytest.skip("systemd-analyze cannot work in this container: the units are not checked here")
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = run(program, "security", "--offline=true", "--threshold=25", copy)
    assert judged.returncode == 0, judged.stdout[-300:]


def test_nothing_runs_as_root() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert "USER 10001" in lines[lines.index("FROM python:3.13-slim-trixie") :]
    for path in MANIFESTS:
        for one in documents(path):
            if one["kind"] == "Deployment":
                pod = one["spec"]["template"]["spec"]
                assert pod["securityContext"]["runAsNonRoot"] is True
                for container in pod["containers"]:
                    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert all(re.search(r"(?m)^User=(?!root)", unit.read_text()) for unit in UNITS)


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_give_workers_the_time_to_drain(unit: Path) -> None:
    stop = re.search(r"(?m)^TimeoutStopSec=(\d+)$", unit.read_text())
    assert stop is not None and float(stop[1]) > Settings().workers.drain_seconds


def test_settings_that_are_named_exist() -> None:
    known = {variable_of(key) for key in known_keys()} | SECRETS
    (compose,) = documents(DEPLOY / "compose.yaml")
    named = set(compose["x-gribmill"]["environment"]) | set(compose["services"]["server"]["environment"])
    for path in MANIFESTS:
        for one in documents(path):
            named |= set(one.get("data") or one.get("stringData") or {})
    assert named and named <= known


def test_settings_of_the_examples_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    (config,) = (one for path in MANIFESTS for one in documents(path) if one["kind"] == "ConfigMap")
    for name, value in config["data"].items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert (settings.tiles, settings.chain.models) == ("s3://weather/tiles", ("hrrr",))


@pytest.mark.process
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ('[{"hostname": "HERE", "state": "active", "stale": false}]', 0),
        ('[{"hostname": "HERE", "state": "active", "stale": true}]', 1),
        ('[{"hostname": "HERE", "state": "stopped", "stale": false}]', 1),
        ('[{"hostname": "elsewhere", "state": "active", "stale": false}]', 1),
        ("nonsense", 1),
    ],
)
def test_health_check_asks_for_a_heartbeat_of_this_host(tmp_path: Path, answer: str, code: int) -> None:
    program = tmp_path / "gribmill"
    program.write_text(f"#!/bin/sh\necho '{answer}' | sed \"s/HERE/$(hostname)/\"\n")
    program.chmod(0o755)
    done = run(sys.executable, DEPLOY / "healthcheck.py", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == code, done.stderr


@pytest.mark.process
def test_workers_are_not_restarted_because_their_database_cannot_be_reached() -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    nowhere = "postgresql://127.0.0.1:1/none"
    done = run(sys.executable, DEPLOY / "healthcheck.py", GRIBMILL_DATABASE=nowhere, PATH=path)
    assert (done.returncode, "cannot be read" in done.stderr) == (0, True)


@pytest.mark.process
def test_health_check_of_the_server_asks_whether_it_can_use_its_database(tmp_path: Path) -> None:
    (compose,) = documents(DEPLOY / "compose.yaml")
    *_, url = compose["services"]["server"]["healthcheck"]["test"]
    assert url.endswith(":8760/readyz")
    settings = Settings(data=tmp_path, server=ServerSettings(host="0.0.0.0", behind_proxy=True))
    with serving(settings) as server:
        port = server.url.rpartition(":")[2]
        assert run(sys.executable, DEPLOY / "healthcheck.py", f"http://127.0.0.1:{port}/readyz").returncode == 0
    done = run(sys.executable, DEPLOY / "healthcheck.py", f"http://127.0.0.1:{port}/readyz")
    assert (done.returncode, "does not answer" in done.stderr) == (1, True)


def test_compose_has_every_part_and_the_image_what_they_need() -> None:
    (compose,) = documents(DEPLOY / "compose.yaml")
    commands = {name: service.get("command", ["work"])[0] for name, service in compose["services"].items()}
    assert [commands[name] for name in ("scheduler", "worker-1", "worker-2", "server")] == [
        "run",
        "work",
        "work",
        "serve",
    ]
    assert {"postgres", "seaweedfs"} <= commands.keys()
    assert "'.[postgres,s3,server]'" in (DEPLOY / "Dockerfile").read_text()


def container_commands() -> list[tuple[str, list[str]]]:
    """The arguments of the entry point, by name of the service or deployment."""
    (compose,) = documents(DEPLOY / "compose.yaml")
    own = {name: one for name, one in compose["services"].items() if one.get("image") == "gribmill"}
    found = [(name, one.get("command", ["work"])) for name, one in own.items()]
    for one in (one for path in MANIFESTS for one in documents(path) if one["kind"] == "Deployment"):
        found += [(one["metadata"]["name"], each["args"]) for each in one["spec"]["template"]["spec"]["containers"]]
    return found


@pytest.mark.parametrize(("name", "words"), container_commands(), ids=[name for name, _ in container_commands()])
def test_commands_of_the_containers_exist_with_their_options(name: str, words: list[str], tmp_path: Path) -> None:
    context = click.Context(cli, obj=Settings(data=tmp_path), **cli.context_settings)
    command: click.Command = cli
    rest = list(words)
    while isinstance(command, click.Group):
        found = command.get_command(context, rest[0])
        assert found is not None, f"{name}: there is no command {rest[0]}"
        command, rest = found, rest[1:]
    command.make_context(name, rest, parent=context)


def test_image_looks_for_the_kernel_where_it_was_installed() -> None:
    """The build runs beside the source: without -I Python would import that, which has no built kernel."""
    assert "/opt/gribmill/bin/python -I -c 'import gribmill.kernel._kernel'" in (DEPLOY / "Dockerfile").read_text()


def test_no_archived_store_is_named() -> None:
    texts = [path.read_text().lower() for path in DEPLOY.rglob("*") if path.is_file()]
    assert texts and not any("minio" in text for text in texts)
