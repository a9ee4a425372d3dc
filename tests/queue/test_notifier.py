"""Wake-ups reach every listener, even one that has just joined, and cost nothing without listeners."""

from __future__ import annotations

import os
import select
import shutil
from pathlib import Path

import pytest

from gribmill.database.sqlite.notifier import WakeFolder, WakeSocket


def was_woken(listener: WakeSocket) -> bool:
    """Whether a wake-up has arrived since the last call."""
    readable = bool(select.select([listener], [], [], 0)[0])
    listener.drain()
    return readable


@pytest.fixture
def announcer(tmp_path: Path) -> WakeFolder:
    """One process's view; another `WakeFolder` represents another process."""
    return WakeFolder(tmp_path / "jobs.db")


def test_listener_that_joins_after_an_announcement_hears_the_next(announcer: WakeFolder, tmp_path: Path) -> None:
    for _ in range(20):  # within the resolution of file times
        announcer.announce()
        listener = WakeFolder(tmp_path / "jobs.db").listen()
        announcer.announce()
        assert was_woken(listener)
        listener.close()


def test_socket_of_a_dead_listener_is_removed_and_the_others_hear(announcer: WakeFolder) -> None:
    dead, living = announcer.listen(), announcer.listen()
    dead._socket.close()
    for _ in range(2):
        announcer.announce()
        assert was_woken(living)
    assert len(list(announcer.path.iterdir())) == 2, "the living one's, and who joined"


def test_a_listener_that_leaves_is_replaced_by_one_that_joins(announcer: WakeFolder) -> None:
    first = announcer.listen()
    announcer.announce()
    first.close()
    second = announcer.listen()
    announcer.announce()
    assert was_woken(second)


def test_the_folder_is_read_once_while_no_listener_joins(
    announcer: WakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    real = os.listdir

    def look(path: Path) -> list[str]:
        looks.append(path)
        return real(path)

    monkeypatch.setattr(os, "listdir", look)
    for _ in range(5):
        announcer.announce()
    assert len(looks) == 1
    listener = announcer.listen()
    for _ in range(5):
        announcer.announce()
    assert was_woken(listener)
    assert len(looks) == 2


def test_without_mapped_memory_listening_and_announcing_still_work(
    announcer: WakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "pwrite", full)
    listener = announcer.listen()
    announcer.announce()
    assert not was_woken(listener), "it polls"


def test_missing_folder_costs_only_wake_ups(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 60)  # beyond what fits into a socket's address
    deep.mkdir()
    announcer = WakeFolder(deep / "jobs.db")
    announcer.listen()
    announcer.announce()
    shutil.rmtree(announcer.path)
    announcer.announce()
    listener = WakeFolder(deep / "jobs.db").listen()
    announcer.announce()
    assert was_woken(listener)
