"""The records of a ZIP file: local header, central directory entry, and end of central directory."""

from __future__ import annotations

import struct

STORED, DEFLATED = 0, 8
LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
# Larger sizes and offsets need ZIP64, which tiles do not use.
LIMIT_BYTES = 2**32 - 1
LIMIT_MEMBERS = 2**16 - 1
