"""One writer at a time, a log that stays small, connections that are nobody else's."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.queue.store.bench import Bench, SqliteBench


@pytest.fixture
def jobs_db(tmp_path: Path):
    bench = SqliteBench(tmp_path)
    yield bench
    bench.close()


def write_transaction_shuts_others_out(bench: Bench) -> None:
    """G2, G3: from its first statement on, before it has written anything, nobody else can begin to write."""
    assert isinstance(bench, SqliteBench)
    with bench.store.database.write(), closing(sqlite3.connect(bench.path, timeout=0)) as other:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")


def test_write_transaction_shuts_others_out(jobs_db: SqliteBench) -> None:
    write_transaction_shuts_others_out(jobs_db)
