"""Sample forecasts, and the tiles that an undisturbed run builds from them."""

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

from tests.chain.chain_driver import ChainDriver, developers_own
from tests.chain.sample_forecasts import IDS, SampleForecasts, make_sample_forecasts

NewChain = Callable[..., ChainDriver]


@pytest.fixture(scope="session")
def forecasts(tmp_path_factory: pytest.TempPathFactory) -> SampleForecasts:
    return make_sample_forecasts(tmp_path_factory.mktemp("forecasts"))


@pytest.fixture(scope="session")
def port() -> int:
    """One port for all chains: tiles contain the URL of their source and are compared byte by byte."""
    # Below the range for outgoing connections, which might take the port between two tests.
    for number in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", number))
            return number
    raise AssertionError("no port is free")


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory, forecasts: SampleForecasts, port: int) -> dict[str, bytes]:
    """The tiles of every model, built by an undisturbed run."""
    with ChainDriver(tmp_path_factory.mktemp("reference"), forecasts, port) as chain:
        for model_id in IDS:
            chain.publish(model_id)
            chain.look(model_id)
        assert chain.complete(*IDS), chain.troubles()
        return chain.tiles()


@pytest.fixture(autouse=True)
def no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in filter(developers_own, list(os.environ)):
        monkeypatch.delenv(name)


@pytest.fixture
def new_chain(tmp_path: Path, forecasts: SampleForecasts, port: int) -> Iterator[NewChain]:
    """Creates chains that are closed at the end of the test."""
    with ExitStack() as stack:

        def make(**options: Any) -> ChainDriver:
            return stack.enter_context(ChainDriver(tmp_path, forecasts, port, **options))

        yield make


def of_model(tiles: dict[str, bytes], *model_ids: str) -> dict[str, bytes]:
    """The tiles of these models."""
    return {place: data for place, data in tiles.items() if place.split("/")[1] in model_ids}
