"""`gribmill jobs reserve`, `release`, `reservations`: hold jobs back for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gribmill.cli.current_user import current_user
from gribmill.cli.options.duration import DURATION
from gribmill.cli.output import print_json, print_table
from gribmill.cli.text.figures import age_seconds, format_duration
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.queue.store.reservations import EVERYTHING
from gribmill.settings.schema import Settings
from gribmill.views.queue.reservation import ReservationView

if TYPE_CHECKING:
    from gribmill.queue.model import Reservation


@click.command()
@click.option("--type", "type_key", metavar="TYPE", help="Hold back only this job type. [default: all]")
@click.option(
    "--for", "seconds", type=DURATION, default="10m", show_default=True, help="How long the reservation lasts."
)
@click.option("--by", "reserved_by", metavar="WHO", help="Who holds the reservation. [default: your user name]")
@click.option("--wait", "wait_seconds", type=DURATION, help="Wait this long for another holder to release it.")
@click.option("--extend", metavar="RESERVATION", help="Extend this reservation instead.")
@click.option("--json", "as_json", is_flag=True, help="The reservation as JSON.")
@click.pass_obj
def reserve(
    settings: Settings,
    type_key: str | None,
    seconds: float,
    reserved_by: str | None,
    wait_seconds: float | None,
    extend: str | None,
    as_json: bool,
) -> None:
    """Stop starting jobs, or jobs of one type, until the reservation is released or expires.

    Running jobs continue. Use it for manual work that workers must not interfere with.
    """
    store = open_queue(settings)
    if extend is not None:
        if type_key is not None or reserved_by is not None or wait_seconds is not None:
            raise click.UsageError("--extend can only be combined with --for and --json")
        store.reservations.extend(extend, seconds)
        held = next(one for one in store.reservations.list() if one.id == extend)
    else:
        who = (reserved_by or current_user())[:200]
        scope = EVERYTHING if type_key is None else type_key
        held = store.reservations.reserve(who, seconds, scope, wait_seconds=wait_seconds or 0.0)
    if as_json:
        print_json(ReservationView.of(held))
        return
    click.echo(f"{_scope(held)} reserved for {format_duration(seconds)}; `gribmill jobs release {held.id}` ends it")


@click.command()
@click.argument("reservation_ids", nargs=-1, required=True, metavar="RESERVATION...")
@click.pass_obj
def release(settings: Settings, reservation_ids: tuple[str, ...]) -> None:
    """End reservations, so that jobs can start again."""
    store = open_queue(settings)
    for reservation_id in reservation_ids:
        store.reservations.release(reservation_id)
        click.echo(f"reservation {reservation_id} is released")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="The reservations as JSON.")
@click.pass_obj
def reservations(settings: Settings, as_json: bool) -> None:
    """List active reservations."""
    held = open_queue_for_reading(settings).reservations.list()
    if as_json:
        print_json([ReservationView.of(one) for one in held])
    elif held:
        rows = [[one.id, _scope(one), one.reserved_by, format_duration(_left(one))] for one in held]
        print_table(["reservation", "scope", "by", "ends in"], rows, right=["ends in"])
    else:
        click.echo("nothing is reserved", err=True)


def _scope(held: Reservation) -> str:
    return "all jobs" if held.scope == "*" else held.scope


def _left(held: Reservation) -> float | None:
    age = age_seconds(held.expires_at)
    return None if age is None else max(0.0, -age)
