"""The rows of the embedded queue: gribmill on SQLite beside huey, litequeue and persist-queue."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.peers import peer_python
from benchmarks.queue.drivers.driver import WARM_UP_TURNS
from benchmarks.queue.latency import gribmill_latency, huey_latency, percentile
from benchmarks.queue.row import OWN, Row, shown
from benchmarks.queue.tenants import TENANTS, fair_claims, looks

PACKAGES = ["huey", "litequeue", "persist-queue"]
SYSTEMS = [OWN, "huey", "litequeue", "persistqueue", "huey_pop"]
# With full durability, faster than every peer that does the same; with `normal`, as fast.
GOAL = 1.0
LISTS_GOAL_MS = 5.0


class EmbeddedBench:
    """Runs drivers in new folders and keeps their results."""

    def __init__(self, rounds: int, scale: float) -> None:
        self.rounds = rounds
        self.scale = scale
        self.peer = peer_python("queue", PACKAGES)
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.twice: set[str] = set()
        """The systems that have handed out a job twice in the current row."""
        self.most_completions: dict[str, int] = {}

    def measure(self) -> None:
        for durability in ("full", "normal"):
            _throughput(self, durability)
        for finished in (int(rows * self.scale) for rows in (0, 100_000, 1_000_000)):
            title = f"claim latency, {finished:,} finished rows, p50, full"
            # Measured once: filling takes long, and the median is of many claims.
            self.row(title, "ms", _claim_latency(self, finished, 0.5), rounds=1 if finished else self.rounds)
        _tenants(self)
        _pick_up(self)
        self.notes += [f"{what}: up to {most} completions" for what, most in self.most_completions.items()]

    def count(self, n: int) -> int:
        return max(50, int(n * self.scale))

    def row(
        self,
        title: str,
        unit: str,
        measure: Callable[[str, Path], float | None],
        *,
        pops: bool = False,
        rounds: int | None = None,
        goal: float | None = None,
    ) -> None:
        """Measure every system once per round, in turn. `pops`: completion is part of the work."""
        systems = SYSTEMS if pops else SYSTEMS[:-1]
        self.twice.clear()
        found: dict[str, list[float]] = {system: [] for system in systems}
        for _ in range(rounds or self.rounds):
            for system in systems:
                with tempfile.TemporaryDirectory(prefix="gribmill-bench-") as folder:
                    value = self._value(measure, system, Path(folder))
                if value is not None:
                    found[system].append(value)
        self.keep(Row(title, unit, found, frozenset(self.twice | ({"huey_pop"} if pops else set())), goal=goal))

    def keep(self, row: Row) -> None:
        self.rows.append(row)
        said = ", ".join(f"{system} {shown(row.median(system))}" for system in row.values)
        sys.stderr.write(f"{row.title}: {said} {row.unit}\n")

    def _value(self, measure: Callable[[str, Path], float | None], system: str, folder: Path) -> float | None:
        """None, and a note, if a peer fails: that must not end the run."""
        try:
            return measure(system, folder)
        except RuntimeError as error:
            if system == "gribmill":
                raise
            self.notes.append(str(error))
            return None

    def run(self, system: str, *args: str | int | Path) -> dict[str, object]:
        with self.start(system, *args) as process:
            out, _ = process.communicate("go\n")
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if process.returncode or not lines:
            raise RuntimeError(f"{system} {args[0]}: exit {process.returncode} {out[-500:]}".rstrip())
        found: dict[str, object] = json.loads(lines[-1])
        return found

    def start(self, system: str, *args: str | int | Path) -> subprocess.Popen[str]:
        python = Path(sys.executable) if system == "gribmill" else self.peer
        words = [str(python), "-m", f"benchmarks.queue.drivers.{system}_driver", *map(str, args)]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _enqueue(bench: EmbeddedBench, command: str, count: int, durability: str) -> Callable[[str, Path], float]:
    return lambda system, folder: count / float(bench.run(system, command, folder / "q.db", durability, count)["wall"])  # type: ignore[arg-type]


def _consume(
    bench: EmbeddedBench, processes: int, count: int, durability: str, batch: int
) -> Callable[[str, Path], float | None]:
    def measure(system: str, folder: Path) -> float | None:
        path = folder / "q.db"
        bench.run(system, "fill", path, "normal", count + processes * WARM_UP_TURNS * batch, batch)
        workers = [bench.start(system, "work", path, durability, 0, batch) for _ in range(processes)]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()
        began = time.time()
        results = []
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("go\n")
            worker.stdin.flush()
        for worker in workers:
            out, _ = worker.communicate()
            if worker.returncode or not out.strip():
                bench.notes.append(f"{system} with {processes} processes ({durability}): a worker ended with an error")
                continue
            results.append(json.loads(out.splitlines()[-1]))
        done = sum(result["count"] for result in results)
        if done != count:
            bench.twice.add(system)
            what = f"{system} with {processes} processes and {count} jobs ({durability})"
            bench.most_completions[what] = max(done, bench.most_completions.get(what, 0))
        return count / (max(result["ended"] for result in results) - began) if results else None

    return measure


def _claim_latency(bench: EmbeddedBench, finished: int, share: float) -> Callable[[str, Path], float | None]:
    def measure(system: str, folder: Path) -> float | None:
        latencies = bench.run(system, "claims", folder / "q.db", "full", finished)["latencies"]
        return None if latencies is None else percentile(latencies, share) * 1000  # type: ignore[arg-type]

    return measure


def _tenants(bench: EmbeddedBench) -> None:
    """Two rows without peers, since none has tenants; measured once, because filling the queue takes minutes."""
    rows = int(1_000_000 * bench.scale)
    for title, measure in (
        (f"claim + complete in turn, {TENANTS} tenants, {rows:,} jobs pending, p50, normal", fair_claims),
        (f"slowest list or count of a tenant or group, {rows:,} finished rows, p50", looks),
    ):
        with tempfile.TemporaryDirectory(prefix="gribmill-bench-") as folder:
            value = measure(Path(folder), rows)
        bench.keep(Row(title, "ms", {OWN: [value]}, goal=LISTS_GOAL_MS if measure is looks else None))


def _pick_up(bench: EmbeddedBench) -> None:
    """Two rows and the idle cost, for systems with a worker."""
    found: dict[str, list[tuple[list[float], float]]] = {"gribmill": [], "huey": []}
    for _ in range(max(1, bench.rounds // 3)):
        for system in found:
            with tempfile.TemporaryDirectory(prefix="gribmill-bench-") as folder:
                own = system == "gribmill"
                try:
                    one = gribmill_latency(Path(folder)) if own else huey_latency(Path(folder), bench.peer)
                except (OSError, ValueError) as error:
                    if own:
                        raise
                    bench.notes.append(f"{system}, pick-up: {error}")
                    continue
                found[system].append(one)
    for title, share in (("pick-up by an idle worker, p50", 0.5), ("pick-up by an idle worker, p95", 0.95)):
        values = {
            system: [percentile(latencies, share) * 1000 for latencies, _ in runs] for system, runs in found.items()
        }
        bench.keep(Row(title, "ms", values))
    idle = {system: [cpu * 100 for _, cpu in runs] for system, runs in found.items()}
    bench.keep(Row("idle worker, CPU", "% of a core", idle))


def _throughput(bench: EmbeddedBench, durability: str) -> None:
    one, many = bench.count(1000), bench.count(5000)
    bench.row(f"enqueue one by one, {durability}", "jobs/s", _enqueue(bench, "add", one, durability), goal=GOAL)
    bench.row(f"enqueue many, {durability}", "jobs/s", _enqueue(bench, "many", many, durability), goal=GOAL)
    for processes in (1, 2, 4, 8):
        title = f"claim + complete, {processes} process{'es' if processes > 1 else ''}, {durability}"
        bench.row(title, "jobs/s", _consume(bench, processes, bench.count(1500), durability, 1), pops=True, goal=GOAL)
    title = f"claim + complete in twelves, 1 process, {durability}"
    bench.row(title, "jobs/s", _consume(bench, 1, bench.count(2400), durability, 12), pops=True, goal=GOAL)
