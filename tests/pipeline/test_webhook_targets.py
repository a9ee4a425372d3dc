"""The addresses that webhooks connect to, and receivers that respond slowly, endlessly or not at all."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks

from gribmill.pipeline.open_queue import open_queue
from gribmill.queue.model import Webhook
from gribmill.queue.store import Store
from gribmill.settings.schema import Settings, WebhookSettings
from tests.pipeline.webhook_receiver import Receiver, publish, receiving, tick

# A delivery without a time limit would never end here.
pytestmark = pytest.mark.timeout(60)

HOST = "hook.example"
PUBLIC = "93.184.215.14"


class Network:
    """Successive DNS answers for each name, and the server at each address."""

    def __init__(self) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.routes: dict[str, Receiver] = {}
        self.connected: list[str] = []

    def resolve(self, host: str, port: Any, *args: Any, **options: Any) -> Any:
        answers = self.names.get(host)
        if answers is None:
            return self.real(host, port, *args, **options)
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [one for address in found for one in self.real(address, port, *args, **options)]

    def install(self, patch: pytest.MonkeyPatch) -> None:
        self.real = socket.getaddrinfo
        network = self

        class Routed(socket.socket):
            def connect(self, address: Any) -> None:
                network.connected.append(address[0])
                server = network.routes.get(address[0])
                super().connect(address if server is None else ("127.0.0.1", server.server_port))

        patch.setattr(socket, "getaddrinfo", self.resolve)
        patch.setattr(socket, "socket", Routed)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    network = Network()
    network.install(monkeypatch)
    return network


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store that accepts any URL, because these tests are about delivery."""
    store = open_queue(Settings(data=tmp_path / "data"))
    store.webhooks.allow_private = True
    return store


@pytest.fixture
def private() -> Iterator[Receiver]:
    with receiving(Receiver()) as server:
        yield server


def deliver(store: Store, url: str, **options: Any) -> Webhook:
    """Deliver one event to this URL once; returns the webhook afterwards."""
    webhook = store.webhooks.add(url, ["run.*"])
    publish(store)
    root = store.database.path.parent  # type: ignore[attr-defined]
    assert len(tick(store, Settings(data=root, webhooks=WebhookSettings(**options)))) == 1
    return store.webhooks.get(webhook.id)


def test_connection_uses_the_checked_address_though_the_name_changes(
    network: Network, store: Store, private: Receiver
) -> None:
    network.names[HOST] = [[PUBLIC], ["127.0.0.1"]]
    with receiving(Receiver()) as public:
        network.routes[PUBLIC] = public
        webhook = deliver(store, f"http://{HOST}:{private.server_port}/hook")
    assert network.connected == [PUBLIC]
    assert private.got == []
    ((headers, body),) = public.got
    assert headers["host"] == f"{HOST}:{private.server_port}"
    assert standardwebhooks.Webhook(webhook.secret).verify(body, headers)["type"] == "run.completed"


def test_name_with_one_private_address_among_public_ones_is_refused(
    network: Network, store: Store, private: Receiver
) -> None:
    network.names[HOST] = [[PUBLIC, "127.0.0.1"]]
    webhook = deliver(store, f"http://{HOST}:{private.server_port}/")
    assert network.connected == [] and private.got == []
    assert webhook.last_error and f"{HOST} is at an address that is not public" in webhook.last_error
    assert "127.0.0.1" not in webhook.last_error, "a tenant would learn names of a private network"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "017700000001", "0177.0.0.1", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]",
     "[::ffff:7f00:1]", "localhost"],
)  # fmt: skip
def test_no_spelling_of_loopback_is_connected_to(network: Network, store: Store, private: Receiver, host: str) -> None:
    webhook = deliver(store, f"http://{host}:{private.server_port}/")
    assert network.connected == [] and private.got == []
    assert webhook.last_error and "an address that is not public" in webhook.last_error


@pytest.mark.parametrize(
    "address", ["::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1", "169.254.169.254"]
)
def test_name_that_leads_into_a_private_network_is_not_connected_to(
    network: Network, store: Store, private: Receiver, address: str
) -> None:
    network.names[HOST] = [[address]]
    webhook = deliver(store, f"http://{HOST}:{private.server_port}/")
    assert network.connected == [] and private.got == []
    assert webhook.last_error and "an address that is not public" in webhook.last_error


def test_next_address_is_tried_where_one_refuses_the_connection(network: Network, store: Store) -> None:
    with receiving(Receiver()) as gone:
        pass
    with receiving(Receiver()) as public:
        network.names[HOST] = [["93.184.215.13", PUBLIC]]
        network.routes |= {"93.184.215.13": gone, PUBLIC: public}
        deliver(store, f"http://{HOST}/")
    assert network.connected == ["93.184.215.13", PUBLIC]
    assert [headers["host"] for headers, _ in public.got] == [HOST]


class Dripping(Receiver):
    """Sends the first part of a response at once, and repeats the second while the client reads."""

    def __init__(self, first: bytes, then: bytes) -> None:
        super().__init__()
        self._first, self._then = first, then

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        try:
            request.wfile.write(self._first)
            while True:
                request.wfile.write(self._then)
        except OSError:
            request.close_connection = True


class Silent(Dripping):
    """Sends a little, then nothing until the client disconnects."""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        request.wfile.write(self._first)
        request.rfile.read(1)
        request.close_connection = True


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "server",
    [
        lambda: Silent(b"", b""),
        lambda: Silent(OK + b"X-A: b\r\n", b""),
        lambda: Dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        lambda: Dripping(OK, b"X-A: b\r\n"),
        lambda: Dripping(OK + b"X-A: ", b"b" * 1000),
        lambda: Dripping(b"", b"SSH-2.0-OpenSSH\r\n"),
    ],
    ids=["nothing", "half_a_head", "endless_continue", "endless_headers", "endless_header", "no_http"],
)
def test_response_with_an_endless_head_is_a_failure(store: Store, server: Any) -> None:
    with receiving(server()) as receiver:
        webhook = deliver(store, receiver.url, allow_private=True, timeout_seconds=0.5)
    assert webhook.failing_since is not None and webhook.last_error
    (delivery,) = store.webhooks.deliveries(webhook.id)
    assert (delivery.status, delivery.http_status) == ("pending", None)


@pytest.mark.parametrize(
    "server",
    [
        # Waits for the whole timeout.
        pytest.param(lambda: Silent(OK + b"Content-Length: 1000\r\n\r\n", b""), marks=pytest.mark.slow),
        lambda: Dripping(OK + b"Content-Length: 99999999999999\r\n\r\n", b"x" * 65536),
        lambda: Dripping(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        lambda: Dripping(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"zzz\r\n"),
    ],
    ids=["body_that_never_comes", "huge_body", "endless_chunks", "bad_chunks"],
)
def test_event_counts_as_delivered_by_its_status_whatever_the_body_is(store: Store, server: Any) -> None:
    with receiving(server()) as receiver:
        webhook = deliver(store, receiver.url, allow_private=True, timeout_seconds=5)
    assert webhook.failing_since is None
    (delivery,) = store.webhooks.deliveries(webhook.id)
    assert (delivery.status, delivery.http_status) == ("delivered", 200)


class TlsReceiver(Receiver):
    """Receives over TLS, and keeps the names that clients ask for."""

    def __init__(self, certificate: Path) -> None:
        super().__init__()
        self.asked: list[str | None] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        context.sni_callback = lambda _socket, name, _context: self.asked.append(name)
        self.socket = context.wrap_socket(self.socket, server_side=True)

    def handle_error(self, *_: Any) -> None:
        """Logs nothing: a client that does not trust the certificate disconnects."""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of hook.example, with its key."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here")
    place = tmp_path / "certificate.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", str(place),
             "-out", str(place)]  # fmt: skip
    subprocess.run(words, check=True, capture_output=True)
    return place


@pytest.mark.process
@pytest.mark.parametrize(("host", "delivered"), [(HOST, True), ("other.example", False)])
def test_certificate_must_be_that_of_the_name_in_the_url(
    network: Network, store: Store, certificate: Path, host: str, delivered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    network.names[host] = [[PUBLIC], ["127.0.0.1"]]
    server = TlsReceiver(certificate)
    with receiving(server):
        network.routes[PUBLIC] = server
        webhook = deliver(store, f"https://{host}/hook")
    assert server.asked == [host]
    assert [headers["host"] for headers, _ in server.got] == ([host] if delivered else [])
    assert (webhook.last_error is None) == delivered
