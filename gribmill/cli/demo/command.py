"""`gribmill demo`: a guided tour. Everything is done for real, on this machine alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from gribmill.settings.schema import Settings

if TYPE_CHECKING:
    from gribmill.cli.demo.stage import Stage


@click.command()
@click.argument("part", type=click.Choice(["all", "chain", "queue"]), default="all")
@click.pass_obj
def demo(settings: Settings, part: str) -> None:
    """A guided tour in a minute: what gribmill does and promises, shown with real processes.

    `chain` publishes made-up forecasts of two models on this machine, follows them, and draws
    what comes; `queue` kills workers and shows that nothing is lost. Each step prints the
    command that repeats it. It all happens in `demo/` of the data root; your own queue is not
    touched. Exit code 1 when a promise was broken.
    """
    from gribmill.cli.demo.chain_steps import CHAIN_STEPS
    from gribmill.cli.demo.queue_steps import QUEUE_STEPS
    from gribmill.cli.demo.stage import open_stage

    broken = 0
    if part in ("all", "chain"):
        with open_stage(settings.data_root / "demo" / "chain", publisher=True) as stage:
            broken += play(stage, CHAIN_STEPS)
    if part in ("all", "queue"):
        with open_stage(settings.data_root / "demo" / "queue") as stage:
            broken += play(stage, QUEUE_STEPS)
    if broken:
        raise SystemExit(1)


def play(stage: Stage, steps: Iterable[Callable[[Stage], None]]) -> int:
    """Step by step; how many promises were broken."""
    from gribmill.cli.demo.stage import StepFailed

    for number, step in enumerate(steps, 1):
        stage.title(f"{number}. {step.__doc__}")
        try:
            step(stage)
        except StepFailed as failure:
            stage.promise(False, str(failure))
    stage.summary()
    return len(stage.broken)
