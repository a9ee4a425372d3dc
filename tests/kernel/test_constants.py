"""Numbers that the kernel and Python both go by are the same in both."""

from __future__ import annotations

import re
from pathlib import Path

import gribmill.kernel
from gribmill.grib.decode import native as kernel
from gribmill.grib.packing import validate as bounds
from gribmill.tiles.format import npz_writer as npz
from gribmill.tiles.format import restart_points as segments

SOURCES = "\n".join(path.read_text() for path in sorted(Path(gribmill.kernel.__file__).parent.rglob("*.[ch]")))


def defined(name: str) -> int:
    found = re.search(rf"^#define {name} (0x[0-9A-Fa-f]+|\d+)u?$", SOURCES, re.MULTILINE)
    assert found, f"{name} is not defined as a number"
    return int(found[1], 0)


def test_limits_are_the_same() -> None:
    assert defined("MOST_WINDOWS") == kernel.MOST_WINDOWS
    assert defined("MOST_POINTS") == bounds.POINT_LIMIT
    assert defined("MOST_LAZY") == npz.LIMIT_KERNEL[npz.BY_BYTES]
    assert "#define MOST_RAW_BYTES (UINT32_MAX / 16)\n" in SOURCES
    assert (2**32 - 1) // 16 == npz.LIMIT_KERNEL[npz.BY_WORDS] == npz.LIMIT_KERNEL[npz.BY_RUNS]


def test_words_of_the_format_are_the_same() -> None:
    assert defined("LIST_ID") == segments.EXTRA_ID
    assert (defined("METHOD_STORED"), defined("METHOD_DEFLATED")) == (npz.STORED, npz.DEFLATED)
    ways = re.search(r"typedef enum \{([^}]*)\} Way;", SOURCES)
    assert ways and re.findall(r"BY_\w+", re.sub(r"/\*.*?\*/", "", ways[1])) == ["BY_WORDS", "BY_RUNS", "BY_BYTES"]
    assert (npz.BY_WORDS, npz.BY_RUNS, npz.BY_BYTES) == (0, 1, 2)
