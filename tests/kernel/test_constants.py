"""Numbers that are defined in C and in Python are the same in both."""

from __future__ import annotations

import re
from pathlib import Path

import gribmill.kernel
from gribmill.grib.decode import native
from gribmill.grib.packing import validate
from gribmill.tiles.format import npz_writer, restart_points, zip_directory

SOURCES = "\n".join(path.read_text() for path in sorted(Path(gribmill.kernel.__file__).parent.rglob("*.[ch]")))


def defined(name: str) -> int:
    found = re.search(rf"^#define {name} (0x[0-9A-Fa-f]+|\d+)u?$", SOURCES, re.MULTILINE)
    assert found, f"{name} is not defined as a number"
    return int(found[1], 0)


def test_limits_are_the_same() -> None:
    assert defined("MAX_WINDOWS") == native.MAX_WINDOWS
    assert defined("MAX_POINTS") == validate.POINT_LIMIT
    assert defined("MAX_SEGMENTS_PER_CALL") == restart_points.MOST_PER_CALL
    assert "#define MAX_RAW_BYTES (UINT32_MAX / 16)\n" in SOURCES
    assert npz_writer.LIMIT_KERNEL == (2**32 - 1) // 16


def test_numbers_of_the_file_format_are_the_same() -> None:
    assert defined("RESTART_LIST_ID") == restart_points.EXTRA_ID
    assert (defined("METHOD_STORED"), defined("METHOD_DEFLATED")) == (zip_directory.STORED, zip_directory.DEFLATED)


def test_encoding_modes_are_the_same() -> None:
    body = re.search(r"typedef enum \{([^}]*)\} Mode;", SOURCES)
    assert body is not None
    names = re.findall(r"[A-Z]\w+", re.sub(r"/\*.*?\*/", "", body[1]))
    assert [getattr(npz_writer, name) for name in names] == [0, 1]
