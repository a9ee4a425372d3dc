"""ecCodes by hand with ISA-L: the difference that remains if the peer has a fast deflate too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eccodes_by_hand import cut_all
from isal_zip import write_npz
from stopwatch import Boxes, main


def save(path: Path, **arrays: Any) -> None:
    write_npz(path, arrays)


def work(path: Path, boxes: Boxes, out: Path) -> None:
    cut_all(path, boxes, out, save)


main(work, "2t")
