"""Runs the command of a job: no shell, an exact list of arguments, and a reduced environment."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from gribmill.queue.command import OWN_PROGRAM, CommandSpec, check_program
from gribmill.queue.errors import BadDefinition
from gribmill.queue.model import Failed, Outcome, Succeeded
from gribmill.queue.worker.executor.die_with_parent import die_with_parent
from gribmill.queue.worker.task import PermanentFailure, Task

ALWAYS_KEPT = ("PATH", "HOME", "LANG")
GRACE_SECONDS = 5.0


def run_command(task: Task, allowed: Mapping[str, str], own_environment: Mapping[str, str]) -> Outcome:
    """Run the command to completion. Its exit code becomes the job's, and its output the attempt's.

    In an executor, the command runs in the executor's process group. The supervisor sends the group TERM and KILL to
    stop the job, and KILL when the job is over, so no process that the command started outlives its attempt.
    """
    spec = _spec(task)
    argv, environment = _argv(spec, task, allowed), _environment(spec, own_environment)
    try:
        code = _run_in_group(argv, environment) if _has_own_output() else _run_beside(argv, environment)
    except OSError as error:
        raise PermanentFailure(f"{argv[0]} cannot be started: {error.strerror}") from None
    if code == 0:
        return Succeeded()
    return Failed(f"{spec.program} {_describe(code)}", exit_code=code)


def _spec(task: Task) -> CommandSpec:
    try:
        return CommandSpec.of(json.loads(task.definition or "{}").get("command"))
    except BadDefinition as error:
        raise PermanentFailure(str(error)) from None


def _argv(spec: CommandSpec, task: Task, allowed: Mapping[str, str]) -> list[str]:
    """Check the program against the current settings, which may have changed since the definition was added."""
    try:
        check_program(spec.program, allowed)
    except BadDefinition as error:
        raise PermanentFailure(str(error)) from None
    words = spec.fill(json.loads(task.args))[1:]
    if spec.program == OWN_PROGRAM:
        return [sys.executable, "-P", "-m", "gribmill", *words]
    path = allowed[spec.program]
    if not Path(path).is_absolute():
        raise PermanentFailure(f"[commands] allow: {spec.program} is not an absolute path: {path}")
    return [path, *words]


def _environment(spec: CommandSpec, own: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in (*ALWAYS_KEPT, *spec.environment) if name in os.environ}
    return {**kept, **own} if spec.program == OWN_PROGRAM else kept


def _has_own_output() -> bool:
    """Whether the command can inherit this process's output: true in executors, false in a tick."""
    try:
        return sys.stdout.fileno() == 1 and sys.stderr.fileno() == 2
    except (OSError, ValueError, AttributeError):
        return False


def _run_in_group(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run it in this process group. After TERM, which the whole group receives, wait until the command exits."""
    process = subprocess.Popen(argv, env=dict(environment), stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    try:
        return process.wait()
    except BaseException:
        process.wait()  # the supervisor sends KILL after the grace period
        raise


def _run_beside(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run it in a new process group, and pass its output on line by line."""
    process = subprocess.Popen(
        argv,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    pumps = [_pump(process.stdout, sys.stdout), _pump(process.stderr, sys.stderr)]
    try:
        return process.wait()
    except BaseException:
        _end_group(process)
        raise
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        for pump in pumps:
            pump.join()


def _pump(source: IO[bytes] | None, target: Any) -> threading.Thread:
    assert source is not None

    def copy() -> None:
        with source:
            for line in iter(lambda: source.readline(65_536), b""):
                target.write(line.decode("utf-8", "replace"))

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(GRACE_SECONDS)


def _describe(code: int) -> str:
    if code > 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"was ended by signal {-code}"
