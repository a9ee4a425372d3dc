"""`gribmill tenants`: the tenants that share the queue, and their limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gribmill.cli.options.number_range import NumberRange
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.options.size import SIZE
from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.cli.text.figures import format_size
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.queue.model import STATUSES, NewTenant
from gribmill.settings.schema import Settings
from gribmill.views.queue.tenant import TenantDetailView, TenantView

if TYPE_CHECKING:
    from gribmill.queue.model import Tenant

LIMITS = {
    "max_running": ("--max-running", "Most jobs running at once"),
    "max_pending": ("--max-pending", "Most pending jobs"),
    "max_per_minute": ("--max-per-minute", "Most jobs enqueued per minute"),
}


def properties(command: Callable[..., None]) -> Callable[..., None]:
    """The options of `add` and `edit`."""
    options = [
        click.option("--title", metavar="TEXT", help="A title for people."),
        click.option("--timezone", metavar="ZONE", help="The default time zone of its schedules; UTC unless set."),
        click.option(
            "--regions",
            metavar="NAMES",
            callback=parse_names,
            help="Regions to cut for it, in addition to those of [chain].",
        ),
        *(click.option(flag, type=click.IntRange(1), metavar="N", help=f"{what}.") for flag, what in LIMITS.values()),
        click.option(
            "--max-disk", "max_disk_bytes", type=SIZE, help="Disk space for tiles that only it uses, such as 20GB."
        ),
        click.option("--keep-days", type=NumberRange(0, 36_500, min_open=True), help="Days to keep those tiles."),
        click.option("--keep-runs", type=click.IntRange(1), metavar="N", help="Runs of each model to keep of them."),
        click.option("--keep-disk", "keep_bytes", type=SIZE, help="Disk space beyond which the oldest are removed."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def tenants() -> None:
    """List, add and change tenants and their limits.

    Tenants share one queue; each has its own jobs, triggers, regions and limits. `global` is the
    default tenant. It owns the shared chain: a file is downloaded once for all tenants. Tenants
    with jobs of the same priority take turns.
    """


@tenants.command("list")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, as_json: bool) -> None:
    """List tenants and their limits."""
    found = open_queue_for_reading(settings).tenants.list()
    if as_json:
        print_json([TenantView.of(one) for one in found])
        return
    columns = ["tenant", "title", "zone", "regions", "running", "pending", "a minute", "disk", "state"]
    print_table(
        columns, [_row(one) for one in found], right=columns[4:8], cut="regions", drop=["title", "zone", "a minute"]
    )


@tenants.command()
@click.argument("name")
@AS_JSON
@click.pass_obj
def show(settings: Settings, name: str, as_json: bool) -> None:
    """Show one tenant with its limits and usage."""
    from gribmill.pipeline.context import make_context_for_reading
    from gribmill.pipeline.tenant_regions import own_bytes

    store = open_queue_for_reading(settings)
    tenant = store.tenants.get(name)
    stats = store.types.stats(name)
    jobs: dict[str, int] = {status: sum(one.counts.get(status, 0) for one in stats) for status in STATUSES}
    used = own_bytes(make_context_for_reading(settings), tenant, store.tenants.list())
    if as_json:
        print_json(TenantDetailView.with_use(tenant, jobs, used))
        return
    click.echo(f"{tenant.name}: {tenant.title or 'no title'}; {_state(tenant)}; time zone {tenant.timezone}")
    click.echo(f"regions: {', '.join(tenant.regions) or 'those of everybody'}")
    click.echo(f"running: {jobs['processing']} of {_limit(tenant.max_running)}")
    click.echo(f"pending: {jobs['pending']} of {_limit(tenant.max_pending)}")
    click.echo(f"enqueued a minute: {_limit(tenant.max_per_minute)}")
    disk = "no limit" if tenant.max_disk_bytes is None else format_size(tenant.max_disk_bytes)
    click.echo(f"disk for its tiles: {format_size(used)} of {disk}")
    if kept := _kept(tenant):
        click.echo(f"keeps of its tiles: {kept}")


@tenants.command()
@click.argument("name")
@properties
@AS_JSON
@click.pass_obj
def add(settings: Settings, /, name: str, as_json: bool, **given: Any) -> None:
    """Add a tenant. NAME is 1 to 40 lower-case letters, digits, _ and -.

    \b
    gribmill tenants add acme --title "Acme Wind" --timezone Europe/Paris --regions ne,texas --max-running 4
    """
    _check_regions(settings, given["regions"])
    new = NewTenant(name, **{key: value for key, value in given.items() if value is not None})
    _report(open_queue(settings).tenants.add(new), "added", as_json)


@tenants.command()
@click.argument("name")
@properties
@click.option("--no-regions", is_flag=True, help="Cut no regions for it.")
@click.option(
    "--no-limit",
    "unlimited",
    type=click.Choice(["running", "pending", "per-minute", "disk", "keep-days", "keep-runs", "keep-disk"]),
    multiple=True,
    help="Remove a limit.",
)
@AS_JSON
@click.pass_obj
def edit(
    settings: Settings, /, name: str, no_regions: bool, unlimited: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Change a tenant. Only the given options change."""
    _check_regions(settings, given["regions"])
    changes = {key: value for key, value in given.items() if value is not None and value != ()}
    removed = {"disk": "max_disk_bytes", "keep-days": "keep_days", "keep-runs": "keep_runs", "keep-disk": "keep_bytes"}
    changes |= {removed.get(word, f"max_{word.replace('-', '_')}"): None for word in unlimited}
    if no_regions:
        changes["regions"] = ()
    if not changes:
        raise click.UsageError("nothing to change: give an option, such as --max-running 4")
    _report(open_queue(settings).tenants.edit(name, **changes), "changed", as_json)


@tenants.command()
@click.argument("name")
@AS_JSON
@click.pass_obj
def disable(settings: Settings, name: str, as_json: bool) -> None:
    """Stop accepting and starting jobs of a tenant. Running jobs continue; its regions are no longer cut."""
    _report(open_queue(settings).tenants.set_enabled(name, enabled=False), "disabled", as_json)


@tenants.command()
@click.argument("name")
@AS_JSON
@click.pass_obj
def enable(settings: Settings, name: str, as_json: bool) -> None:
    """Accept and start jobs of a tenant again."""
    _report(open_queue(settings).tenants.set_enabled(name, enabled=True), "enabled", as_json)


def _check_regions(settings: Settings, names: tuple[str, ...]) -> None:
    from gribmill.regions.region import load_regions, region_named

    known = load_regions(settings.regions) if names else {}
    for name in names:
        region_named(known, name)


def _report(tenant: Tenant, word: str, as_json: bool) -> None:
    if as_json:
        print_json(TenantView.of(tenant))
    else:
        click.echo(f"tenant {tenant.name} is {word}")


def _row(tenant: Tenant) -> list[Any]:
    limits = (tenant.max_running, tenant.max_pending, tenant.max_per_minute)
    return [
        tenant.name,
        tenant.title,
        tenant.timezone,
        ", ".join(tenant.regions),
        *("" if value is None else value for value in limits),
        "" if tenant.max_disk_bytes is None else format_size(tenant.max_disk_bytes),
        _state(tenant),
    ]


def _state(tenant: Tenant) -> str:
    return "enabled" if tenant.is_enabled else "disabled"


def _kept(tenant: Tenant) -> str:
    limits = (
        f"{tenant.keep_days:g} days" if tenant.keep_days else "",
        f"{tenant.keep_runs} runs" if tenant.keep_runs else "",
        format_size(tenant.keep_bytes) if tenant.keep_bytes else "",
    )
    return ", ".join(filter(None, limits))


def _limit(value: int | None) -> str:
    return "no limit" if value is None else str(value)
