"""The context of every handler: settings, models, regions and the catalogue. Created once per executor process."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from gribmill.catalogue.reads import Catalogue
from gribmill.catalogue.records import HourRecord
from gribmill.database.protocol import Database
from gribmill.ingest.models.model import Model
from gribmill.pipeline.job_types import TYPES
from gribmill.pipeline.models import configured_models
from gribmill.pipeline.open_queue import SERVER_KEY, open_database, open_database_for_reading, remote_database
from gribmill.queue.store.jobs.jobs import Jobs
from gribmill.queue.worker.task import PermanentFailure, Task
from gribmill.regions.region import Region, load_regions
from gribmill.settings.schema import Settings
from gribmill.storage.layout import DataRoot
from gribmill.storage.open_root import root_of

if TYPE_CHECKING:
    from gribmill.ingest.http.client import SourceSession


@dataclass(frozen=True)
class Context:
    """The settings, and what they describe."""

    settings: Settings
    models: dict[str, Model]
    regions: dict[str, Region]
    catalogue: Catalogue

    @cached_property
    def session(self) -> SourceSession:
        """Pooled connections to publishers; rate limits apply across all processes that share the queue."""
        from gribmill.ingest.http.client import SourceSession
        from gribmill.pipeline.publisher_turns import rate_limit

        return SourceSession(rate_limit(self.settings, lambda: self.catalogue.database))

    def clock_ahead(self) -> timedelta:
        """How far this host's clock is ahead of the database's, which all hosts use."""
        return timedelta() if self.settings.database is None else self.catalogue.clock_ahead()

    @cached_property
    def jobs(self) -> Jobs:
        """Read access to the queue's jobs."""
        return Jobs(self.catalogue.database, TYPES)

    @cached_property
    def root(self) -> DataRoot:
        return root_of(self.settings)

    def model(self, model_id: str) -> Model:
        """The model; raises PermanentFailure if it is unknown, because retrying would not help."""
        try:
            return self.models[model_id]
        except KeyError:
            raise PermanentFailure(
                f"there is no model {model_id!r} in these settings; `gribmill models list` shows them all"
            ) from None

    def variables_to_fetch(self, known: HourRecord | None, variables: Iterable[str]) -> tuple[str, ...]:
        """These variables plus those fetched before, so that a rebuilt tile loses none."""
        from gribmill.grib.names.lexicon import lexicon

        earlier = known.variables if known else ()
        return tuple(dict.fromkeys((*variables, *(name for name in earlier if lexicon().get(name)))))

    def regions_of(self, model: Model, names: Iterable[str]) -> list[str]:
        """The regions that the model's grid reaches; all of them if the grid is not known in advance."""
        return [name for name in names if self._reaches(model, name) is not False]

    def promised_of(self, model: Model, names: Iterable[str]) -> list[str]:
        """The regions that every file of the model must reach; none if the grid is not known in advance."""
        return [name for name in names if self._reaches(model, name)]

    def _reaches(self, model: Model, name: str) -> bool | None:
        from gribmill.regions.grids.spec import named_grids
        from gribmill.regions.window import window

        grid = next((one.grid for one in named_grids() if one.name == model.grid), None)
        return None if grid is None else window(grid, self.region(name).box) is not None

    def region(self, name: str) -> Region:
        try:
            return self.regions[name]
        except KeyError:
            raise PermanentFailure(
                f"there is no region {name!r} in these settings; `gribmill regions list` shows them all"
            ) from None


def context_of(task: Task) -> Context:
    """The context of a task's worker."""
    return _context(json.dumps(task.environment, sort_keys=True))


def make_context(settings: Settings) -> Context:
    """The context of a command that runs outside the queue."""
    return _with_database(settings, open_database(settings))


def make_context_for_reading(settings: Settings) -> Context:
    """The context of a read-only command; does not create a database."""
    return _with_database(settings, open_database_for_reading(settings))


@lru_cache(maxsize=1)
def _context(environment: str) -> Context:
    values = json.loads(environment)
    server = values.pop(SERVER_KEY, None)
    settings = Settings.model_validate(values)
    return make_context(settings) if server is None else _with_database(settings, remote_database(**server))


def _with_database(settings: Settings, database: Database) -> Context:
    return Context(settings, configured_models(settings), load_regions(settings.regions), Catalogue(database))
