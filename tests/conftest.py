"""Rules for every test."""

from __future__ import annotations

import gc
import logging
import signal
import sqlite3  # noqa: F401 — before ecCodes, whose wheels bring an older SQLite along
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy.testing  # noqa: F401 — here, because NumPy 1 runs lscpu when it is imported
import pytest
from hypothesis import HealthCheck, settings

from tests.servers.this_run import GIVEN_POSTGRES

pytest_plugins = [
    "tests.migrated_database",
    "tests.servers.chromium",
    "tests.servers.seaweed",
    "tests.servers.azurite",
    "tests.servers.google_storage",
]

# Markers of tests that may start other processes: `make test-fast` leaves all of them out.
MAY_START_PROCESSES = ("process", "witness", "soak", "postgres")
# Audit events of Python that start one. (`multiprocessing` raises none with its method "spawn".)
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
# matplotlib lists the fonts of the machine with it, once per user: the first test that draws cannot avoid it.
ALLOWED = "fc-list"

# The same examples in every run, and no time limits, which a busy machine would miss.
settings.register_profile(
    "gribmill", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("gribmill")

TESTS = f"{Path(__file__).parent}/"
# With `--no-loadscope-reorder`, several processes begin with these files, so that none of them is left for the end.
LONGEST_FILES = {
    name: place
    for place, name in enumerate(
        (
            "chain/failures/test_simulated_month.py",
            "console/test_pages_in_chromium.py",
            "queue/store/guarantees/test_postgres_broken_variants.py",
            "server/test_openapi.py",
            "chain/backends/test_remote_worker.py",
            "hosts/test_cut_off.py",
            "chain/backends/test_postgres.py",
            "queue/worker/failures/test_kill.py",
            "queue/worker/failures/test_silent_workers.py",
            "queue/worker/executor/test_command_jobs.py",
            "queue/store/guarantees/test_broken_variants.py",
            "queue/store/guarantees/test_state_machine.py",
            "hosts/test_black_hole.py",
            "hosts/test_clocks.py",
            "hosts/test_whole_chain.py",
            "chain/commands/test_commands.py",
            "queue/outages/test_chaos.py",
            "queue/outages/test_outages.py",
            "chain/failures/test_kill.py",
            "chain/failures/test_frozen.py",
            "server/matrix/test_matrix.py",
            "witness/test_every_listed_name.py",
        )
    )
}

_unmarked: pytest.Item | None = None
"""The test that runs now, if it may not start processes."""


def pytest_configure() -> None:
    """Restore signals that this process was started to ignore, which all processes of the tests would inherit: a shell
    ignores SIGINT in background processes, nohup SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # still without effect on the tests themselves


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove everything of this run from an external server."""
    if GIVEN_POSTGRES is not None and not hasattr(session.config, "workerinput"):  # the process that started the others
        from tests.servers.shared_postgres import drop_templates  # imported late, because few runs need psycopg

        drop_templates()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among the tests themselves, neither while they are collected nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip soak tests, which take minutes, unless they are selected (`-m soak`). Put the longest files first."""
    items.sort(key=lambda item: LONGEST_FILES.get(str(item.path).removeprefix(TESTS), len(LONGEST_FILES)))
    if "soak" in (config.option.markexpr or ""):
        return
    soak = [item for item in items if item.get_closest_marker("soak")]
    if soak:
        config.hook.pytest_deselected(items=soak)
        items[:] = [item for item in items if item not in soak]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fail a test that starts a process without a marker, so that the fast layer has no processes.

    Also resets logging, which commands in this process configure globally.
    """
    global _unmarked
    _unmarked = None if any(item.get_closest_marker(name) for name in MAY_START_PROCESSES) else item
    logger = logging.getLogger("gribmill")
    before = (logger.handlers[:], logger.level, logger.propagate)
    try:
        return (yield)
    finally:
        _unmarked = None
        logger.handlers[:], logger.level, logger.propagate = before


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Allow processes during teardown: the last test also ends servers that other tests started."""
    global _unmarked
    _unmarked = None


def _refuse_processes(event: str, args: tuple[Any, ...]) -> None:
    if _unmarked is not None and event in STARTS and not (event == "subprocess.Popen" and args[0] == ALLOWED):
        raise AssertionError(f"{_unmarked.name} starts a process ({event}): mark it with pytest.mark.process")


# An audit hook cannot be removed, so there is one for the whole session.
sys.addaudithook(_refuse_processes)
