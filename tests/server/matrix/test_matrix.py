"""Every operation × every role × own or another tenant, from the access table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import httpx
import pytest
from fastapi.routing import APIRoute

from gribmill.access.permissions import ADMIN, OF_TENANT, ROLES, SUPER_ADMIN, VIEWER, WORKER
from gribmill.console.extension import CONSOLE
from gribmill.server.access.same_origin import SAFE_METHODS
from gribmill.server.access.table import ACCESS
from gribmill.server.routes import ROUTERS
from gribmill.settings.schema import ServerSettings
from tests.queue.backends import BOTH
from tests.server.live_server import LiveServer, backend_settings, serving
from tests.server.matrix.belongings import KINDS, Belongings
from tests.server.matrix.requests import MADE, NAMED, REQUESTS, Asked

pytestmark = pytest.mark.slow

Caller = Literal["nobody", "loopback", "tenant_viewer", "tenant_admin", "super_admin", "worker"]
CALLERS: tuple[Caller, ...] = ("nobody", "loopback", *ROLES)
OWN, OTHER = "acme", "zeta"
STREAM = "text/event-stream"

ROUTES: dict[str, APIRoute] = {
    str(route.operation_id): route
    for router in (*ROUTERS, *CONSOLE.routers)
    for route in router.routes
    if isinstance(route, APIRoute)
}
REACHING_ONE_TENANT = sorted(name for name, access in ACCESS.items() if access.reach == "own")
# Which callers an operation admits, repeated here so that a change of `Access.admits` fails a test.
ADMITTED: dict[str | None, set[str]] = {
    None: {*CALLERS},
    VIEWER: {"loopback", VIEWER, ADMIN, SUPER_ADMIN},
    ADMIN: {"loopback", ADMIN, SUPER_ADMIN},
    SUPER_ADMIN: {"loopback", SUPER_ADMIN},
    WORKER: {"loopback", WORKER, SUPER_ADMIN},
}


@dataclass(frozen=True)
class Site:
    """A server with two tenants, and a client for each caller."""

    clients: dict[Caller, httpx.Client]
    tenants: dict[str, Belongings]


@pytest.fixture(scope="module", params=BOTH)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as resources:
        settings = backend_settings(request.param, tmp_path_factory.mktemp("matrix"), resources)
        settings = settings.model_copy(update={"server": ServerSettings(requests_per_minute=1e9)})
        server = resources.enter_context(serving(settings))
        clients = {name: resources.enter_context(client_of(server, name)) for name in CALLERS}
        server.token(VIEWER, OTHER)
        tenants = {name: Belongings(server, clients["super_admin"], name) for name in (OWN, OTHER)}
        for kind in KINDS:
            tenants[OTHER].make(kind)
        yield Site(clients, tenants)


def client_of(server: LiveServer, caller: Caller) -> httpx.Client:
    if caller == "loopback":
        return server.client()
    if caller == "nobody":
        client = server.client()
        client.headers["X-Forwarded-For"] = "192.0.2.1"
        return client
    return server.client(server.token(caller, OWN if caller in OF_TENANT else None))


def method_of(operation: str) -> str:
    return min(ROUTES[operation].methods or ())


def admits(operation: str, caller: Caller) -> bool:
    writes = method_of(operation) not in SAFE_METHODS
    reads_only = caller == "loopback" and writes and ACCESS[operation].least is not None
    return caller in ADMITTED[ACCESS[operation].least] and not reads_only


@pytest.mark.parametrize("operation", sorted(ACCESS))
def test_only_admitted_callers_reach_an_operation_in_their_own_tenant(site: Site, operation: str) -> None:
    """Admitted roles get an answer, others are refused and change nothing."""
    belongings, asked = site.tenants[OWN], REQUESTS.get(operation, Asked())
    admitted = [caller for caller in CALLERS if admits(operation, caller)]
    refused = [caller for caller in CALLERS if caller not in admitted]
    if refused:
        request = filled(operation, asked, belongings)
        before = belongings.picture()
        statuses = {
            caller: send(site.clients[caller], naming(request, operation, OWN, caller))[0] for caller in refused
        }
        assert statuses == {caller: 401 if caller in ("nobody", "loopback") else 403 for caller in refused}
        assert belongings.picture() == before, f"changed by one of {refused}"
    for caller in admitted:
        request = naming(filled(operation, asked, belongings), operation, OWN, caller)
        status, text = send(site.clients[caller], request)
        said = f"{caller}: {status} {text}"
        assert status not in (401, 403) or operation == "log_in", said  # which finds no token in the request
        assert status < 500, said
        if operation in REQUESTS:
            assert status < 400 or status in asked.refused, said


@pytest.mark.parametrize("operation", REACHING_ONE_TENANT)
def test_only_super_admins_reach_objects_of_another_tenant(site: Site, operation: str) -> None:
    """Objects of another tenant do not exist for a tenant's roles; a super admin can use them."""
    asked, belongings = REQUESTS[operation], site.tenants[OTHER]
    request = filled(operation, asked, belongings)
    before = belongings.picture()
    for caller in (VIEWER, ADMIN):
        status, text = send(site.clients[caller], naming(request, operation, OTHER, caller))
        if not admits(operation, caller):
            assert status == 403, caller
            continue
        if asked.path or asked.names_tenant:
            assert status == 404, f"{caller}: {text}"
        if not asked.path:
            status, text = send(site.clients[caller], request)
            # The audit trail contains the caller's own attempts, with the names that it used.
            assert (f'"tenant_id":"{OTHER}"' if operation == "list_audit" else OTHER) not in text, caller
    assert belongings.picture() == before, "changed by a role of the other tenant"
    status, text = send(site.clients[SUPER_ADMIN], naming(request, operation, OTHER, SUPER_ADMIN))
    assert status < 400 or status in asked.refused, text


def test_every_operation_is_covered() -> None:
    """A route without a line in the table fails at import; an operation that reaches a tenant needs a request here."""
    assert set(ROUTES) == set(ACCESS)
    assert set(REQUESTS) == set(REACHING_ONE_TENANT)
    for operation, asked in REQUESTS.items():
        variables = set(re.findall(r"{(\w+)", ROUTES[operation].path))
        assert variables == {*asked.path, *asked.fixed}, operation


@dataclass(frozen=True)
class Filled:
    """A request with its path and body filled in."""

    method: str
    path: str
    params: dict[str, str] = field(default_factory=dict)
    json: Any = None
    form: dict[str, str] | None = None


def filled(operation: str, asked: Asked, belongings: Belongings) -> Filled:
    """A request for new objects of a tenant."""
    values = {**{name: belongings.make(kind) for name, kind in asked.path.items()}, **asked.fixed}
    path = re.sub(r"{(\w+)(:path)?}", lambda found: str(values.get(found[1], "1")), ROUTES[operation].path)
    request = Filled(method_of(operation), path)
    if isinstance(asked.json, dict):
        tenant = belongings.tenant
        request = replace(request, json={key: tenant if it == NAMED else it for key, it in asked.json.items()})
    elif asked.json is None and operation not in REQUESTS and request.method in ("POST", "PATCH"):
        request = replace(request, json={})
    if asked.form is not None:
        kinds = {"id": "job", "webhook": "webhook"}
        form = {key: str(belongings.make(kinds[key])) if it == MADE else it for key, it in asked.form.items()}
        request = replace(request, form=form)
    return request


def naming(request: Filled, operation: str, tenant: str, caller: Caller) -> Filled:
    """The request with the tenant's name, which callers of a tenant need for no object that has an id."""
    asked = REQUESTS.get(operation)
    if asked is None or not asked.names_tenant or (caller in OF_TENANT and asked.path):
        return request
    return replace(request, params={"tenant_id": tenant})


def send(client: httpx.Client, asked: Filled) -> tuple[int, str]:
    """The status and text; of an endless stream only the head is read."""
    options = {"params": asked.params, "json": asked.json, "data": asked.form}
    with client.stream(asked.method, asked.path, **options) as answer:
        if answer.headers.get("content-type", "").startswith(STREAM):
            return answer.status_code, ""
        return answer.status_code, answer.read().decode(errors="replace")
