"""A PostgreSQL server with durable settings for the benchmarks, and its CPU time."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.servers.postgres import USER, PostgresServer

# Defaults except memory and the checkpoint interval: a checkpoint in the middle of a row would slow it down.
DURABLE = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "wal_level": "replica",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "timezone": "UTC",
}


class DurableServer:
    """A server with its data on disk."""

    def __init__(self, server: PostgresServer) -> None:
        self.server = server

    def new_database(self, name: str) -> str:
        with self.administrator() as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        # The URL of the tests has options that asyncpg does not know.
        return f"postgresql://{USER}@/{name}?host={self.server.home}"

    def drop_database(self, name: str) -> None:
        with self.administrator() as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def administrator(self) -> psycopg.Connection:
        return psycopg.connect(self.server.url(), autocommit=True)

    @property
    def version(self) -> str:
        with self.administrator() as connection:
            return connection.info.parameter_status("server_version") or ""

    def checkpoint(self) -> None:
        """A checkpoint, so that writes left by earlier work do not count."""
        with self.administrator() as connection:
            connection.execute("CHECKPOINT")

    def cpu_seconds(self) -> float:
        """User and system time of the server so far: of all its processes, including ended ones."""
        postmaster = int((self.server.data / "postmaster.pid").read_text().split()[0])
        ticks = sum(_stat(postmaster)[11:15])
        for pid in Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split():
            ticks += sum(_stat(int(pid))[11:13])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def durable_server(**more: str) -> Iterator[DurableServer]:
    """Runs until the end of the block; raises `NoServer` with the reason if there is none."""
    home = Path(tempfile.mkdtemp(prefix="gribmill-bench-pg-"))
    try:
        server = PostgresServer(home, settings={**DURABLE, **more})
        server.create()
        server.start()
        try:
            yield DurableServer(server)
        finally:
            if server.running:
                server.stop("immediate")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _stat(pid: int) -> list[int]:
    """The fields of /proc/PID/stat after the name, as numbers; the state is 0. Empty if the process has just ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return [0] * 15
    return [0, *map(int, words[1:])]
