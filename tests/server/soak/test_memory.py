"""A server under sustained load: its memory, files and threads do not grow, whatever its clients do."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gribmill.identity import run_id
from gribmill.server.listening import listen
from tests.server.data.forecast_root import LAT, LON, make_forecasts
from tests.waiting import wait_until

HOURS, RUNS_KEPT = 7, 4
SLOW_CLIENTS, CRAWLING_CLIENTS, HALF_OPEN, STREAMS = 40, 20, 60, 20
# Pause between two requests of a client, to leave the machine some CPU.
PAUSE_SECONDS = 0.02
WATCH_SECONDS, RUN_SECONDS = 2.0, 5.0
SAMPLE_SECONDS = 30.0
SETTINGS = 'data = "{data}"\n[server]\ntile_memory_megabytes = 16\n'
# Growth between the first and the last third of the time that counts as allocator noise.
MOST_GROWTH_MB = 24


class Served:
    """A `gribmill serve` process, as the system sees it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port
        self.url = f"http://127.0.0.1:{port}"

    @property
    def memory_mb(self) -> float:
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    @property
    def files(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    @property
    def threads(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/task").iterdir())


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    with listen("127.0.0.1", 0) as probe:
        port = probe.getsockname()[1]
    config = folder / "gribmill.toml"
    config.write_text(SETTINGS.format(data=folder))
    words = [sys.executable, "-m", "gribmill", "--config", str(config), "serve", "--dev", "--port", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    found = Served(process, port)
    try:
        wait_until(lambda: answers(found), 60)
        yield found
    finally:
        process.terminate()
        process.wait(30)


def answers(server: Served) -> bool:
    try:
        return httpx.get(f"{server.url}/healthz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def usual(server: Served, choose: random.Random, stop: threading.Event) -> None:
    """Requests for everything that the server offers."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        while not stop.wait(PAUSE_SECONDS):
            (latest,) = client.get("/api/v1/runs/latest?model=hrrr").json()
            paths = choose.choice((forecasts, areas, tiles, map_and_pictures, pages))(choose, latest)
            assert_answered(client, choose.choice(paths))


def forecasts(choose: random.Random, latest: dict[str, Any]) -> list[str]:
    places = [(LAT + choose.uniform(-0.3, 0.3), LON + choose.uniform(-0.4, 0.3)) for _ in range(40)]
    lat, lon = places[0]
    many = "&".join(
        f"{axis}={','.join(f'{place[number]:.3f}' for place in places)}"
        for number, axis in enumerate(("latitude", "longitude"))
    )
    columns = "hourly=temperature_2m,wind_speed_10m,precipitation&daily=temperature_2m_max,sunrise&timezone=auto"
    return [
        f"/api/v1/point?lat={lat:.3f}&lon={lon:.3f}",
        f"/api/v1/point?lat={lat:.3f}&lon={lon:.3f}&vars=t2m,tp,ws10&units=us&run=seamless",
        f"/api/v1/point?lat={lat:.3f}&lon={lon:.3f}&method=bilinear&tz=America/New_York&run={latest['run']}",
        f"/v1/forecast?latitude={lat:.3f}&longitude={lon:.3f}&{columns}&past_days=2",
        f"/v1/forecast?{many}&{columns}",
        f"/v1/forecast?{many}&{columns}&format=flatbuffers",
        f"/v1/forecast?{many}&{columns}&models=hrrr,gfs&format=csv",
    ]


def areas(choose: random.Random, latest: dict[str, Any]) -> list[str]:
    west, south = LON + choose.uniform(-0.4, 0.1), LAT + choose.uniform(-0.3, 0.1)
    east, north = west + choose.uniform(0.15, 0.3), south + choose.uniform(0.15, 0.3)
    ring = ",".join(f"{x:.3f} {y:.3f}" for x, y in ((west, south), (east, south), (east, north), (west, south)))
    edr = "/edr/collections/hrrr:boston"
    return [
        f"{edr}/position?coords=POINT({west:.3f} {south:.3f})",
        f"{edr}/instances/{latest['run']}/position?coords=POINT({west:.3f} {south:.3f})",
        f"{edr}/area?coords=POLYGON(({ring}))",
        f"{edr}/cube?bbox={west:.3f},{south:.3f},{east:.3f},{north:.3f}&parameter-name=t2m",
        f"{edr}/instances",
        "/edr/collections",
        f"/api/v1/area?vars=t2m,tp&bbox={west:.3f},{south:.3f},{east:.3f},{north:.3f}&model=hrrr",
        "/api/v1/area?vars=t2m,tp&region=boston&model=hrrr",
    ]


def tiles(choose: random.Random, latest: dict[str, Any]) -> list[str]:
    tile = choose.choice(latest["tiles"])
    path = tile.partition("?")[0].removesuffix(".npz")
    return [tile, f"{path}.json?values=true", f"{path}.json", f"{path}.arrow"]


def map_and_pictures(choose: random.Random, latest: dict[str, Any]) -> list[str]:
    west, south = choose.uniform(-180, 150), choose.uniform(-80, 60)
    tile = choose.choice(latest["tiles"]).partition("?")[0]
    return [
        "/map",
        f"/console/map/tiles?model=hrrr&run={latest['run']}&region=boston",
        f"/console/map/coastlines.npz?box={west:.2f},{south:.2f},{west + 20:.2f},{south + 15:.2f}",
        "/console/map/colours",
        "/console/map/variable?name=t2m&units=K",
        tile.replace(".npz", f".png?var={choose.choice(('t2m', 'tp', 'ws10'))}&dpi=50"),
    ]


def pages(choose: random.Random, latest: dict[str, Any]) -> list[str]:
    model_and_run = f"hrrr/{latest['run']}"
    return [
        "/", "/jobs", "/jobs?status=queued", "/runs", f"/runs/{model_and_run}", f"/runs/{model_and_run}/3", "/groups",
        "/triggers", "/definitions", "/definitions/sleep", "/events", "/webhooks", "/workers", "/sources", "/storage",
        "/tenants", "/tokens", "/audit", "/backfills/new", "/login", "/metrics", "/api/v1/jobs", "/api/v1/jobs/summary",
        "/api/v1/status", "/api/v1/runs", "/api/v1/models", "/api/v1/events", "/api/openapi.json",
        f"/nothing/{choose.random()}",
    ]  # fmt: skip


def assert_answered(client: httpx.Client, path: str) -> None:
    """Accept a page or 404: a run may be removed while it is read, and the next request finds a newer one."""
    answers: list[str] = []
    for _ in range(3):
        answer = client.get(path)
        if answer.status_code in (200, 404):
            return
        answers.append(f"{answer.status_code} {answer.text[:500]}")
    raise AssertionError(f"{path}: {answers}")


def slow(server: Served, choose: random.Random, stop: threading.Event) -> None:
    """Downloads whose readers take a few bytes at a time and leave midway."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        while not stop.is_set():
            path = choose.choice(client.get("/api/v1/runs/latest?model=hrrr").json()[0]["tiles"])
            opened = [asked(server, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") for _ in range(SLOW_CLIENTS)]
            for _ in range(5):
                for one in opened:
                    one.recv(512)
                stop.wait(0.5)
            for one in opened:
                one.close()


def crawling(server: Served, choose: random.Random, stop: threading.Event) -> None:
    """Large answers, read at a byte a second until the server gives up."""
    texts = [
        "GET /edr/collections/hrrr:boston/cube?bbox=-72,41,-70,44 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 5,
    ]
    opened = [asked(server, choose.choice(texts)) for _ in range(CRAWLING_CLIENTS)]
    while not stop.wait(1):
        for number, one in enumerate(opened):
            if not read_some(one, 1):
                one.close()
                opened[number] = asked(server, choose.choice(texts))
    for one in opened:
        one.close()


def read_some(connection: socket.socket, most: int) -> bool:
    """Whether the connection is still open."""
    connection.setblocking(False)
    try:
        return bool(connection.recv(most))
    except BlockingIOError:
        return True
    except OSError:
        return False


def watching(server: Served, choose: random.Random, stop: threading.Event) -> None:
    """Event streams that are read, while jobs are added and events emitted; now and then one resumes elsewhere."""
    newest = 0
    with httpx.Client(base_url=server.url, timeout=60) as client:
        opened = [watcher(server, newest) for _ in range(STREAMS)]
        while not stop.wait(WATCH_SECONDS):
            assert client.post("/api/v1/events", json={"name": "soak.tick"}).status_code == 201
            assert client.post("/api/v1/jobs", json={"definition_key": "sleep", "payload": {}}).status_code == 201
            for one in opened:
                assert read_some(one, 65536), "a stream that is read stays open"
            newest = client.get("/api/v1/events?limit=1").json()[0]["id"]
            number = choose.randrange(STREAMS)
            opened[number].close()
            opened[number] = watcher(server, newest)
        for one in opened:
            one.close()


def watcher(server: Served, newest: int) -> socket.socket:
    resumed = f"Last-Event-ID: {newest}\r\n" if newest else ""
    return asked(server, f"GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n{resumed}\r\n")


def half_open(server: Served, choose: random.Random, stop: threading.Event) -> None:
    """Unfinished requests, unread event streams, and connections that are reset."""
    beginnings = [
        "",
        "GET /api/v1/po",
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Never: ",
        "POST /api/v1/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{",
        "GET /api/v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ]
    while not stop.is_set():
        opened = [asked(server, choose.choice(beginnings)) for _ in range(HALF_OPEN)]
        stop.wait(3)
        for one in opened:
            if choose.random() < 0.5:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # close is a reset
            one.close()


def asked(server: Served, text: str) -> socket.socket:
    found = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    found.sendall(text.encode())
    return found


def whole_hour(days_ago: int) -> datetime:
    return datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=days_ago)


def new_runs(root: Path, stop: threading.Event) -> None:
    """Add a run every few seconds and remove the oldest, as the chain does."""
    begin = whole_hour(days_ago=60)
    while not stop.wait(RUN_SECONDS):
        begin += timedelta(hours=1)
        make_forecasts(root, run_id(begin), HOURS)
        for model in ("hrrr", "gfs"):
            for old in sorted((root / "tiles" / model).glob("2*"))[:-RUNS_KEPT]:
                shutil.rmtree(old)


@pytest.mark.soak
def test_memory_files_and_threads_stay_flat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 60 * float(os.environ.get("GRIBMILL_SOAK_MINUTES", "10"))
    make_forecasts(tmp_path, run_id(whole_hour(days_ago=61)), HOURS)
    stop, failures = threading.Event(), list[Exception]()
    with served(tmp_path) as server:
        threads = [started(lambda: new_runs(tmp_path, stop), failures)]
        for seed, work in enumerate((usual, usual, usual, slow, crawling, watching, half_open)):
            threads.append(started(_work(work, server, seed, stop), failures))
        series: list[tuple[float, float, int, int]] = []
        begin = time.monotonic()
        while time.monotonic() - begin < seconds and not failures:
            stop.wait(min(SAMPLE_SECONDS, seconds / 30))
            series.append((time.monotonic() - begin, server.memory_mb, server.files, server.threads))
        stop.set()
        for one in threads:
            one.join()
        rest = settled(server)
        with capsys.disabled():
            print("\nseconds, MB, files, threads:", *(f"{s:.0f} {m:.0f} {f} {t}" for s, m, f, t in series), sep="\n")
            print(f"afterwards: {rest} files")
    assert not failures
    third = len(series) // 3
    early, late = series[third : 2 * third], series[-third:]
    assert max(one[1] for one in late) < max(one[1] for one in early) + MOST_GROWTH_MB
    assert max(one[3] for one in late) <= max(one[3] for one in early) + 2
    assert rest < HALF_OPEN


def _work(
    work: Callable[[Served, random.Random, threading.Event], None], server: Served, seed: int, stop: threading.Event
) -> Callable[[], None]:
    return lambda: work(server, random.Random(seed), stop)


def started(work: Callable[[], None], failures: list[Exception]) -> threading.Thread:
    def guarded() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001  # the test fails with it
            failures.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    return thread


def settled(server: Served) -> int:
    """Open files once all clients are gone."""
    wait_until(lambda: server.files < HALF_OPEN, 60)
    return server.files
