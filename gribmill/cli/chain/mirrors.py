"""`gribmill mirrors`: mirrors and their health."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime

import click

from gribmill.catalogue.events import MirrorCleared
from gribmill.cli.output import AS_JSON, print_json, print_table, styled
from gribmill.cli.text.figures import age_seconds, format_duration
from gribmill.cli.text.status_text import STYLES
from gribmill.ingest.models.registry import models_named
from gribmill.pipeline.context import Context, make_context_for_reading
from gribmill.pipeline.status.mirror_status import mirror_status, mirror_users
from gribmill.settings.schema import Settings
from gribmill.views.chain.mirror import MirrorView


@click.group()
def mirrors() -> None:
    """List mirrors, and reset failing ones.

    After three failures in a row, a mirror is not used for a while (a circuit breaker). If no
    other mirror is left, it is still tried, at most every 30 seconds.
    """


@mirrors.command("list", short_help="List mirrors and their circuit breakers.")
@click.option("--all", "every", is_flag=True, help="Include mirrors that were never used.")
@AS_JSON
@click.pass_obj
def list_mirrors(settings: Settings, every: bool, as_json: bool) -> None:
    """List the mirrors of the models in [chain] and all mirrors in use: state, failures, last response.

    \b
    well      its last request succeeded
    failing   its last request failed
    sick      it failed repeatedly, and is not used until the time shown
    trial     its pause is over; the next request decides
    """
    views = _views(make_context_for_reading(settings), every=every)
    if as_json:
        print_json(views)
        return
    if not views:
        click.echo("no mirror has been used yet; --all lists every mirror", err=True)
        return
    columns = ["mirror", "state", "failures", "answered", "models", "summary"]
    print_table(columns, [_row(view) for view in views], right=["failures"], cut="summary", drop=["models"])


def _views(context: Context, *, every: bool) -> list[MirrorView]:
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


@mirrors.command(short_help="Use failing mirrors again at once.")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="The names of the mirrors that were cleared, as JSON.")
@click.pass_obj
def clear(settings: Settings, names: tuple[str, ...], as_json: bool) -> None:
    """Close the circuit breakers of the named mirrors, or of all, so that they are used again at once.

    \b
    gribmill mirrors clear
    gribmill mirrors clear aws-hrrr gcs-hrrr
    """
    context = make_context_for_reading(settings)
    known = {mirror.name for model in context.models.values() for mirror in model.mirrors}
    health = context.catalogue.mirrors()
    for name in names:
        if name not in known | health.keys():
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean {near[0]}?" if near else "`gribmill mirrors list --all` shows them all"
            raise click.BadParameter(f"there is no mirror {name!r}; {hint}", param_hint="NAME")
    wanted = [name for name in names or sorted(health) if name in health]
    cleared = [name for name in wanted if health[name].failures or health[name].open_until]
    if cleared:
        context.catalogue.record(MirrorCleared(name) for name in cleared)
    if as_json:
        print_json(cleared)
    else:
        click.echo(f"cleared: {', '.join(cleared)}" if cleared else "no mirror is failing")
