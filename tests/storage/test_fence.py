"""Files are written atomically, and an older one never replaces a newer one."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from gribmill.storage.atomic import locked_folder, write_atomic
from gribmill.storage.errors import FolderBusy, NoSpace, Superseded


def refuse() -> None:
    raise Superseded("there is a newer one")


def test_file_that_is_refused_leaves_the_one_in_place(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"new")
    with pytest.raises(Superseded):
        write_atomic(path, [b"old"], refuse)
    assert path.read_bytes() == b"new"
    assert not list(tmp_path.glob("*.part"))


def test_check_and_rename_are_one_step_for_other_writers(tmp_path: Path) -> None:
    """While one writer is between its check and its rename, another one waits."""
    path = tmp_path / "a"
    order: list[str] = []
    inside, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        inside.set()
        assert go_on.wait(30)
        order.append("first")

    first = threading.Thread(target=write_atomic, args=(path, [b"first"], slow))
    first.start()
    assert inside.wait(30)
    second = threading.Thread(target=write_atomic, args=(path, [b"second"], lambda: order.append("second")))
    second.start()
    go_on.set()
    first.join()
    second.join()
    assert order == ["first", "second"]
    assert path.read_bytes() == b"second"


def test_lock_timeout_names_the_holder(tmp_path: Path) -> None:
    with (
        locked_folder(tmp_path),
        pytest.raises(FolderBusy, match=rf"by process {os.getpid()} on .* for more than 0.05 s"),
        locked_folder(tmp_path, patience_seconds=0.05),
    ):
        pass


def test_lock_follows_a_recreated_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with locked_folder(folder):
        (folder / ".write.lock").unlink()
        folder.rmdir()
        with locked_folder(folder, patience_seconds=0.05):
            assert (folder / ".write.lock").is_file()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_is_distinguished_from_other_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def full(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(NoSpace, match="no space is left on the disk for"):
        write_atomic(tmp_path / "a", [b"x"])
    assert not list(tmp_path.iterdir())
