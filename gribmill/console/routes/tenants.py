"""Tenants, tokens and the audit trail: for super admins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import Response

from gribmill.access.permissions import ROLES
from gribmill.access.tokens import DEFAULT_DAYS, IssuedToken
from gribmill.console.frame import Notice
from gribmill.console.routes.form import Form
from gribmill.console.routes.notices import back_with
from gribmill.console.routes.visit import BeforeId, CurrentVisit, Visit, refusal
from gribmill.console.typed_number import number, whole_number
from gribmill.errors import GribmillError, quoted
from gribmill.queue.errors import BadTenant, QueueError
from gribmill.queue.model import NewTenant, Tenant
from gribmill.queue.store import Store
from gribmill.regions.errors import RegionError
from gribmill.regions.region import Region, region_named
from gribmill.server.access.authorization import refuse_wider
from gribmill.server.router import SecuredRouter

router = SecuredRouter(tag="console", in_docs=False)

ROWS = 50
LONGEST_TEXT = 500
LIMITS = (
    ("max_running", "Running jobs"),
    ("max_pending", "Waiting jobs"),
    ("max_per_minute", "Jobs per minute"),
    ("max_disk_bytes", "Bytes of tiles in its own regions"),
    ("keep_days", "Days to keep runs"),
    ("keep_runs", "Runs to keep"),
    ("keep_bytes", "Bytes to keep"),
)


@router.get("/tenants")
async def console_tenants(visit: CurrentVisit) -> Response:
    """All tenants, with their waiting and running jobs."""
    return await visit.show("access/tenants.html", "Tenants", lambda: _tenants(visit.server.store), active="tenants")


def _tenants(store: Store) -> dict[str, Any]:
    rows = []
    for one in store.tenants.list():
        counts = {"pending": 0, "processing": 0, "failed": 0}
        for (_, status), n in store.for_tenant(one.name).activity.counts().items():
            if status in counts:
                counts[status] += n
        named = [(name, getattr(one, name)) for name, _ in LIMITS]
        rows.append((one, counts, ", ".join(f"{name} {value:g}" for name, value in named if value is not None)))
    return {"rows": rows}


@router.post("/tenants")
async def console_add_tenant(visit: CurrentVisit) -> Response:
    """Add a tenant."""
    form = await visit.form()
    new = NewTenant(form.one("name"), form.one("title"), form.one("timezone") or "UTC")

    def add() -> str:
        return f"the tenant {visit.server.store.tenants.add(new).name} was added"

    return await visit.act(add, "/tenants", f"tenant {new.name[:60]}")


@router.get("/tenants/{name}")
async def console_tenant(visit: CurrentVisit, name: str) -> Response:
    """One tenant and its limits."""

    def values() -> dict[str, Any]:
        tenant = visit.server.store.tenants.get(name)
        return {"tenant": tenant, "fields": _fields_of(tenant), "limits": LIMITS, "problem": None}

    return await visit.show("access/tenant.html", f"Tenant {name[:60]}", values, active="tenants")


@router.post("/tenants/{name}")
async def console_edit_tenant(visit: CurrentVisit, name: str) -> Response:
    """Change its limits."""
    form = await visit.form()
    tenant = await visit.server.run(visit.server.store.tenants.get, name)
    change = visit.change
    change.object, change.before = f"tenant {tenant.name}", _fields_of(tenant)
    try:
        changes = _changes(form, tenant, visit.server.weather.regions)
        await visit.server.run(visit.server.store.tenants.edit, name, **changes)
    except (QueueError, RegionError) as error:
        fields = {key: form.one(key) for key in _fields_of(tenant)}
        shown = {"tenant": tenant, "fields": fields, "limits": LIMITS, "problem": refusal(error)}
        title = f"Tenant {tenant.name}"
        return await visit.show("access/tenant.html", title, lambda: shown, active="tenants", status=422)
    change.after = {key: form.one(key) for key in _fields_of(tenant)}
    return back_with(f"/tenants/{tenant.name}", Notice("The tenant was changed."))


def _fields_of(tenant: Tenant) -> dict[str, str]:
    limits = {name: getattr(tenant, name) for name, _ in LIMITS}
    shown = {name: "" if value is None else f"{value:g}" for name, value in limits.items()}
    return {"title": tenant.title, "timezone": tenant.timezone, "regions": " ".join(tenant.regions), **shown}


def _changes(form: Form, tenant: Tenant, known: Mapping[str, Region]) -> dict[str, Any]:
    changes: dict[str, Any] = {
        "title": form.one("title"),
        "timezone": form.one("timezone") or "UTC",
        "regions": tuple(form.one("regions").replace(",", " ").split()),
    }
    for name in changes["regions"]:
        if name not in tenant.regions:
            region_named(known, name)
    for name, label in LIMITS:
        if name not in form or _fields_of(tenant)[name] == form.one(name):
            continue  # unchanged: a large number is shown rounded
        changes[name] = (number if name == "keep_days" else whole_number)(form.one(name), label)
    return changes


@router.post("/tenants/{name}/enable")
async def console_enable_tenant(visit: CurrentVisit, name: str) -> Response:
    """Accept and start its jobs again."""
    return await _switch(visit, name, enabled=True)


@router.post("/tenants/{name}/disable")
async def console_disable_tenant(visit: CurrentVisit, name: str) -> Response:
    """Stop accepting and starting its jobs."""
    return await _switch(visit, name, enabled=False)


async def _switch(visit: Visit, name: str, *, enabled: bool) -> Response:
    def switch() -> str:
        visit.server.store.tenants.set_enabled(name, enabled=enabled)
        return f"the tenant {name} is enabled" if enabled else f"the tenant {name} is disabled: its jobs are refused"

    return await visit.act(switch, "/tenants", f"tenant {name[:60]}")


@router.get("/tokens")
async def console_tokens(visit: CurrentVisit) -> Response:
    """All tokens; their secrets are not stored."""
    return await _tokens(visit)


async def _tokens(
    visit: Visit,
    *,
    issued: IssuedToken | None = None,
    problem: str | None = None,
) -> Response:
    def values() -> dict[str, Any]:
        now = datetime.now(UTC)
        return {
            "rows": [(one, one.state(now)) for one in reversed(visit.server.tokens.list())],
            "roles": ROLES,
            "tenants": [one.name for one in visit.server.store.tenants.list()],
            "text": issued.text if issued else None,
            "problem": problem,
        }

    status = 422 if problem else 200
    return await visit.show("access/tokens.html", "Tokens", values, active="tokens", status=status)


@router.post("/tokens")
async def console_create_token(visit: CurrentVisit) -> Response:
    """Create a token, and show it once."""
    form = await visit.form()
    role = next((one for one in ROLES if one == form.one("role")), None)
    scopes = form.one("scopes").replace(",", " ").split()

    def create() -> IssuedToken:
        refuse_wider(visit.principal, scopes)
        if role is None:
            raise BadTenant(f"{quoted(form.one('role'))} is not a role")
        if role.startswith("tenant_") and not form.one("tenant"):
            raise BadTenant(f"a {role.replace('_', ' ')} needs a tenant: choose one")
        return visit.server.tokens.create(
            form.one("name"),
            role,
            tenant_id=form.one("tenant") or None,
            scopes=scopes,
            days=number(form.one("days") or str(DEFAULT_DAYS), "the days until it expires"),
            created_by=visit.by,
        )

    change = visit.change
    try:
        issued = await visit.server.run(create)
    except GribmillError as error:
        return await _tokens(visit, problem=refusal(error))
    change.object = f"token {issued.token.id}"
    change.after = {"name": issued.token.name, "role": issued.token.role, "tenant": issued.token.tenant_id}
    return await _tokens(visit, issued=issued)


@router.post("/tokens/{token_id}/rotate")
async def console_rotate_token(visit: CurrentVisit, token_id: str) -> Response:
    """Replace a token's secret, and show the new one once."""
    change = visit.change
    change.object = f"token {token_id[:60]}"
    refuse_wider(visit.principal, (await visit.server.run(visit.server.tokens.get, token_id)).scopes)
    issued = await visit.server.run(visit.server.tokens.rotate, token_id)
    visit.server.verified.clear()
    return await _tokens(visit, issued=issued)


@router.post("/tokens/{token_id}/revoke")
async def console_revoke_token(visit: CurrentVisit, token_id: str) -> Response:
    """Revoke a token and end its sessions."""

    def revoke() -> str:
        visit.server.tokens.revoke(token_id)
        visit.server.verified.clear()
        return f"the token {token_id} was revoked and its sessions ended"

    return await visit.act(revoke, "/tokens", f"token {token_id[:60]}")


@router.get("/audit")
async def console_audit(visit: CurrentVisit, before: BeforeId = None) -> Response:
    """Who changed what, newest first."""

    def values() -> dict[str, Any]:
        found = visit.server.audit.list(before_id=before, limit=ROWS + 1)
        shown = [(one, _change_text(one.before, one.after)) for one in found[:ROWS]]
        return {"entries": shown, "next_before": found[ROWS - 1].id if len(found) > ROWS else None, "before": before}

    return await visit.show("access/audit.html", "Audit", values, active="audit")


def _change_text(before: Any, after: Any) -> str:
    parts = [json.dumps(one, ensure_ascii=False) for one in (before, after) if one is not None]
    return " → ".join(parts)[:LONGEST_TEXT]
