"""Every stop signal as Ctrl-C, for commands that run jobs in their own process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from gribmill.cli.lazy_group import INTERRUPTED
from gribmill.stop_signals import handle_stop_signals


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this context, stop signals raise KeyboardInterrupt, so that claimed jobs are given back. Then the program
    exits with 130."""
    before = handle_stop_signals(_interrupt)
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def _interrupt(number: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt
