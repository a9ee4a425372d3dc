"""ecCodes by hand with gribmill's NPZ writer: what is left of the difference when both share the fast deflate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eccodes_by_hand import cut_all
from stopwatch import Boxes, main

from gribmill.tiles.npz import write_npz


def save(path: Path, **arrays: Any) -> None:
    write_npz(path, arrays)


def work(path: Path, boxes: Boxes, out: Path) -> None:
    cut_all(path, boxes, out, save)


main(work, "2t")
