"""Where the time of a build goes: the profiler's own time of a further hour, by kind of work."""

from __future__ import annotations

import cProfile
import pstats
import tempfile
from typing import Any

from benchmarks.hours import made
from benchmarks.regions import EIGHT
from gribmill.regions.region import load_regions
from gribmill.tiles.build import build

# By a part of the function's name, as the profiler prints it.
KINDS = {
    "deflate": ("isal_zlib.Compress", "deflate_in_segments"),
    "write, fsync, rename": ("posix.fsync", "posix.replace", "BufferedWriter", "posix.open"),
    "decode and cut": ("_unpack.unpack",),
    "statistics": ("'reduce' of 'numpy.ufunc'",),
    "checksums (CRC-32, the source's SHA-256)": ("crc32", "sha256"),
    "turning winds": ("turned",),
}


def measure(rounds: int) -> dict[str, float]:
    """Shares of the wall time, largest first; what is left over is Python around it."""
    known = load_regions()
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            if number:
                profile.enable()
            build(made("hrrr"), [known[name] for name in EIGHT], folder, model="hrrr", hour=number)
            profile.disable()
    table: Any = pstats.Stats(profile)
    found = dict.fromkeys([*KINDS, "the rest"], 0.0)
    for (_, _, name), (_, _, own, _, _) in table.stats.items():
        kind = next((kind for kind, parts in KINDS.items() if any(part in name for part in parts)), "the rest")
        found[kind] += own / table.total_tt
    return {kind: round(share, 3) for kind, share in sorted(found.items(), key=lambda item: -item[1])}
