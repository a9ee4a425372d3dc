"""Every page responds to those who may see it, without inline code, even when there is nothing to show."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gribmill.access.permissions import Role
from gribmill.console.render import static_url
from gribmill.console.routes import ROUTERS
from gribmill.queue.model import NewEvent, NewJob, NewTrigger
from gribmill.server.access.console_operations import FOR_ADMINS, FOR_OPERATORS, FOR_VIEWERS
from tests.console.visits import inline_content, visiting
from tests.server.live_server import LiveServer

FOR_TENANTS = (
    "/",
    "/jobs",
    "/runs",
    "/groups",
    "/triggers",
    "/definitions",
    "/definitions/sleep",
    "/events",
    "/webhooks",
)
FOR_SUPER_ADMINS = (
    "/backfills/new", "/workers", "/workers?every=true", "/sources", "/storage", "/tenants", "/tenants/global",
    "/tokens", "/audit",
)  # fmt: skip
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def filled(live_server: LiveServer) -> Iterator[LiveServer]:
    """A server with one object of each kind for the tenant acme, and others for the tenant zeta."""
    for name in ("acme", "zeta"):
        live_server.token("tenant_viewer", name)
        store = live_server.store.for_tenant(name)
        group = store.groups.open(f"group of {name}")
        store.groups.add(group.id, [NewJob("sleep", {"say": f"{name} {HOSTILE}"})])
        store.triggers.add(NewTrigger(f"trigger of {name}", "sleep", cron="30 6 * * 1-5", timezone="Europe/Berlin"))
        store.webhooks.add(f"https://{name}.example/hook", ["run.*"])
        with live_server.store.database.write() as tx:
            tx.publish(NewEvent("job.failed", {"of": name, "text": HOSTILE}, name))
    yield live_server


def test_every_page_works_on_an_empty_data_root(live_server: LiveServer) -> None:
    with visiting(live_server) as visit:
        for path in (*FOR_TENANTS, *FOR_SUPER_ADMINS, "/login", "/triggers/new"):
            shown = visit.page(path)
            assert inline_content(shown) == [], path
            assert "<h1" in shown, path


def test_hour_of_a_run_that_cannot_exist_is_not_found(live_server: LiveServer) -> None:
    with visiting(live_server) as visit:
        assert "runs begin on the hour" in visit.page("/runs/hrrr/20260919_0435/3", 404)


@pytest.mark.parametrize("role", ["tenant_viewer", "tenant_admin"])
def test_tenants_see_only_their_own_objects(filled: LiveServer, role: Role) -> None:
    with visiting(filled, filled.token(role, "acme")) as visit:
        for path in FOR_TENANTS:
            shown = visit.page(path)
            assert "zeta" not in shown, path
            assert inline_content(shown) == [], path
        assert "acme &lt;script" in visit.page("/jobs")
        assert "trigger of acme" in visit.page("/triggers")
        assert "https://acme.example/hook" in visit.page("/webhooks")
        assert "group of acme" in visit.page("/groups")
        assert "workers online" not in visit.page("/")
        for path in FOR_SUPER_ADMINS:
            assert "may not do this" in visit.page(path, 403), path


def test_objects_of_another_tenant_are_not_found(filled: LiveServer) -> None:
    store = filled.store.for_tenant("zeta")
    (job,) = store.jobs.list().jobs
    (group,) = store.groups.list()
    (trigger,) = store.triggers.list()
    (webhook,) = store.webhooks.list()
    (event,) = store.events.list()
    paths = (
        f"/jobs/{job.id}", f"/groups/{group.group.id}", f"/triggers/{trigger.id}", f"/webhooks/{webhook.id}",
        f"/events/{event.id}",
    )  # fmt: skip
    changes = (
        f"/jobs/{job.id}/cancel", f"/groups/{group.group.id}/cancel", f"/triggers/{trigger.id}/fire",
        f"/triggers/{trigger.id}", f"/webhooks/{webhook.id}/remove", f"/webhooks/{webhook.id}/test",
    )  # fmt: skip
    with visiting(filled, filled.token("tenant_admin", "acme")) as visit:
        for path in paths:
            assert "zeta" not in visit.page(path, 404)
        for path in changes:
            visit.post(path, {"label": "mine", "type": "sleep", "cron": "* * * * *"}, status=404)
        shown = visit.page("/jobs?q=tenant:zeta")
        assert f"/jobs/{job.id}" not in shown
    assert store.jobs.get(job.id).status == "pending"
    assert store.triggers.get(trigger.id).label == "trigger of zeta"


def test_a_super_admin_sees_all_tenants(filled: LiveServer) -> None:
    with visiting(filled, filled.token("super_admin")) as visit:
        for path in (*FOR_TENANTS, *FOR_SUPER_ADMINS):
            assert inline_content(visit.page(path)) == []
        for path in ("/jobs", "/groups", "/triggers", "/webhooks", "/events", "/tenants"):
            shown = visit.page(path)
            assert "acme" in shown and "zeta" in shown, path


def test_viewers_and_workers_change_nothing(filled: LiveServer) -> None:
    (job,) = filled.store.for_tenant("acme").jobs.list().jobs
    with visiting(filled, filled.token("tenant_viewer", "acme")) as visit:
        assert '<form method="post"' not in visit.page(f"/jobs/{job.id}")
        visit.post(f"/jobs/{job.id}/cancel", status=403)
        visit.post("/jobs/bulk", {"action": "cancel", "scope": "matching", "confirmed": "1"}, status=403)
    with visiting(filled, filled.token("worker")) as visit:
        visit.page("/jobs", 403)
        visit.post(f"/jobs/{job.id}/cancel", status=403)
    assert filled.store.jobs.get(job.id).status == "pending"


def test_every_operation_of_the_console_is_in_the_access_table() -> None:
    known = {*FOR_VIEWERS, *FOR_ADMINS, *FOR_OPERATORS, "console_static", "console_login"}
    routes = {route.operation_id for router in ROUTERS for route in router.routes}  # type: ignore[attr-defined]
    assert {name for name in routes if name.startswith("console_")} >= known
    writes = {
        route.operation_id  # type: ignore[attr-defined]
        for router in ROUTERS
        for route in router.routes
        if "POST" in getattr(route, "methods", ()) and str(route.operation_id).startswith("console_")  # type: ignore[attr-defined]
    }
    assert not writes & {*FOR_VIEWERS}


def test_a_visitor_logs_in_with_a_token_and_out_again(live_server: LiveServer) -> None:
    token = live_server.token("tenant_admin", "acme")
    with visiting(live_server, Forwarded="for=192.0.2.7") as visit:
        assert "<h1>Log in</h1>" in visit.page("/jobs"), "a stranger is sent to the form"
        assert "not valid" in visit.post("/login", {"token": "gm_wrong"})
        assert "<h1>Overview</h1>" in visit.post("/login", {"token": token})
        shown = visit.page("/jobs")
        assert "tenant admin, tenant acme" in shown
        assert "<h1>Log in</h1>" in visit.post("/logout")
        assert "<h1>Log in</h1>" in visit.page("/jobs")


def test_login_returns_to_the_requested_page(live_server: LiveServer) -> None:
    token = live_server.token("tenant_admin", "acme")
    asked = "/jobs?q=type%3Asleep&status=pending"
    with visiting(live_server, Forwarded="for=192.0.2.7") as visit:
        form = visit.client.get(asked).headers["location"]
        assert form == "/login?next=/jobs%3Fq%3Dtype%253Asleep%26status%3Dpending"
        assert f'value="{asked.replace("&", "&amp;")}"' in visit.page(form)
        refused = visit.client.post("/login", data={"token": "gm_wrong", "next": asked}).headers["location"]
        assert refused == f"/login?refused=1&{form.partition('?')[2]}", "a second attempt leads there too"
        answer = visit.client.post("/login", data={"token": token, "next": asked})
        assert (answer.status_code, answer.headers["location"]) == (303, asked)


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "/\n/evil.example",
        "\\/evil.example", " //evil.example", "javascript:alert(1)", "jobs", "/login", "/login?next=/jobs", "/logout",
        "/" + "x" * 3000,
    ],
)  # fmt: skip
def test_login_never_redirects_to_another_site(live_server: LiveServer, elsewhere: str) -> None:
    token = live_server.token("tenant_admin", "acme")
    with visiting(live_server, Forwarded="for=192.0.2.7") as visit:
        answer = visit.client.post("/login", data={"token": token, "next": elsewhere})
        assert answer.headers["location"] == "/"
        assert 'name="next" value="/"' in visit.client.get("/login", params={"next": elsewhere}).text


def test_programs_get_problem_documents_where_browsers_get_pages(live_server: LiveServer) -> None:
    with live_server.client() as client:
        answer = client.get("/jobs/999", headers={"Accept": "application/json"})
        assert answer.headers["content-type"] == "application/problem+json"
        page = client.get("/jobs/999", headers={"Accept": "text/html"})
        assert page.headers["content-type"].startswith("text/html")
        assert page.headers["content-security-policy"] == answer.headers["content-security-policy"]
        assert page.status_code == answer.status_code == 404


def test_static_files_are_cached_and_nothing_else_is_served(live_server: LiveServer) -> None:
    with live_server.client() as client:
        style = client.get(static_url("console.css"))
        assert "immutable" in style.headers["cache-control"]
        for path in ("/static/console.css?v=of-another-server", "/static/console.css"):
            assert client.get(path).headers["cache-control"] == "no-cache"
        for given in (style.headers["etag"], style.headers["etag"].removeprefix("W/"), '"other", W/"x", *'):
            again = client.get("/static/console.css", headers={"If-None-Match": given})
            assert again.status_code == (200 if given.endswith(", *") else 304)
        for path in ("/static/../render.py", "/static/%2e%2e/render.py", "/static/", "/static/none.js"):
            assert client.get(path).status_code == 404
        scripts = sum(len(client.get(f"/static/{name}.js").content) for name in ("theme", "times", "live", "copy"))
        assert scripts < 20_000
