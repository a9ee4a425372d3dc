"""Damaged messages decode to the same values, or are refused, with and without the kernel; nothing crashes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kernel.both_decoders import needs_kernel
from tests.kernel.damaged_messages import KINDS

pytestmark = [needs_kernel, pytest.mark.process]


def failure_of(kind: str, first: int, last: int) -> str:
    """Why the process ended; empty if both decoders agreed on every message."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.kernel.damaged_messages", kind, str(first), str(last)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return f"exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_damaged_messages_decode_as_with_eccodes(kind: str) -> None:
    assert failure_of(kind, 0, 1200) == ""


@pytest.mark.soak
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_many_damaged_messages_decode_as_with_eccodes(kind: str) -> None:
    assert failure_of(kind, 1200, 60_000) == ""
