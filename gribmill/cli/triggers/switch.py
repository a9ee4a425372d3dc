"""`gribmill triggers enable`, `disable` and `remove`."""

from __future__ import annotations

import click

from gribmill.cli.jobs.for_each import for_each
from gribmill.cli.triggers.options import AS_JSON, IDS
from gribmill.cli.triggers.shown import time_text
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from gribmill.views.queue.job_result import DoneView
from gribmill.views.queue.trigger import SwitchedTriggerView


@click.command()
@IDS
@AS_JSON
@click.pass_obj
def enable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Enable triggers. Slots missed while they were disabled are not fired later."""
    _switch(settings, ids, enabled=True, as_json=as_json)


@click.command()
@IDS
@AS_JSON
@click.pass_obj
def disable(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Disable triggers."""
    _switch(settings, ids, enabled=False, as_json=as_json)


@click.command()
@IDS
@AS_JSON
@click.pass_obj
def remove(settings: Settings, ids: tuple[int, ...], as_json: bool) -> None:
    """Remove triggers. Jobs that they enqueued stay."""
    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, DoneView]:
        store.triggers.remove(trigger_id)
        return f"trigger {trigger_id} is removed", DoneView(id=trigger_id)

    for_each(ids, act, as_json=as_json)


def _switch(settings: Settings, ids: tuple[int, ...], *, enabled: bool, as_json: bool) -> None:
    store = open_queue(settings)

    def act(trigger_id: int) -> tuple[str, SwitchedTriggerView]:
        trigger = store.triggers.set_enabled(trigger_id, enabled=enabled)
        ahead = f"; next firing at {time_text(trigger.next_fire_at)}" if trigger.next_fire_at else ""
        return f"trigger {trigger_id} is {'on' if enabled else 'off'}{ahead}", SwitchedTriggerView.of(trigger)

    for_each(ids, act, as_json=as_json)
