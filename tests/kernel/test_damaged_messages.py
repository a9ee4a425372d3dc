"""Damaged messages give the same with and without the kernel, and never a crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kernel.both_decoders import needs_kernel
from tests.kernel.damaged_messages import WAYS

pytestmark = [needs_kernel, pytest.mark.process]


def run(way: str, first: int, last: int) -> None:
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.kernel.damaged_messages", way, str(first), str(last)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]


@pytest.mark.parametrize("way", sorted(WAYS))
def test_damage_is_refused_or_decoded_as_eccodes_does(way: str) -> None:
    run(way, 0, 1200)


@pytest.mark.soak
@pytest.mark.parametrize("way", sorted(WAYS))
def test_much_damage_is_refused_or_decoded_as_eccodes_does(way: str) -> None:
    run(way, 1200, 60_000)
