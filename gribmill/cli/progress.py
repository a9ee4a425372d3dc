"""Progress bars on stderr. In a pipe, none are shown and rich is not loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

from gribmill.cli.output import console


class Bar(Protocol):
    """Shows how much is done; the total is None while it is unknown. A label replaces the previous one."""

    def __call__(self, done: int, total: int | None, label: str | None = None) -> None: ...


@contextmanager
def progress_bars(unit: Literal["bytes", "items"], *, quiet: bool = False) -> Iterator[Callable[[str], Bar]]:
    """A function that adds a bar with a label. Bars do nothing if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda label: lambda done, total, label=None: None
        return
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    amount = (DownloadColumn(), TransferSpeedColumn()) if unit == "bytes" else (MofNCompleteColumn(),)
    columns = (TextColumn("{task.description}"), BarColumn(), *amount, TimeRemainingColumn())
    # Bound to the current stderr, not to a later sys.stderr: a job in this process forwards its stderr to the bars.
    screen = console(stderr=True)
    screen.file = sys.stderr
    with Progress(*columns, console=screen, transient=True) as bars:

        def add(label: str) -> Bar:
            task = bars.add_task(label, total=None)
            return lambda done, total, label=None: bars.update(task, completed=done, total=total, description=label)

        yield add
