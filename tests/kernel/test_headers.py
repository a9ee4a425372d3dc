"""Every header of the kernel compiles alone, and fits the line length."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import gribmill.kernel

HOME = Path(gribmill.kernel.__file__).parent
HEADERS = sorted(HOME.rglob("*.h"))
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
# Headers define static functions that only some includers use.
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsyntax-only", "-x", "c"]


@pytest.mark.process
@pytest.mark.skipif(COMPILER is None, reason="no C compiler here")
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_a_header_includes_what_it_uses(header: Path) -> None:
    done = subprocess.run([str(COMPILER), *FLAGS, header], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("source", [*HEADERS, HOME / "_kernel.c"], ids=lambda path: path.name)
def test_no_line_is_longer_than_120_characters(source: Path) -> None:
    assert max(map(len, source.read_text(encoding="utf-8").splitlines())) <= 120
