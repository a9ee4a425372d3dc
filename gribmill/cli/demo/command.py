"""`gribmill demo`: a guided tour with real processes, on this machine alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from gribmill.cli.demo.chain_steps import CHAIN_STEPS
from gribmill.cli.demo.queue_steps import QUEUE_STEPS
from gribmill.cli.demo.stage import Stage, StepFailed, open_stage
from gribmill.settings.schema import Settings


@click.command()
@click.argument("part", type=click.Choice(["all", "chain", "queue"]), default="all")
@click.pass_obj
def demo(settings: Settings, part: str) -> None:
    """Take a one-minute guided tour with real processes.

    `chain` publishes synthetic forecasts of two models on this machine, follows them, and draws
    the tiles; `queue` kills workers to show that no job is lost. Each step prints the command
    that repeats it. Everything is written to `demo/` in the data root; your own queue is not
    touched. Exit code 1 if a check failed.
    """
    failed = 0
    if part in ("all", "chain"):
        with open_stage(settings.data_root / "demo" / "chain", publisher=True) as stage:
            failed += play(stage, CHAIN_STEPS)
    if part in ("all", "queue"):
        with open_stage(settings.data_root / "demo" / "queue") as stage:
            failed += play(stage, QUEUE_STEPS)
    if failed:
        raise SystemExit(1)


def play(stage: Stage, steps: Iterable[Callable[[Stage], None]]) -> int:
    """Run the steps; how many checks failed."""
    for number, step in enumerate(steps, 1):
        stage.title(f"{number}. {step.__doc__}")
        try:
            step(stage)
        except StepFailed as failure:
            stage.check(False, str(failure))
    stage.summary()
    return len(stage.failed)
