"""What a measured process reports: the last line that it prints, as JSON."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any


def report_of(command: list[str | Path], environment: dict[str, str]) -> Any:
    """The report, or why there is none: a peer that fails or is killed must not end the run."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    if done.returncode < 0:
        return f"killed by {signal.Signals(-done.returncode).name}"
    lines = done.stderr.strip().splitlines()
    return lines[-1][:200] if lines else f"exit code {done.returncode} without an error message"


def missing_lines(reasons: dict[str, str]) -> list[str]:
    """For the page: what failed, and why."""
    return [f"- failed: {what}: {why}" for what, why in reasons.items()]
