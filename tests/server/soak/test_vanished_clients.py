"""The server closes the connections of clients whose host silently vanished from the network."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gribmill.access.tokens import Tokens
from gribmill.pipeline.open_queue import open_queue
from gribmill.settings.schema import Settings
from tests.server.data.forecast_root import make_forecasts
from tests.servers.network import Host, network
from tests.waiting import wait_until

pytestmark = pytest.mark.soak

PORT, CLIENTS = 8765, 40
SETTINGS = 'data = "{data}"\n[server]\nhost = "{host}"\nport = {port}\nbehind_proxy = true\n'
# Four kinds: a stream, an unread response, half a request, and an idle connection.
CLIENT = f"""
import socket, sys, time
address, token = sys.argv[1:]
head = f"Host: {{address}}\\r\\nAuthorization: Bearer {{token}}\\r\\n"
texts = [
    f"GET /api/v1/events/stream HTTP/1.1\\r\\n{{head}}\\r\\n",
    f"GET /edr/collections/hrrr:boston/cube?bbox=-72,41,-70,44 HTTP/1.1\\r\\n{{head}}\\r\\n" * 10,
    f"GET / HTTP/1.1\\r\\n{{head}}",
    "",
]
held = []
for number in range({CLIENTS}):
    one = socket.create_connection((address, {PORT}))
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.sendall(texts[number % 4].encode())
    held.append(one)
print("ready", flush=True)
time.sleep(3600)
"""


@pytest.fixture
def hosts() -> Iterator[dict[str, Host]]:
    with network("server", "client") as found:
        yield found


def test_connections_of_a_host_that_vanished_are_closed(hosts: dict[str, Host], tmp_path: Path) -> None:
    make_forecasts(tmp_path)
    config = tmp_path / "gribmill.toml"
    config.write_text(SETTINGS.format(data=tmp_path, host=hosts["server"].address, port=PORT))
    with closing(open_queue(Settings(data=tmp_path))) as store:
        token = Tokens(store.database).create("soak", "super_admin").text
    log = tmp_path / "server.log"
    server = hosts["server"].start(sys.executable, "-m", "gribmill", "--config", config, "serve", output=log)
    wait_until(lambda: str(PORT) in log.read_text() if log.exists() else None)
    files = Path(f"/proc/{server.pid}/fd")

    def connections() -> int:
        return sum(1 for one in files.iterdir() if one.readlink().name.startswith("socket:"))

    before = connections()
    said = tmp_path / "client.log"
    hosts["client"].start(sys.executable, "-c", CLIENT, hosts["server"].address, token, output=said)
    wait_until(lambda: "ready" in said.read_text() if said.exists() else None)
    wait_until(lambda: connections() >= before + CLIENTS - 1 or None)
    hosts["client"].cut_off()
    wait_until(lambda: connections() <= before or None, 240, "the connections to be closed")
    assert server.poll() is None, "the server outlives its clients"
