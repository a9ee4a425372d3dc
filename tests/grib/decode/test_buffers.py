"""The memory of a whole field is reused when, and only when, no reference to the field is left."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gribmill.grib.decode import native as module
from gribmill.grib.decode.native import KEPT_POINTS, MOST_KEPT, empty_field

SHAPE = (600, 500)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_kept", [])


def test_memory_of_a_dropped_field_is_reused() -> None:
    first = empty_field(SHAPE)
    address = first.ctypes.data
    del first
    assert empty_field(SHAPE).ctypes.data == address


@pytest.mark.parametrize("hold", ["itself", "a part", "a part of a part", "another shape", "a memoryview", "its base"])
def test_memory_with_a_reference_is_not_reused(hold: str) -> None:
    field = empty_field(SHAPE)
    field[:] = 7
    views = {
        "itself": field,
        "a part": field[1:3],
        "a part of a part": field[1:30][5:7, ::3],
        "another shape": field.reshape(-1).view(np.uint32),
        "a memoryview": field.data,
        "its base": field.base,
    }
    held = np.asarray(views[hold])
    del field, views
    for _ in range(5):
        other = empty_field(SHAPE)
        other[:] = -1
        assert not np.shares_memory(other, held)
    assert -1 not in held


def test_few_buffers_are_kept_and_none_of_very_large_fields() -> None:
    fields = [empty_field((600, 500 + number)) for number in range(5)]
    empty_field((1, KEPT_POINTS.stop))
    empty_field((3, 4))
    assert len({field.ctypes.data for field in fields}) == 5
    assert len(module._kept) == MOST_KEPT
    assert all(base.size in KEPT_POINTS for base in module._kept)


def test_threads_do_not_share_memory() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(300):
            field = empty_field(SHAPE)
            field[::50] = number
            if (field[::50] != number).any():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
