"""G1–G10, each at least once, on every backend."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.queue.store.guarantees.scenarios import GUARANTEES
from tests.queue.store.tested_backend import BackendUnderTest


@pytest.mark.parametrize("scenario", GUARANTEES, ids=lambda scenario: scenario.__name__)
def test_guarantee_holds(backend: BackendUnderTest, scenario: Callable[[BackendUnderTest], None]) -> None:
    scenario(backend)
    assert backend.store.verify() == []


def test_every_guarantee_has_a_scenario() -> None:
    named = {name for scenario in GUARANTEES for name in re.findall(r"G\d+", scenario.__doc__ or "")}
    assert named == {f"G{n}" for n in range(1, 11)}
