"""An ingest reads the headers of each message once: those that verify the download also give its grids."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gribmill.grib import message_header, sections
from gribmill.grib.messages import map_file, walk
from gribmill.grib.sections import ByteSource, Span
from gribmill.queue.model import Succeeded
from tests.chain.chain_driver import World
from tests.chain.conftest import NewWorld

Walk = Callable[[ByteSource, int, int], Iterator[Span]]


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The length of every message whose sections are walked from now on."""
    lengths: list[int] = []

    def counted(walk: Walk) -> Walk:
        def count(data: ByteSource, offset: int, length: int) -> Iterator[Span]:
            lengths.append(length)
            return walk(data, offset, length)

        return count

    for name in ("walk1", "walk2"):
        count = counted(getattr(sections, name))
        for module in (sections, message_header):
            monkeypatch.setattr(module, name, count)
    return lengths


def spooled_lengths(world: World) -> list[int]:
    return [message.length for path in world.spooled() for message in walk(map_file(path), path.name)]


@pytest.mark.parametrize("model_id", ["hrrr", "ifs"])
def test_each_header_is_parsed_once(new_world: NewWorld, parses: list[int], model_id: str) -> None:
    world = new_world(chain={"models": [model_id]})
    world.publish(model_id)
    ran = world.look_only(model_id, "scan_source", "ingest_grib")
    assert all(isinstance(one.outcome, Succeeded) for one in ran), world.troubles()
    assert len(world.hours(model_id)) > 1
    assert sorted(parses) == sorted(spooled_lengths(world))


def test_kept_messages_are_parsed_once_for_a_further_region(new_world: NewWorld, parses: list[int]) -> None:
    world = new_world(chain={"regions": ["ne"], "keep_grib": True})
    world.publish("hrrr")
    world.look("hrrr")
    world.chain = {"regions": ["ne", "texas"], "keep_grib": True}
    parses.clear()
    ran = world.look_only("hrrr", "scan_source", "ingest_grib")
    assert all(isinstance(one.outcome, Succeeded) for one in ran), world.troubles()
    assert sorted(parses) == sorted(spooled_lengths(world))
