"""What a measured process reports: the last line that it prints, as JSON."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any


def report_of(command: list[str | Path], environment: dict[str, str]) -> Any:
    """The report; where there is none, why, as a text: a peer that fails, or is killed, must not end a run."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    if done.returncode < 0:
        return f"killed by {signal.Signals(-done.returncode).name}"
    told = done.stderr.strip().splitlines()
    return told[-1][:200] if told else f"ended with exit code {done.returncode} and no word"


def missing_lines(reasons: dict[str, str]) -> list[str]:
    """For a page: what failed, and why."""
    return [f"- failed: {what}: {why}" for what, why in reasons.items()]
