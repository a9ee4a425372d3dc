"""A clock that is wrong, for one process and its children: a small library that is loaded before libc."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long skew(void) { const char *text = getenv("TEST_CLOCK_SKEW"); return text ? atol(text) : 0; }

int clock_gettime(clockid_t id, struct timespec *at) {
  int result = (int)syscall(SYS_clock_gettime, id, at);
  if (!result && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += skew();
  return result;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
  at->tv_sec = exact.tv_sec;
  at->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (at) *at = exact.tv_sec;
  return exact.tv_sec;
}
"""


def skewed_clock(folder: Path, seconds: int) -> dict[str, str]:
    """Variables for a process whose clock is that many seconds ahead. The test is skipped without a C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("a wrong clock needs a C compiler")
    library = folder / "skewed_clock.so"
    if not library.exists():
        (folder / "skewed_clock.c").write_text(SOURCE)
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "skewed_clock.c")]
        subprocess.run(command, check=True, capture_output=True)
    return {"LD_PRELOAD": str(library), "TEST_CLOCK_SKEW": str(seconds)}
