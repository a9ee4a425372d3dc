"""An ingest reads the headers of each message once: those that verify the download also give its grids."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gribmill.grib import messages, sections
from gribmill.grib.messages import map_file, walk
from gribmill.grib.sections import ByteSource, SectionSpan
from gribmill.queue.model import Succeeded
from tests.chain.chain_driver import ChainDriver
from tests.chain.conftest import NewChain

Walk = Callable[[ByteSource, int, int], Iterator[SectionSpan]]


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The length of every message parsed from now on."""
    lengths: list[int] = []

    def counted(walk: Walk) -> Walk:
        def count(data: ByteSource, offset: int, length: int) -> Iterator[SectionSpan]:
            lengths.append(length)
            return walk(data, offset, length)

        return count

    for name in ("walk1", "walk2"):
        count = counted(getattr(sections, name))
        for module in (sections, messages):
            monkeypatch.setattr(module, name, count)
    return lengths


def spooled_lengths(chain: ChainDriver) -> list[int]:
    return [message.length for path in chain.spooled() for message in walk(map_file(path), path.name)]


@pytest.mark.parametrize("model_id", ["hrrr", "ifs"])
def test_each_header_is_parsed_once(new_chain: NewChain, parses: list[int], model_id: str) -> None:
    chain = new_chain(chain={"models": [model_id]})
    chain.publish(model_id)
    ran = chain.look_only(model_id, "scan_source", "ingest_grib")
    assert all(isinstance(one.outcome, Succeeded) for one in ran), chain.troubles()
    assert len(chain.hours(model_id)) > 1
    assert sorted(parses) == sorted(spooled_lengths(chain))


def test_kept_messages_are_parsed_once_for_a_further_region(new_chain: NewChain, parses: list[int]) -> None:
    chain = new_chain(chain={"regions": ["ne"], "keep_grib": True})
    chain.publish("hrrr")
    chain.look("hrrr")
    chain.chain = {"regions": ["ne", "texas"], "keep_grib": True}
    parses.clear()
    ran = chain.look_only("hrrr", "scan_source", "ingest_grib")
    assert all(isinstance(one.outcome, Succeeded) for one in ran), chain.troubles()
    assert sorted(parses) == sorted(spooled_lengths(chain))
