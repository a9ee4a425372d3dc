"""Imported by Python when it starts with this folder in PYTHONPATH: the first process that is about to write a tile
stops itself (SIGSTOP). FREEZE_ONCE names the file that says that it has."""

from __future__ import annotations

import os
import signal
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

MODULE = "gribmill.tiles.build.tile_writer"


def _freeze_once() -> None:
    try:
        os.close(os.open(os.environ["FREEZE_ONCE"], os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGSTOP)


class _Patched(Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        write = module.write_atomic

        def write_late(*args: Any, **kwargs: Any) -> Any:
            _freeze_once()
            return write(*args, **kwargs)

        module.write_atomic = write_late  # type: ignore[attr-defined]


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        found = PathFinder.find_spec(name, path) if name == MODULE else None
        if found is not None and found.loader is not None:
            found.loader = _Patched(found.loader)
        return found


sys.meta_path.insert(0, _Finder())
