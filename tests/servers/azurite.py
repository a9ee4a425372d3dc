"""Azurite, Microsoft's emulator of Azure Blob Storage, where it is installed (npm install -g azurite)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import os
import shutil
from email.utils import formatdate
from pathlib import Path

import pytest

from gribmill.storage.bucket import Bucket, StoreOptions
from gribmill.storage.object_path import ObjectPath
from tests.servers.seaweed import free_ports
from tests.servers.shared import Started, shared_server
from tests.waiting import wait_until

PROGRAM = "GRIBMILL_TEST_AZURITE"
CONTAINER = "tiles"
# The default credentials of Azurite, from its documentation.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VERSION = "2021-08-06"


def azurite_program() -> str | None:
    return os.environ.get(PROGRAM) or shutil.which("azurite-blob")


def start_azurite(home: Path) -> Started:
    program = azurite_program()
    assert program is not None
    (port,) = free_ports(1)
    words = ("--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(home), "--silent")
    return Started([program, *words, "--skipApiVersionCheck", "--disableTelemetry"], {"port": str(port)}, {})


def make_container(port: int) -> bool:
    """Create the container, which gribmill does not do itself; True if it exists afterwards."""
    date = formatdate(usegmt=True)
    resource = f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    text = "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{VERSION}\n{resource}"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers = {"x-ms-date": date, "x-ms-version": VERSION, "Authorization": f"SharedKey {ACCOUNT}:{signature}"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("PUT", f"/{ACCOUNT}/{CONTAINER}?restype=container", headers=headers)
        return connection.getresponse().status in (201, 409)
    except OSError:
        return False
    finally:
        connection.close()


@pytest.fixture
def azure_prefix(monkeypatch: pytest.MonkeyPatch) -> ObjectPath:
    """A prefix that only this test uses, in a container of Azurite."""
    if azurite_program() is None:
        pytest.skip(f"Azure's protocol is not tested: npm install -g azurite, or give the program with {PROGRAM}")
    facts = shared_server("azurite", start_azurite)
    wait_until(lambda: make_container(int(facts["port"])), 60, "Azurite")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", KEY)
    options = StoreOptions(f"http://127.0.0.1:{facts['port']}/{ACCOUNT}")
    return ObjectPath(Bucket(f"az://{CONTAINER}", options), f"test-{os.urandom(6).hex()}")
