"""`gribmill demo`: a guided tour. Everything is done for real, on this machine alone."""

from __future__ import annotations

import click

from gribmill.settings import Settings


@click.command()
@click.pass_obj
def demo(settings: Settings) -> None:
    """A guided tour in half a minute: what the queue promises, shown with real processes.

    Each step prints the command that repeats it. It all happens in `demo/` of the data
    root; your own queue is not touched. Exit code 1 when a promise was broken.
    """
    from gribmill.cli.demo.queue_steps import QUEUE_STEPS
    from gribmill.cli.demo.stage import StepFailed, open_stage

    with open_stage(settings.data_root / "demo") as stage:
        for number, step in enumerate(QUEUE_STEPS, 1):
            stage.title(f"{number}. {step.__doc__}")
            try:
                step(stage)
            except StepFailed as failure:
                stage.promise(False, str(failure))
        stage.summary()
        if stage.broken:
            raise SystemExit(1)
