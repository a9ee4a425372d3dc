"""Actions in the server's threads: large computations wait for each other, other actions do not."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from gribmill.server.context import ServerContext
from gribmill.server.problems import HttpProblem
from gribmill.settings.schema import Settings


def test_computations_take_turns_and_other_actions_do_not_wait_for_them(tmp_path: Path) -> None:
    async def three() -> list[str]:
        server, began, go_on, order = ServerContext(Settings(data=tmp_path)), threading.Event(), threading.Event(), []

        def first() -> None:
            began.set()
            go_on.wait()
            order.append("first")

        computations = [asyncio.create_task(server.compute(first))]
        await server.run(began.wait)
        computations.append(asyncio.create_task(server.compute(order.append, "second")))
        for _ in range(3):
            await server.run(lambda: None)
        order.append("other")
        go_on.set()
        await asyncio.gather(*computations)
        return order

    assert asyncio.run(three()) == ["other", "first", "second"]


def test_waiting_for_another_computation_counts_as_time_of_the_request(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    settings = settings.model_copy(update={"server": settings.server.model_copy(update={"request_seconds": 0.001})})

    async def two() -> None:
        server, go_on = ServerContext(settings), threading.Event()
        async with server.computing:
            with pytest.raises(HttpProblem, match="longer than"):
                await server.compute(go_on.set)
        assert not go_on.is_set()

    asyncio.run(two())
