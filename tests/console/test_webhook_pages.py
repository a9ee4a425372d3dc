"""The pages of webhooks and events, over HTTP without scripts."""

from __future__ import annotations

from gribmill.queue.model import NewTenant
from tests.console.visits import visiting
from tests.server.live_server import LiveServer


def test_secrets_in_addresses_are_hidden_as_in_the_api(live_server: LiveServer) -> None:
    """Those who only read see these pages too."""
    store = live_server.store
    store.tenants.add(NewTenant("acme"))
    webhook = store.webhooks.add("https://hooks.example/in?token=s3cretvalue", ["never"], tenant_id="acme")
    store.events.emit("folder.changed", {}, tenant_id="acme")
    event = store.events.list()[0]
    with visiting(live_server, live_server.token("tenant_viewer", "acme")) as viewer:
        for path in ("/webhooks", f"/webhooks/{webhook.id}", f"/events/{event.id}"):
            page = viewer.page(path)
            assert "hooks.example/in" in page and "s3cretvalue" not in page, path
