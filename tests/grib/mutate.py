"""Damages small messages at random and decodes them: `python -m tests.grib.mutate FIRST LAST` (seeds)."""

from __future__ import annotations

import faulthandler
import random
import resource
import sys

import numpy as np

from gribmill.grib.decode.field import fields
from gribmill.grib.errors import GribError
from gribmill.sandbox.grib_writer.sections import multi_field
from tests.make_grib import PACKINGS1, PACKINGS2, make_message, smooth_values

# A gigabyte more than the imports need, so that an allocation of a false size fails.
MEMORY_BYTES = 3 << 30
# The headers of a message are within this many bytes: most damage is aimed at them.
HEADERS = 260


def originals() -> list[bytes]:
    whole = smooth_values((60, 90))
    holed = whole.copy()
    holed[3:26, 4:39] = np.nan
    made = [make_message(values=values, packing=packing) for packing in PACKINGS2 for values in (whole, holed)]
    made += [make_message(values=holed, packing=packing, missing="management") for packing in PACKINGS2[1:3]]
    old = smooth_values((73, 144))
    old[3:6] = np.nan
    made += [make_message("gfs-small", values=old, packing=packing, edition=1) for packing in PACKINGS1]
    pair = [make_message(short_name=name, values=holed, packing="grid_simple") for name in ("10u", "10v")]
    return [*made, multi_field(pair, reuse_bitmap=True)]


def damage(message: bytes, seed: int) -> bytes:
    chance, damaged = random.Random(seed), bytearray(message)
    for _ in range(chance.choice((1, 1, 2, 4))):
        end = HEADERS if chance.random() < 0.7 else len(message)
        place = chance.randrange(16 if message[7] == 2 else 8, min(end, len(message)) - 4)
        flipped = damaged[place] ^ 1 << chance.randrange(8)
        damaged[place] = chance.choice((0, 255, flipped, chance.randrange(256)))
    return bytes(damaged)


def main(first: int, last: int) -> None:
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    messages = originals()
    for seed in range(first, last):
        print(seed, flush=True)
        try:
            for field in fields(damage(messages[seed % len(messages)], seed), "damaged"):
                _ = field.keys.valid, field.grid_relative_winds, field.packing.step
                values = field.values() if field.layout else field.flat_values()
                assert values.size == field.packing.points
                _ = field.grid
        except GribError as refusal:
            # Refusing and decoding are both correct; a crash, a hang or another exception is not.
            assert str(refusal)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
