"""`python -m benchmarks.queue`: every row interleaved over the systems, medians of several rounds, one table."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import machine_lines
from benchmarks.peers import peer_python, versions
from benchmarks.queue.latency import gribmill_latency, huey_latency, percentile
from benchmarks.queue.tenants import TENANTS, fair_claims, looks
from benchmarks.results_folder import command, results_folder

PACKAGES = ["huey", "litequeue", "persist-queue"]
SYSTEMS = ["gribmill", "huey", "litequeue", "persistqueue", "huey_pop"]
TITLES = {"persistqueue": "persist-queue", "huey_pop": "huey, ends not recorded"}
GUARANTEES = {
    "gribmill": "leases, fence, attempt history; a crash costs one attempt, never the job. A claim alone does not wait"
    " for the disk: after a power cut it may be forgotten, and its job is pending again",
    "huey": "a task is deleted when it is taken: a crash loses it; the end is recorded as the task's result",
    "litequeue": "no leases: a crashed worker's message stays locked",
    "persistqueue": "no leases; several processes may be handed the same item",
    "huey_pop": "as huey, told to keep no results: that a task has ended, or how, is written nowhere",
}


@dataclass(frozen=True)
class Row:
    """One line of the table; `unequal` are the systems that did less than the row says."""

    title: str
    values: dict[str, float | None]
    unit: str
    unequal: frozenset[str] = frozenset()

    def best_peer(self, *, equal: bool) -> float | None:
        left_out = {"gribmill", *(self.unequal if equal else ())}
        found = [value for system, value in self.values.items() if value and system not in left_out]
        return (max(found) if self.unit == "jobs/s" else min(found)) if found else None

    def ratio(self, *, equal: bool) -> str:
        ours, best = self.values.get("gribmill"), self.best_peer(equal=equal)
        if not ours or not best:
            return "–"
        return f"{ours / best if self.unit == 'jobs/s' else best / ours:.2f}×"

    def cell(self, system: str) -> str:
        return _show(self.values.get(system)) + ("*" if system in self.unequal and self.values.get(system) else "")


class Bench:
    """Runs drivers in fresh folders and keeps what they say."""

    def __init__(self, rounds: int, scale: float) -> None:
        self.rounds = rounds
        self.scale = scale
        self.peer = peer_python("queue", PACKAGES)
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.twice: set[str] = set()
        """The systems that have handed a job out twice in the row being measured."""

    def count(self, n: int) -> int:
        return max(50, int(n * self.scale))

    def row(self, title: str, unit: str, measure: Callable[[str, Path], float | None], pops: bool = False) -> None:
        """Measure every system once per round, in turn, and keep the medians. `pops`: ends belong to the work."""
        systems = SYSTEMS if pops else SYSTEMS[:-1]
        self.twice.clear()
        found: dict[str, list[float]] = {system: [] for system in systems}
        for _ in range(self.rounds):
            for system in systems:
                with tempfile.TemporaryDirectory(prefix="gribmill-bench-") as folder:
                    value = self._value(measure, system, Path(folder))
                if value is not None:
                    found[system].append(value)
        medians = {system: statistics.median(values) if values else None for system, values in found.items()}
        self.rows.append(Row(title, medians, unit, frozenset(self.twice | ({"huey_pop"} if pops else set()))))
        sys.stderr.write(f"{title}: " + ", ".join(f"{k} {_show(v)}" for k, v in medians.items()) + f" {unit}\n")

    def _value(self, measure: Callable[[str, Path], float | None], system: str, folder: Path) -> float | None:
        """None, and a note, where a peer fails: that must not end a run."""
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


def enqueue(bench: Bench, command: str, count: int, durability: str) -> Callable[[str, Path], float]:
    return lambda system, folder: count / float(bench.run(system, command, folder / "q.db", durability, count)["wall"])  # type: ignore[arg-type]


def consume(
    bench: Bench, processes: int, count: int, durability: str, batch: int
) -> Callable[[str, Path], float | None]:
    def measure(system: str, folder: Path) -> float | None:
        path = folder / "q.db"
        bench.run(system, "fill", path, "normal", count, batch)
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
            bench.notes.append(
                f"{system} with {processes} processes ({durability}): {done} completions of {count} jobs"
            )
        return count / (max(result["ended"] for result in results) - began) if results else None

    return measure


def claim_latency(bench: Bench, finished: int, share: float) -> Callable[[str, Path], float | None]:
    def measure(system: str, folder: Path) -> float | None:
        latencies = bench.run(system, "claims", folder / "q.db", "full", finished)["latencies"]
        return None if latencies is None else percentile(latencies, share) * 1000  # type: ignore[arg-type]

    return measure


def tenants(bench: Bench) -> None:
    """Two rows that no peer has, for none of them knows tenants; once, because filling the queue takes minutes."""
    rows = int(1_000_000 * bench.scale)
    for title, measure in (
        (f"claim + complete in turn, {TENANTS} tenants, {rows:,} jobs pending, p50, normal", fair_claims),
        (f"slowest list or count of a tenant or group, {rows:,} finished rows, p50", looks),
    ):
        with tempfile.TemporaryDirectory(prefix="gribmill-bench-") as folder:
            value = measure(Path(folder), rows)
        bench.rows.append(Row(title, {"gribmill": value}, "ms"))
        sys.stderr.write(f"{title}: {_show(value)} ms\n")


def pick_up(bench: Bench) -> None:
    """Two rows and the idle cost, for the systems that have a worker of their own."""
    found: dict[str, list[tuple[list[float], float]]] = {"gribmill": [], "huey": []}
    for _ in range(max(1, bench.rounds // 2)):
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
        values: dict[str, float | None] = {
            system: statistics.median(percentile(latencies, share) * 1000 for latencies, _ in runs)
            for system, runs in found.items()
            if runs
        }
        bench.rows.append(Row(title, values, "ms"))
    idle: dict[str, float | None] = {
        system: statistics.median(cpu * 100 for _, cpu in runs) for system, runs in found.items() if runs
    }
    bench.rows.append(Row("idle worker, CPU", idle, "% of a core"))


def report(bench: Bench) -> str:
    names = versions(bench.peer, PACKAGES)
    lines = ["# The job queue beside its peers", "", f"`{command('queue')}` wrote this page.", ""]
    lines += machine_lines()
    lines += [
        f"- {', '.join(f'{name} {version}' for name, version in names.items())}, each as its documentation shows",
        f"- {bench.rounds} rounds, the systems in turn within each round, medians; a fresh file for every measurement,"
        " one job enqueued before the clock starts",
        "- durability: `full` = every commit is on the disk before its caller goes on (gribmill's default), `normal` ="
        " survives a crash of the process, not of the machine; set alike for all",
        "- `*`: did less than the row says: recorded no end, or handed jobs out twice",
        "",
        "| | "
        + " | ".join(TITLES.get(system, system) for system in SYSTEMS)
        + " | unit | against the best that did the same | against the fastest of all |",
        "|---|" + "---|" * (len(SYSTEMS) + 3),
    ]
    for row in bench.rows:
        cells = " | ".join(row.cell(system) for system in SYSTEMS)
        lines.append(f"| {row.title} | {cells} | {row.unit} | {row.ratio(equal=True)} | {row.ratio(equal=False)} |")
    lines += [
        "",
        "What each guarantees: " + "; ".join(f"**{TITLES.get(s, s)}** {g}" for s, g in GUARANTEES.items()) + ".",
    ]
    if bench.notes:
        lines += ["", "Seen on the way: " + "; ".join(sorted(set(bench.notes))) + "."]
    return "\n".join(lines) + "\n"


def _show(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def throughput(bench: Bench, durability: str) -> None:
    one, many = bench.count(2000), bench.count(5000)
    bench.row(f"enqueue one by one, {durability}", "jobs/s", enqueue(bench, "add", one, durability))
    bench.row(f"enqueue many, {durability}", "jobs/s", enqueue(bench, "many", many, durability))
    for processes in (1, 2, 4, 8):
        title = f"claim + complete, {processes} process{'es' if processes > 1 else ''}, {durability}"
        bench.row(title, "jobs/s", consume(bench, processes, bench.count(4000), durability, 1), pops=True)
    title = f"claim + complete in twelves, 1 process, {durability}"
    bench.row(title, "jobs/s", consume(bench, 1, bench.count(6000), durability, 12), pops=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="a tenth is enough for a look")
    parser.add_argument("--quick", action="store_true", help="one round of a tenth, into results/quick")
    options = parser.parse_args()
    bench = Bench(1, 0.1) if options.quick else Bench(options.rounds, options.scale)
    for durability in ("full", "normal"):
        throughput(bench, durability)
    for finished in (int(rows * bench.scale) for rows in (0, 100_000, 1_000_000)):
        title = f"claim latency, {finished:,} finished rows, p50, full"
        bench.row(title, "ms", claim_latency(bench, finished, 0.5))
    tenants(bench)
    pick_up(bench)
    text = report(bench)
    (results_folder(quick=options.quick) / "queue.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    if shutil.which("python3") is None:
        sys.exit("python3 is needed for the peers")
    main()
