"""A wrong clock for one process and its children: a small library that is preloaded before libc."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

SOURCE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *seconds;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("TEST_CLOCK_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *at = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (at != MAP_FAILED) seconds = at;
  close(file);
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int result = (int)syscall(SYS_clock_gettime, id, at);
  if (!result && seconds && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += *seconds;
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


class SkewedClock:
    """Processes with `variables` have a clock that is `seconds` ahead. `set` makes the clocks of all of them jump."""

    def __init__(self, folder: Path, name: str, seconds: int = 0) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("a wrong clock needs a C compiler")
        library = folder / "skewed_clock.so"
        if not library.exists():
            (folder / "skewed_clock.c").write_text(SOURCE)
            command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "skewed_clock.c")]
            subprocess.run(command, check=True, capture_output=True)
        self._file = folder / f"{name}.clock"
        self._file.write_bytes(struct.pack("l", seconds))
        self.variables = {"LD_PRELOAD": str(library), "TEST_CLOCK_FILE": str(self._file)}

    def set(self, seconds: int) -> None:
        with self._file.open("r+b") as file:
            file.write(struct.pack("l", seconds))


def skewed_clock(folder: Path, seconds: int) -> dict[str, str]:
    """Variables for a process whose clock is that many seconds ahead. The test is skipped without a C compiler."""
    return SkewedClock(folder, f"ahead{seconds}", seconds).variables
