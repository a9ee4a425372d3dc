"""The arguments of the chain's jobs. Imported on first validation, see `gribmill.queue.arguments`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from gribmill.identity import HourRef, whole_run
from gribmill.identity_fields import Hour, ModelId, RegionName, RunId
from gribmill.queue.arguments import Args

PublishedRunId = Annotated[RunId, AfterValidator(whole_run)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,60}$")]


class ScanSourceArgs(Args):
    """Which model to look for; one run of it, if only that is wanted."""

    model_id: ModelId
    run_id: PublishedRunId | None = None


class HourArgs(Args):
    """Which forecast hour of which run."""

    model_id: ModelId
    run_id: PublishedRunId
    hour: Hour

    @property
    def hour_ref(self) -> HourRef:
        return HourRef(self.model_id, self.run_id, self.hour)


class IngestGribArgs(HourArgs):
    """Which file: one hour of one run of a model. The rest narrows a backfill; live runs follow the settings."""

    regions: tuple[RegionName, ...] | None = None
    variables: tuple[VariableName, ...] | None = None
    keep_grib: bool | None = None


class BuildTileArgs(HourArgs):
    """Which tile: one region of one hour of a run."""

    region: RegionName


class PublishArgs(HourArgs):
    """Which hour has new tiles."""


class PruneArgs(Args):
    """One model, or all of them."""

    model_id: ModelId | None = None


class DeliverWebhookArgs(Args):
    """Which event, and to which webhook."""

    webhook_id: Annotated[int, Field(gt=0, lt=2**63)]
    event_id: Annotated[int, Field(gt=0, lt=2**63)]
