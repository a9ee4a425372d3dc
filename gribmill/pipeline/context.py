"""What every handler of the chain needs: settings, models, regions, catalogue. Made once per executor process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gribmill.ingest.model import Model
from gribmill.pipeline.catalogue import Catalogue
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.queue import open_database
from gribmill.queue.worker.task import PermanentFailure, Task
from gribmill.regions.region import Region, load_regions
from gribmill.settings import Settings


@dataclass(frozen=True)
class Context:
    """The world as the settings describe it."""

    settings: Settings
    models: dict[str, Model]
    regions: dict[str, Region]
    catalogue: Catalogue

    @property
    def data(self) -> Path:
        return self.settings.data_root

    def model(self, model_id: str) -> Model:
        """The model, or a permanent failure: no retry will make it known."""
        try:
            return self.models[model_id]
        except KeyError:
            raise PermanentFailure(
                f"there is no model {model_id!r} in these settings; `gribmill models list` shows them all"
            ) from None

    def region(self, name: str) -> Region:
        try:
            return self.regions[name]
        except KeyError:
            raise PermanentFailure(
                f"there is no region {name!r} in these settings; `gribmill regions list` shows them all"
            ) from None


def context_of(task: Task) -> Context:
    """The context that the task's worker was started with."""
    return _context(json.dumps(task.environment, sort_keys=True))


def make_context(settings: Settings) -> Context:
    """The same for commands that run outside the queue."""
    return Context(
        settings,
        configured_models(settings),
        load_regions(settings.regions),
        Catalogue(open_database(settings)),
    )


@lru_cache(maxsize=1)
def _context(environment: str) -> Context:
    return make_context(Settings.model_validate_json(environment))
