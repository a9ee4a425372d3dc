"""Runs jobs of definitions with a command."""

from __future__ import annotations

import os

from gribmill.queue.model import Outcome
from gribmill.queue.worker.run_command import run_command
from gribmill.queue.worker.task import Task
from gribmill.settings.schema import Settings


def run(task: Task) -> Outcome:
    """Run the command. Only gribmill's own commands get the worker's data root, database and settings."""
    settings = Settings.model_validate(task.environment)
    own = {name: value for name, value in os.environ.items() if name.startswith("GRIBMILL_")}
    own["GRIBMILL_DATA"] = str(settings.data_root)
    if settings.database is not None:
        own["GRIBMILL_DATABASE"] = settings.database
    return run_command(task, {name: str(path) for name, path in settings.commands.allow.items()}, own)
