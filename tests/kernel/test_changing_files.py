"""A file that changes while it is decoded gives some values or is declined; nothing beyond its end is read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kernel.both_decoders import needs_kernel

pytestmark = [needs_kernel, pytest.mark.process]

# While one thread decodes, another one sets all group widths to the maximum and back. The memory after the data is
# protected, so that a read there ends the process.
SCRIPT = """
import ctypes, mmap, threading, time
import numpy as np
from dataclasses import replace
from gribmill.grib.decode.native import decode_windows
from gribmill.grib.decode.field import fields
from tests.kernel.message_variants import TINY
from tests.make_grib import make_message

# One wide group among narrow ones: its width would be plausible for the others, too.
spec = replace(TINY, nx=1200, ny=800)
values = np.random.default_rng(1).integers(0, 4, spec.shape).astype(float)
values[400, 600] = 4000
(field,) = fields(make_message(spec, values=values, packing="grid_complex", bits=12), "made")
packing, data = field.sections.packing, field.sections.data
front, guard = -len(data) % mmap.PAGESIZE, 16 << 20
memory = mmap.mmap(-1, front + len(data) + guard)
memory[front : front + len(data)] = bytes(data)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + front + len(data)
assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start), ctypes.c_size_t(guard), 0) == 0

groups, bits, width_bits = int.from_bytes(packing[31:35], "big"), packing[19], packing[36]
first = front + 5 + (groups * bits + 7) // 8
last = first + (groups * width_bits + 7) // 8
good, wide = memory[first:last], bytes([255]) * (last - first)
sections = field.sections._replace(data=memoryview(memory)[front : front + len(data)])
end = time.monotonic() + 1.5

def write():
    while time.monotonic() < end:
        memory[first:last] = wide
        time.sleep(0.0001)
        memory[first:last] = good
        time.sleep(0.0003)

def decoded():
    return decode_windows(sections, field.packing.points, field.layout, None)

writer = threading.Thread(target=write)
writer.start()
while time.monotonic() < end:
    decoded()
writer.join()
(values,) = decoded()
assert values.tobytes() == field.values().tobytes()
"""


def test_group_widths_that_change_never_lead_beyond_the_end() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
