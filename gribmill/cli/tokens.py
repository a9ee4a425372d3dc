"""`gribmill tokens`: access tokens for the server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from gribmill.access.audit import Actor, AuditedChange, AuditTrail
from gribmill.access.permissions import OF_TENANT, ROLES, Role
from gribmill.access.tokens import DEFAULT_DAYS, LONGEST_DAYS, Tokens
from gribmill.cli.current_user import current_user
from gribmill.cli.options.number_range import NumberRange
from gribmill.cli.options.parse_names import parse_names
from gribmill.cli.output import AS_JSON, print_json, print_table
from gribmill.pipeline.open_queue import open_queue, open_queue_for_reading
from gribmill.settings.schema import Settings
from gribmill.views.access import IssuedTokenView, TokenView

if TYPE_CHECKING:
    from gribmill.access.tokens import IssuedToken, Token
    from gribmill.queue.store import Store

EXPIRY = (
    click.option(
        "--days",
        type=NumberRange(0, LONGEST_DAYS, min_open=True),
        default=DEFAULT_DAYS,
        show_default=True,
        help="Days until it expires.",
    ),
    click.option("--no-expiry", is_flag=True, help="Let it never expire."),
)
# The status that the audit trail records for a successful command.
DONE = 200


@click.group()
def tokens() -> None:
    """Create, list and revoke access tokens for the server (`gribmill serve`).

    A token is shown once, when it is created; the database stores only a digest of it.
    """


@tokens.command()
@click.option("--name", required=True, metavar="NAME", help="Who or what will use it.")
@click.option("--role", required=True, type=click.Choice(ROLES), help="What its holder may do.")
@click.option("--tenant", "tenant_id", metavar="TENANT", help="The tenant of a tenant_viewer or tenant_admin.")
@click.option(
    "--scopes", metavar="NAMES", callback=parse_names, help="Only these parts of the API, such as read or jobs,events."
)
@EXPIRY[0]
@EXPIRY[1]
@AS_JSON
@click.pass_obj
def create(
    settings: Settings,
    name: str,
    role: Role,
    tenant_id: str | None,
    scopes: tuple[str, ...],
    days: float,
    no_expiry: bool,
    as_json: bool,
) -> None:
    """Create a token and show it once.

    \b
    tenant_viewer  can see its tenant's jobs, and forecasts
    tenant_admin   can also enqueue, cancel and retry jobs, and change triggers and webhooks
    super_admin    can do everything, for all tenants
    worker         can claim jobs and report on them

    \b
    gribmill tokens create --name dashboard --role tenant_viewer --tenant acme
    gribmill tokens create --name deploy --role super_admin --days 7
    """
    if role in OF_TENANT and tenant_id is None:
        raise click.UsageError(f"the role {role} belongs to a tenant: name it with --tenant")
    store = open_queue(settings)
    issued = Tokens(store.database).create(
        name, role, tenant_id=tenant_id, scopes=scopes, days=None if no_expiry else days, created_by=current_user()
    )
    _record(store, "create_token", issued.token, None)
    _show_once(issued, as_json)


@tokens.command("list")
@click.option("--tenant", "tenant_id", metavar="TENANT", help="Only those of a tenant.")
@AS_JSON
@click.pass_obj
def list_(settings: Settings, tenant_id: str | None, as_json: bool) -> None:
    """List tokens, and when each was last used."""
    store = open_queue_for_reading(settings)
    if tenant_id is not None:
        store.tenants.get(tenant_id)
    found = Tokens(store.database).list(tenant_id)
    if as_json:
        print_json([TokenView.of(one) for one in found])
    elif found:
        columns = ["id", "name", "role", "tenant", "scopes", "expires", "last used", "state"]
        print_table(columns, [_row(one) for one in found], cut="name", drop=["scopes", "expires"])
    else:
        click.echo("there are no tokens; `gribmill tokens create --help` shows how to create one", err=True)


@tokens.command()
@click.argument("token_id", metavar="ID")
@AS_JSON
@click.pass_obj
def revoke(settings: Settings, token_id: str, as_json: bool) -> None:
    """Revoke a token and end its sessions. ID is the one that `tokens list` shows."""
    store = open_queue(settings)
    before = Tokens(store.database).get(token_id)
    token = Tokens(store.database).revoke(token_id)
    _record(store, "revoke_token", token, before)
    if as_json:
        print_json(TokenView.of(token))
    else:
        click.echo(f"token {token.id} ({token.name}) is revoked")


@tokens.command()
@click.argument("token_id", metavar="ID")
@EXPIRY[0]
@EXPIRY[1]
@AS_JSON
@click.pass_obj
def rotate(settings: Settings, token_id: str, days: float, no_expiry: bool, as_json: bool) -> None:
    """Replace the secret of a token, and show the new one once. The old secret stops working."""
    store = open_queue(settings)
    before = Tokens(store.database).get(token_id)
    issued = Tokens(store.database).rotate(token_id, days=None if no_expiry else days)
    _record(store, "rotate_token", issued.token, before)
    _show_once(issued, as_json)


def _record(store: Store, operation: str, token: Token, before: Token | None) -> None:
    change = AuditedChange(
        operation,
        token.tenant_id,
        f"token {token.id}",
        None if before is None else _shown(before),
        _shown(token),
    )
    AuditTrail(store.database).record(Actor(f"{current_user()} (command line)"), change, DONE)


def _shown(token: Token) -> dict[str, Any]:
    return TokenView.of(token).model_dump(warnings=False)


def _show_once(issued: IssuedToken, as_json: bool) -> None:
    if as_json:
        print_json(IssuedTokenView.issued(issued))
        return
    click.echo(issued.text)
    click.echo("keep it: it cannot be shown again", err=True)


def _row(token: Token) -> list[Any]:
    days = (token.expires_at, token.last_used_at)
    return [
        token.id,
        token.name,
        token.role,
        token.tenant_id or "all",
        ", ".join(token.scopes),
        *("never" if one is None else one.strftime("%Y-%m-%d %H:%M") for one in days),
        token.state(datetime.now(UTC)),
    ]
