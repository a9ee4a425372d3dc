"""Which view each command prints with `--json`."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from gribmill.views.access import IssuedTokenView, TokenView
from gribmill.views.chain.backfill import BackfillDoneView, BackfillEnqueuedView, BackfillEstimateView
from gribmill.views.chain.doctor import FindingView
from gribmill.views.chain.download import DownloadView
from gribmill.views.chain.inventory import RemoteInventoryView
from gribmill.views.chain.mirror import MirrorView
from gribmill.views.chain.model import ModelCheckView, ModelDetailView, ModelView
from gribmill.views.chain.prune import PruneView
from gribmill.views.chain.scan import NotifiedScanView, ScanResultView, ScanView
from gribmill.views.chain.setting import SettingView
from gribmill.views.chain.status import ModelStatusView
from gribmill.views.data.grib import GribFileView
from gribmill.views.data.point import PointView
from gribmill.views.data.region import BoxWindowsView, RegionCheckView, RegionView, RegionWindowsView
from gribmill.views.data.tile import BuiltTileView, TileCheckView, TileDifferenceView, TileView
from gribmill.views.queue.attempt import TickView
from gribmill.views.queue.database import DatabaseStatusView, MoveView, UpgradeView
from gribmill.views.queue.definition import DefinitionHistoryView, DefinitionView
from gribmill.views.queue.event import EventNameView, EventView
from gribmill.views.queue.job import JobHistoryView, JobPageView, QueuedJobView
from gribmill.views.queue.job_group import GroupCancelledView, GroupJobsView, JobGroupView
from gribmill.views.queue.job_result import (
    CancelledView,
    ChosenJobView,
    DoneView,
    EnqueuedView,
    PrunedJobsView,
    RefusedView,
    RetriedView,
    ViolationView,
)
from gribmill.views.queue.job_stats import JobStatsView
from gribmill.views.queue.job_template import TemplateDetailView, TemplateView
from gribmill.views.queue.job_type import JobTypeView
from gribmill.views.queue.reservation import ReservationView
from gribmill.views.queue.tenant import TenantDetailView, TenantView
from gribmill.views.queue.trigger import FiredView, SwitchedTriggerView, TriggerView
from gribmill.views.queue.webhook import NewWebhookView, SwitchedWebhookView, WebhookDetailView, WebhookView
from gribmill.views.queue.worker import WorkerDismissedView, WorkerDrainedView, WorkerView

_TYPES: dict[str, Any] = {
    "backfill": list[BackfillEstimateView] | list[BackfillEnqueuedView] | list[BackfillDoneView],
    "config show": list[SettingView],
    "cut": list[BuiltTileView],
    "db init": UpgradeView,
    "db migrate": UpgradeView,
    "db move": MoveView,
    "db status": DatabaseStatusView,
    "event s3": list[NotifiedScanView],
    "definitions activate": list[DefinitionView],
    "definitions add": DefinitionView,
    "definitions deactivate": list[DefinitionView],
    "definitions edit": DefinitionView,
    "definitions list": list[DefinitionView],
    "definitions remove": DefinitionView,
    "definitions reset": DefinitionView,
    "definitions show": DefinitionHistoryView,
    "direct": TickView,
    "doctor": list[FindingView],
    "events emit": list[FiredView],
    "events list": list[EventView],
    "events names": list[EventNameView],
    "events tail": list[EventView],
    "fetch": DownloadView,
    "inventory": RemoteInventoryView,
    "grib ls": list[GribFileView],
    "groups add": GroupJobsView,
    "groups cancel": GroupCancelledView,
    "groups list": list[JobGroupView],
    "groups retry": GroupJobsView,
    "groups show": JobGroupView,
    "jobs cancel": list[CancelledView | RefusedView] | list[ChosenJobView],
    "jobs enqueue": list[EnqueuedView],
    "jobs list": JobPageView | list[QueuedJobView],
    "jobs prune": PrunedJobsView,
    "jobs reservations": list[ReservationView],
    "jobs reserve": ReservationView,
    "jobs retry": list[RetriedView | RefusedView] | list[ChosenJobView],
    "jobs show": JobHistoryView,
    "jobs stats": list[JobStatsView],
    "jobs types": list[JobTypeView],
    "jobs verify": list[ViolationView],
    "mirrors clear": list[str],
    "mirrors list": list[MirrorView],
    "models check": list[ModelCheckView],
    "models list": list[ModelView],
    "models show": ModelDetailView,
    "point": PointView | list[PointView],
    "prune": PruneView,
    "regions check": list[RegionCheckView],
    "regions list": list[RegionView],
    "regions show": RegionWindowsView | BoxWindowsView,
    "scan": list[ScanView] | list[ScanResultView],
    "status": list[ModelStatusView],
    "templates add": TemplateDetailView,
    "templates edit": TemplateDetailView,
    "templates list": list[TemplateView],
    "templates remove": TemplateView,
    "templates run": list[EnqueuedView],
    "templates show": TemplateDetailView,
    "tenants add": TenantView,
    "tenants disable": TenantView,
    "tenants edit": TenantView,
    "tenants enable": TenantView,
    "tenants list": list[TenantView],
    "tenants show": TenantDetailView,
    "tick": list[TickView],
    "tile diff": list[TileDifferenceView],
    "tile info": TileView | list[TileView],
    "tile verify": list[TileCheckView],
    "tokens create": IssuedTokenView,
    "tokens list": list[TokenView],
    "tokens revoke": TokenView,
    "tokens rotate": IssuedTokenView,
    "triggers add": TriggerView,
    "triggers disable": list[SwitchedTriggerView | RefusedView],
    "triggers edit": TriggerView,
    "triggers emit": list[FiredView],
    "triggers enable": list[SwitchedTriggerView | RefusedView],
    "triggers fire": list[FiredView],
    "triggers list": list[TriggerView],
    "triggers preview": list[str],
    "triggers remove": list[DoneView | RefusedView],
    "webhooks add": NewWebhookView,
    "webhooks disable": list[SwitchedWebhookView | RefusedView],
    "webhooks edit": WebhookView,
    "webhooks enable": list[SwitchedWebhookView | RefusedView],
    "webhooks list": list[WebhookView],
    "webhooks redeliver": list[EnqueuedView],
    "webhooks remove": list[DoneView | RefusedView],
    "webhooks show": WebhookDetailView,
    "webhooks test": list[EnqueuedView],
    "workers": list[WorkerView],
    "workers dismiss": WorkerDismissedView,
    "workers drain": WorkerDrainedView,
}
OUTPUTS = {command: TypeAdapter(kind) for command, kind in _TYPES.items()}
