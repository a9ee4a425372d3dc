"""`gribmill demo`: a guided tour with real processes, entirely on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack

import click

from gribmill.cli.demo.chain_steps import CHAIN_STEPS
from gribmill.cli.demo.console_steps import CONSOLE_STEPS, open_console
from gribmill.cli.demo.queue_steps import QUEUE_STEPS
from gribmill.cli.demo.stage import Stage, StepFailed, open_stage
from gribmill.settings.schema import Settings


@click.command()
@click.argument("part", type=click.Choice(["all", "chain", "queue"]), default="all")
@click.option("--no-serve", is_flag=True, help="End after the checks, without the console. For scripts.")
@click.pass_obj
def demo(settings: Settings, part: str, no_serve: bool) -> None:
    """Take a one-minute guided tour with real processes, then look at the console.

    `chain` publishes synthetic forecasts of two models on this machine, follows them, and draws
    the tiles; `queue` kills workers to show that no job is lost. Each step prints the command
    that repeats it. Everything is written to `demo/` in the data root; your own queue is not
    touched. At the end the console of the demo is open on loopback until Ctrl-C. Exit code 1 if
    a check failed.
    """
    failed = 0
    with ExitStack() as stages:
        shown: Stage | None = None
        if part in ("all", "chain"):
            shown = stages.enter_context(open_stage(settings.data_root / "demo" / "chain", publisher=True))
            failed += play(shown, [*CHAIN_STEPS, *CONSOLE_STEPS])
        if part in ("all", "queue"):
            queue = stages.enter_context(open_stage(settings.data_root / "demo" / "queue"))
            failed += play(queue, QUEUE_STEPS)
            shown = shown or queue
        if shown is not None and not failed and not no_serve:
            open_console(shown)
    if failed:
        raise SystemExit(1)


def play(stage: Stage, steps: Iterable[Callable[[Stage], None]]) -> int:
    """Run the steps; returns the number of failed checks."""
    for number, step in enumerate(steps, 1):
        stage.title(f"{number}. {step.__doc__}")
        try:
            step(stage)
        except StepFailed as failure:
            stage.check(False, str(failure))
    stage.summary()
    return len(stage.failed)
