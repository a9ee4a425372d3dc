"""Jobs that run a command: real processes, their exit codes, output and termination."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.process

SETTINGS = """
[commands]
allow = {{ python = "{python}", sh = "/bin/sh" }}
[workers]
lanes = {{ fetch = 1, command = 1 }}
kill_grace_seconds = 1.0
[queue]
poll_seconds = 0.1
"""


DRAIN = ("work", "--drain")
TELL = """
import json, os, sys
print(json.dumps([sys.argv[1:], sorted(os.environ)]))
print("oops", file=sys.stderr)
"""


class Machine:
    """gribmill as a user calls it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        (folder / "gribmill.toml").write_text(SETTINGS.format(python=sys.executable))

    def __call__(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(self.argv(*words), capture_output=True, text=True, cwd="/", env=self.environment)
        assert done.returncode == code, done.stderr
        return done.stdout

    def argv(self, *words: str) -> list[str]:
        config = str(self.folder / "gribmill.toml")
        return [sys.executable, "-m", "gribmill", "--data", str(self.data), "--config", config, *words]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "SECRET_OF_THE_WORKER": "x", "SHOWN": "yes"}

    def run(
        self, key: str, payload: dict[str, Any], *options: str, worker: tuple[str, ...] = ("work", "--drain")
    ) -> Any:
        """Enqueue a job, run it, and return it."""
        job = json.loads(self("jobs", "enqueue", key, json.dumps(payload), *options, "--json"))[0]["id"]
        subprocess.run(self.argv(*worker), cwd="/", env=self.environment, capture_output=True, timeout=60)
        shown = json.loads(self("jobs", "show", str(job), "--json"))
        return {**shown["job"], "attempts": shown["attempts"]}

    def run_until_written(self, file: Path, key: str) -> Any:
        """Run jobs with a short timeout until one has written the file: a slow machine may time out earlier."""

        def run() -> Any:
            shown = self.run(key, {"file": str(file)}, "--timeout", "2")
            return shown if file.exists() and file.read_text() else None

        return wait_until(run, 200.0, f"{key} to write {file.name}")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("worker", [DRAIN, ("tick", "-n", "5")], ids=["work", "tick"])
def test_arguments_reach_the_command_and_its_output_is_kept(machine: Machine, worker: tuple[str, ...]) -> None:
    machine("definitions", "add", "tell", "--environment", "SHOWN", "--", "python", "-c", TELL, "{{one}}", "{{two}}")
    shown = machine.run("tell", {"one": "a; $(touch x) 'b'", "two": 7}, worker=worker)
    (attempt,) = shown["attempts"]
    assert (shown["status"], attempt["exit_code"], attempt["stderr_tail"]) == ("completed", 0, "oops\n")
    arguments, names = json.loads(attempt["stdout_tail"])
    assert arguments == ["a; $(touch x) 'b'", "7"]
    assert "SHOWN" in names
    assert not {"SECRET_OF_THE_WORKER", "GRIBMILL_DATA"} & set(names)


def test_exit_code_of_the_command_is_recorded(machine: Machine) -> None:
    machine("definitions", "add", "leave", "--set", "max_attempts=1", "--", "sh", "-c", "exit 42")
    shown = machine.run("leave", {})
    assert (shown["status"], shown["attempts"][0]["exit_code"]) == ("failed", 42)
    assert shown["error_message"].startswith("sh ended with exit code 42")


def test_gribmills_own_commands_work_on_the_same_data_root_and_settings(machine: Machine) -> None:
    machine("definitions", "add", "look", "--", "gribmill", "config", "show", "--json")
    shown = machine.run("look", {})
    assert shown["status"] == "completed", shown["attempts"]
    machine("definitions", "add", "nap", "--", "gribmill", "jobs", "enqueue", "sleep", "{{json}}")
    assert machine.run("nap", {"json": '{"say": "from a command"}'})["status"] == "completed"
    assert "from a command" in machine("jobs", "list", "--type", "sleep")


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
forever = "import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", forever])
open(sys.argv[1], "w").write(f"{os.getpid()} {child.pid}")
time.sleep(600)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_timeout_ends_the_command_and_its_children_even_if_they_ignore_term(machine: Machine, tmp_path: Path) -> None:
    machine("definitions", "add", "stuck", "--set", "max_attempts=1", "--", "python", "-c", STUBBORN, "{{file}}")
    pids = tmp_path / "pids"
    shown = machine.run_until_written(pids, "stuck")
    assert shown["attempts"][0]["status"] == "timeout"
    assert [pid for pid in map(int, pids.read_text().split()) if alive(pid)] == []


def test_a_command_gets_term_first_and_may_clean_up(machine: Machine, tmp_path: Path) -> None:
    script = (
        "import signal,sys,time\n"
        "def end(*a):\n    open(sys.argv[1], 'w').write('clean'); sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, end)\ntime.sleep(600)"
    )
    machine("definitions", "add", "tidy", "--set", "max_attempts=1", "--", "python", "-c", script, "{{file}}")
    shown = machine.run_until_written(tmp_path / "sign", "tidy")
    assert shown["attempts"][0]["status"] == "timeout"
    assert (tmp_path / "sign").read_text() == "clean"


def test_processes_left_by_a_command_end_with_its_job(machine: Machine, tmp_path: Path) -> None:
    script = 'sleep 600 & echo $! > "$0"'
    machine("definitions", "add", "leaver", "--", "sh", "-c", script, "{{file}}")
    pids = tmp_path / "pids"
    assert machine.run("leaver", {"file": str(pids)})["status"] == "completed"
    wait_until(lambda: not alive(int(pids.read_text())))


def test_a_killed_worker_takes_the_command_with_it(machine: Machine, tmp_path: Path) -> None:
    machine("definitions", "add", "stuck", "--", "python", "-c", STUBBORN, "{{file}}")
    pids = tmp_path / "pids"
    machine("jobs", "enqueue", "stuck", json.dumps({"file": str(pids)}))
    worker = subprocess.Popen(machine.argv("work"), cwd="/", stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_until(lambda: pids.exists() and bool(pids.read_text()))
    command, child = map(int, pids.read_text().split())
    worker.kill()
    worker.wait()
    try:
        wait_until(lambda: not alive(command))
        assert not alive(command)
    finally:
        if alive(child):
            os.kill(child, 9)
