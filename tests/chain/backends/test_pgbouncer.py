"""The chain through PgBouncer in transaction mode: workers cannot listen there, and poll."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gribmill.pipeline.job_types import scan_job
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain, of_model
from tests.queue.backends import new_address
from tests.servers.pgbouncer import pgbouncer

pytestmark = [pytest.mark.process, pytest.mark.postgres]


@pytest.fixture
def chain(new_chain: NewChain, tmp_path: Path) -> Iterator[ChainDriver]:
    with new_address("postgres", tmp_path) as url, pgbouncer(url) as pooled:
        yield new_chain(changes={"database": pooled})


def test_worker_behind_a_pooler_runs_the_chain_by_polling(chain: ChainDriver, reference: dict[str, bytes]) -> None:
    chain.publish("hrrr")
    chain.store.jobs.enqueue(scan_job("hrrr"))
    chain.start("work")
    chain.wait_complete("hrrr")
    assert chain.tiles() == of_model(reference, "hrrr")
    assert "is behind a pooler: workers poll" in (chain.root / "process-0.log").read_text()
    chain.assert_sound()
