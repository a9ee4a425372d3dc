"""A minute of fuzzing with sanitizers, in `make soak`; the seeds are checked always."""

from __future__ import annotations

import struct
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from gribmill.kernel import native
from tests.kernel.both_decoders import needs_kernel

CANNOT_BUILD = 3


@pytest.mark.soak
def test_a_minute_of_fuzzing_finds_no_fault() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-m", "fuzz", "60"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == CANNOT_BUILD:
        pytest.skip("no compiler with sanitizers here")
    assert done.returncode == 0, done.stderr[-3000:]


def test_decode_seeds_have_the_format_of_the_target() -> None:
    from fuzz.seeds import MAX_POINTS, decode_seeds

    made = list(islice(decode_seeds(), 90))
    assert len(made) == 90
    for seed in made:
        ny, nx, _, packing, bitmap = (int.from_bytes(seed[i : i + 2], "big") for i in range(0, 10, 2))
        assert 0 < ny * nx <= MAX_POINTS
        assert seed[10 + 4] == 5 and seed[10 + packing + 4] == 6 and seed[10 + packing + bitmap + 4] == 7


@needs_kernel
def test_inflate_seeds_are_streams_that_the_kernel_inflates() -> None:
    from fuzz.seeds import inflate_seeds

    made = list(inflate_seeds())
    assert len(made) > 10
    for seed in made:
        count = 1 + seed[0]
        stream = seed[1 + 10 * count :]
        segments = [struct.unpack_from("<II", seed, 1 + 10 * i) for i in range(count)]
        sizes = [int.from_bytes(seed[9 + 10 * i : 11 + 10 * i], "big") for i in range(count)]
        numbers = np.array([(*segment, size) for segment, size in zip(segments, sizes, strict=True)], np.uint32)
        assert native.inflate((stream,) * count, numbers, bytearray(sum(sizes)))
