"""`gribmill mirrors list`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from gribmill.cli.output import print_json, print_table, styled
from gribmill.cli.text.format_duration import age_seconds, format_duration
from gribmill.cli.text.status_text import STYLES
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import Context, make_context_for_reading
from gribmill.pipeline.status.mirror_status import mirror_status, mirror_users
from gribmill.settings.schema import Settings
from gribmill.views.chain.mirror import MirrorView


@click.command("list")
@click.option("--all", "every", is_flag=True, help="Include mirrors that were never used.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.pass_obj
def list_mirrors(settings: Settings, every: bool, as_json: bool) -> None:
    """List the mirrors of the models in [chain] and all mirrors in use: state, failures, last response.

    \b
    well      its last request succeeded
    failing   its last request failed
    sick      it failed repeatedly, and is not used until the time shown
    trial     its pause is over; the next request decides
    """
    views = mirror_views(make_context_for_reading(settings), every=every)
    if as_json:
        print_json(views)
        return
    if not views:
        click.echo("no mirror was used yet; --all lists all of them", err=True)
        return
    columns = ["mirror", "state", "failures", "answered", "models", "summary"]
    print_table(columns, [_row(view) for view in views], right=["failures"], cut="summary", drop=["models"])


def mirror_views(context: Context, *, every: bool) -> list[MirrorView]:
    """The mirrors of followed models and those that have been used, or all mirrors; followed ones first."""
    health = context.catalogue.mirrors()
    followed = [model for name in context.settings.chain.models for model in models_named(context.models, name)]
    users = mirror_users(followed)
    for name, models in mirror_users(context.models.values()).items():
        if every or name in health or name in users:
            users[name] = models
    now = datetime.now(UTC)
    return [MirrorView.used_by(mirror_status(name, health.get(name), now), models) for name, models in users.items()]


def _row(view: MirrorView) -> list[object]:
    age = age_seconds(view.last_success)
    return [
        view.name,
        styled((view.state, STYLES.get(view.state, ""))),
        view.failures,
        "never" if age is None else f"{format_duration(max(0.0, age))} ago",
        ", ".join(view.models),
        view.summary if view.failures else "",
    ]
