"""Made forecasts, and what an undisturbed run makes of them."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.chain.chain_driver import World, developers_own
from tests.chain.sample_forecasts import IDS, Stock, make_stock

NewWorld = Callable[..., World]


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Stock:
    return make_stock(tmp_path_factory.mktemp("stock"))


@pytest.fixture(scope="session")
def port() -> int:
    """The same for all worlds: tiles name the address they came from, and are to be compared byte by byte."""
    # Below those that the system gives to outgoing connections: one of them might take it between two worlds.
    for number in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", number))
            return number
    raise AssertionError("no port is free")


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory, stock: Stock, port: int) -> dict[str, bytes]:
    """The tiles of every model as an undisturbed run makes them."""
    with World(tmp_path_factory.mktemp("reference"), stock, port) as world:
        for model_id in IDS:
            world.publish(model_id)
            world.look(model_id)
        assert world.complete(*IDS), world.troubles()
        return world.tiles()


@pytest.fixture(autouse=True)
def no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in filter(developers_own, list(os.environ)):
        monkeypatch.delenv(name)


@pytest.fixture
def new_world(tmp_path: Path, stock: Stock, port: int) -> Iterator[NewWorld]:
    """Makes a world; it ends with the test."""
    with ExitStack() as stack:

        def make(**options: Any) -> World:
            return stack.enter_context(World(tmp_path, stock, port, **options))

        yield make


def of_model(tiles: dict[str, bytes], *model_ids: str) -> dict[str, bytes]:
    """Those of the tiles that belong to these models."""
    return {place: data for place, data in tiles.items() if place.split("/")[1] in model_ids}
