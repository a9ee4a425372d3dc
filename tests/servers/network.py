"""Several hosts on one machine: network namespaces on a bridge, each with its own address and host name."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.servers.this_run import RUN_PID

PREFIX = "gm"
SUBNET = "10.77.0"
NEEDED = {"ip": "iproute2", "nft": "nftables", "unshare": "util-linux", "setpriv": "util-linux"}
SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
NAMESPACES = Path("/run/netns")
# `exec` all the way: the process that is started is the program itself, and can be signalled.
NAMED = 'echo "$0" > /proc/sys/kernel/hostname && exec "$@"'
CUT = """\
table inet cut {
  chain output { type filter hook output priority 0; oifname "eth0" drop; }
  chain input { type filter hook input priority 0; iifname "eth0" drop; }
}
"""


@dataclass
class Host:
    """One host: programs that it starts have its address and its name."""

    name: str
    address: str
    namespace: str
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def words(self, *command: object) -> list[str]:
        """The command line that runs a command on this host."""
        return [_path("ip"), "netns", "exec", self.namespace, "unshare", "--uts", "sh", "-c", NAMED, self.name,
                *map(str, command)]  # fmt: skip

    def words_as_nobody(self) -> list[str]:
        """The prefix of a command that does not run as root."""
        nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        return self.words(*nobody)

    def start(
        self, *command: object, output: Path, environment: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A program that runs until the network is taken down."""
        with output.open("ab") as file:
            process = subprocess.Popen(
                self.words(*command),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=environment,
                cwd=output.parent,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def run(
        self, *command: object, environment: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A program to its end."""
        return subprocess.run(
            self.words(*command), capture_output=True, text=True, env=environment, cwd=cwd, timeout=180, check=False
        )

    def cut_off(self) -> None:
        """Drop all packets from now on. Neither side is notified, so connections hang."""
        _run("ip", "netns", "exec", self.namespace, _path("nft"), "-f", "-", text=CUT)

    def reconnect(self) -> None:
        _run("ip", "netns", "exec", self.namespace, _path("nft"), "delete", "table", "inet", "cut")

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()


@contextmanager
def network(*names: str) -> Iterator[dict[str, Host]]:
    """Hosts by name, on one bridge. Skips the test if they cannot be created."""
    check_network()
    _remove_leftovers()
    prefix = f"{PREFIX}{RUN_PID}-{os.getpid()}-{os.urandom(2).hex()}-"
    hub = f"{prefix}hub"
    hosts = {name: Host(name, f"{SUBNET}.{number}", f"{prefix}{name}") for number, name in enumerate(names, 1)}
    try:
        _run("ip", "netns", "add", hub)
        _run("ip", "-n", hub, "link", "add", "br0", "type", "bridge")
        _run("ip", "-n", hub, "link", "set", "br0", "up")
        for number, host in enumerate(hosts.values(), 1):
            _attach(hub, f"port{number}", host)
        yield hosts
    finally:
        for host in hosts.values():
            host.close()
        for name in (*(host.namespace for host in hosts.values()), hub):
            if (NAMESPACES / name).exists():
                _run("ip", "netns", "delete", name)


def check_network() -> None:
    """Skip the test if hosts cannot be created, even in CI: not every kernel allows them."""
    if os.geteuid() != 0:
        pytest.skip("several hosts on one machine need root, for network namespaces")
    lacking = sorted({package for program, package in NEEDED.items() if _find(program) is None})
    if lacking:
        pytest.skip(f"several hosts on one machine need {' and '.join(lacking)}: apt-get install {' '.join(lacking)}")
    trial = f"{PREFIX}{RUN_PID}-{os.getpid()}-try"
    try:
        _run("ip", "netns", "add", trial)
        _run("ip", "netns", "exec", trial, _path("nft"), "-f", "-", text=CUT)
        _run("ip", "netns", "delete", trial)
    except RuntimeError as error:
        pytest.skip(f"several hosts on one machine need network namespaces with nftables: {error}")


def _attach(hub: str, port: str, host: Host) -> None:
    _run("ip", "netns", "add", host.namespace)
    _run("ip", "link", "add", port, "netns", hub, "type", "veth", "peer", "name", "eth0", "netns", host.namespace)
    _run("ip", "-n", hub, "link", "set", port, "master", "br0")
    _run("ip", "-n", hub, "link", "set", port, "up")
    _run("ip", "-n", host.namespace, "addr", "add", f"{host.address}/24", "dev", "eth0")
    for device in ("eth0", "lo"):
        _run("ip", "-n", host.namespace, "link", "set", device, "up")


def _remove_leftovers() -> None:
    """Remove namespaces of killed runs, and end their processes."""
    for path in NAMESPACES.glob(f"{PREFIX}*-*") if NAMESPACES.is_dir() else ():
        run = path.name.removeprefix(PREFIX).partition("-")[0]
        if not run.isdecimal() or Path("/proc", run).exists():
            continue
        found = subprocess.run([_path("ip"), "netns", "pids", path.name], capture_output=True, text=True, check=False)
        for pid in found.stdout.split():
            subprocess.run(["kill", "-KILL", pid], check=False, capture_output=True)
        subprocess.run([_path("ip"), "netns", "delete", path.name], check=False, capture_output=True)


def _find(program: str) -> str | None:
    return shutil.which(program, path=SEARCHED)


def _path(program: str) -> str:
    return _find(program) or program


def _run(program: str, *arguments: str, text: str | None = None) -> None:
    command: Sequence[str] = [_path(program), *arguments]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[:300]}")
