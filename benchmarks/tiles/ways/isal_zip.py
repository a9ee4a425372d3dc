"""NPZ written by hand with ISA-L, level 2, in one pass with one fsync: a fast writer without a private kernel."""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
from isal import isal_zlib

LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
DEFLATED, VERSION, JANUARY_1980 = 8, 20, 33
LEVEL = 2


def write_npz(path: Path, arrays: dict[str, Any]) -> None:
    """What `numpy.savez_compressed` writes, with another deflate."""
    body = bytearray()
    directory = bytearray()
    for name, array in arrays.items():
        raw = _npy(array)
        packer = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, -15)
        packed = packer.compress(raw) + packer.flush()
        member = f"{name}.npy".encode()
        facts = (DEFLATED, 0, JANUARY_1980, isal_zlib.crc32(raw), len(packed), len(raw), len(member), 0)
        directory += CENTRAL.pack(b"PK\1\2", VERSION, VERSION, 0, *facts, 0, 0, 0, 0, len(body)) + member
        body += LOCAL.pack(b"PK\3\4", VERSION, 0, *facts) + member + packed
    end = END.pack(b"PK\5\6", 0, 0, len(arrays), len(arrays), len(directory), len(body), 0)
    with path.open("wb") as file:
        for part in (body, directory, end):
            file.write(part)
        file.flush()
        os.fsync(file.fileno())


def _npy(array: Any) -> bytes:
    header = io.BytesIO()
    array = np.ascontiguousarray(array)
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return header.getvalue() + bytes(array.tobytes())
