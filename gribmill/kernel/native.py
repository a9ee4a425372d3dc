"""The kernel's functions, whether they are available, and the switch that turns them off.

Call `available()` before using any function: without a C compiler at installation, or with GRIBMILL_KERNEL=off, they
are not defined and every caller has a fallback (ecCodes, NumPy, ISA-L, orjson) that gives the same values.
"""

from __future__ import annotations

import os
from typing import Literal

SWITCH = "GRIBMILL_KERNEL"
# Read once: `available` is asked for every array, and reading the environment costs as much as encoding a small one.
switched_off = os.environ.get(SWITCH, "").lower() in ("off", "0", "no")
built = True
if not switched_off:
    try:
        from gribmill.kernel._kernel import (
            decimal_rows,
            decode_field,
            encode_array,
            inflate,
            requantize,
            rotate_winds,
            summarize,
        )
    except ImportError:
        built = False

__all__ = [
    "available",
    "decimal_rows",
    "decode_field",
    "encode_array",
    "inflate",
    "requantize",
    "rotate_winds",
    "state",
    "summarize",
]


def available() -> bool:
    """Whether the kernel's functions can be called."""
    return built and not switched_off


def state() -> Literal["native", "off", "not built"]:
    """Which decoder is in use; GRIBMILL_KERNEL=off leaves everything to ecCodes."""
    if switched_off:
        return "off"
    return "native" if built else "not built"
