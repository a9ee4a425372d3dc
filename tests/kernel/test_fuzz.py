"""A minute of coverage-guided fuzzing with sanitizers, in `make soak`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CANNOT_BUILD = 3


@pytest.mark.soak
def test_a_minute_of_fuzzing_finds_no_fault() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-m", "fuzz", "60"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == CANNOT_BUILD:
        pytest.skip("no compiler with sanitizers here")
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_seeds_are_inputs_that_the_target_reads() -> None:
    from fuzz.seeds import MOST_POINTS, seeds

    made = [seed for _, seed in zip(range(90), seeds(), strict=False)]
    assert len(made) == 90
    for seed in made:
        ny, nx, _, packing, bitmap = (int.from_bytes(seed[i : i + 2], "big") for i in range(0, 10, 2))
        assert 0 < ny * nx <= MOST_POINTS
        assert seed[10 + 4] == 5 and seed[10 + packing + 4] == 6 and seed[10 + packing + bitmap + 4] == 7
