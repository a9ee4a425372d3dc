"""SIGTERM as Ctrl-C, for commands that run jobs in their own process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from gribmill.cli.lazy_group import INTERRUPTED


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this context, SIGTERM and Ctrl-C raise KeyboardInterrupt, so that claimed jobs are given back. Then the
    program exits with 130."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
