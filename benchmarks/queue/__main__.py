"""`python -m benchmarks.queue`: the systems interleaved in every row; medians of several rounds."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence

from benchmarks.machine import machine_lines
from benchmarks.peers import versions
from benchmarks.queue import embedded, postgres
from benchmarks.queue.chaos.torment import JOBS, chaos_lines
from benchmarks.queue.drivers.driver import WARM_UP_TURNS
from benchmarks.queue.embedded import EmbeddedBench
from benchmarks.queue.postgres import PostgresBench, postgres_systems
from benchmarks.queue.postgres_server import durable_server
from benchmarks.queue.row import OWN, Row, shown, times
from benchmarks.results_folder import command, results_folder
from tests.servers.postgres import NoServer

PARTS = ("sqlite", "postgres", "chaos")
TITLES = {"persistqueue": "persist-queue", "huey_pop": "huey, results disabled"}
GUARANTEES = {
    "gribmill": "leases, fence, attempt history; a crash costs one attempt, never the job. A claim alone does not wait"
    " for the disk: after a power failure it may be lost, and the job is pending again",
    "huey": "a task is deleted when it is claimed, so a crash loses it; its end is recorded as its result",
    "litequeue": "no leases: a crashed worker's message stays locked",
    "persistqueue": "no leases; several processes may get the same item",
    "huey_pop": "as huey, with results disabled: neither the end of a task nor its outcome is recorded",
}
POSTGRES_GUARANTEES = {
    "gribmill": "as above, but a claim waits for the disk too, because workers outlive the server",
    "procrastinate": "heartbeats of workers; a task written by the user must find and retry the jobs of a stalled"
    " worker. Jobs are fetched one by one",
    "pgqueuer": "heartbeats of jobs; a job whose heartbeat is too old is given to another worker. Completion is"
    " not fenced: a late worker can complete a job that another one holds. Finished jobs move to a log without their"
    " arguments",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="factor for numbers of jobs; 0.1 is a quick look")
    parser.add_argument("--quick", action="store_true", help="one round with a tenth of the jobs, into results/quick")
    parser.add_argument("--only", choices=PARTS, help="one part; the page goes to results/quick")
    options = parser.parse_args()
    rounds, scale = (1, 0.1) if options.quick else (options.rounds, options.scale)
    lines = ["# The job queue beside its peers", "", f"`{command('queue')}` wrote this page.", ""]
    lines += [
        *machine_lines(),
        f"- {rounds} rounds, the systems interleaved; medians, and the median of the rounds'"
        " ratios. **Bold** ratios and CPU times miss the goal of their row",
    ]
    parts = PARTS if options.only is None else (options.only,)
    if "sqlite" in parts:
        lines += _embedded_part(rounds, scale)
    if "postgres" in parts:
        lines += _postgres_part(rounds, scale, quick=options.quick)
    if "chaos" in parts:
        lines += chaos_lines(JOBS // 4 if options.quick else JOBS)
    text = "\n".join(lines) + "\n"
    part_only = options.quick or options.only is not None
    (results_folder(quick=part_only) / "queue.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


def _embedded_part(rounds: int, scale: float) -> list[str]:
    lines = ["", "## On SQLite", ""]
    try:
        bench = EmbeddedBench(rounds, scale)
    except subprocess.CalledProcessError as error:
        return [*lines, f"Not measured: the peers could not be installed ({error})."]
    names = versions(bench.peer, embedded.PACKAGES)
    bench.measure()
    lines += [
        f"- {_named(names)}, each used as documented",
        f"- a new file for every measurement; one job enqueued, or {WARM_UP_TURNS} turns of each worker, before timing"
        " starts",
        "- durability: `full` = a commit returns when it is on disk (gribmill's default), `normal` = survives a crash"
        " of the process, but not of the machine; the same for all",
        "- `*`: did less than the row says: recorded no completion, or handed out jobs twice",
        "",
        "| | "
        + " | ".join(TITLES.get(system, system) for system in embedded.SYSTEMS)
        + " | unit | against the best that did the same | against the fastest of all |",
        "|---|" + "---|" * (len(embedded.SYSTEMS) + 3),
    ]
    for row in bench.rows:
        cells = " | ".join(row.cell(system) for system in embedded.SYSTEMS)
        equal, fastest = _against_best(row), times(row.against_best(equal=False))
        lines.append(f"| {row.title} | {cells} | {row.unit} | {equal} | {fastest} |")
    return [*lines, *_remarks(GUARANTEES, bench.notes)]


def _postgres_part(rounds: int, scale: float, *, quick: bool) -> list[str]:
    lines = ["", "## On PostgreSQL", ""]
    try:
        with durable_server() as server, postgres_systems() as systems:
            bench = PostgresBench(server, rounds, scale, 0.4 if quick else 0.8, systems)
            version = server.version
            bench.measure()
    except (NoServer, subprocess.CalledProcessError, postgres.DriverFailed) as error:
        return [*lines, f"Not measured: {error}."]
    lines += [
        f"- PostgreSQL {version} on the same machine, over a Unix socket; `fsync`, `synchronous_commit` and"
        " `full_page_writes` on, a checkpoint before each group of rows",
        f"- {_named(postgres.peer_versions())}, with the calls that their workers make: fetch and finish, dequeue and"
        " log. procrastinate has no batches: in rows of twelves it claims singly",
        f"- each row for {bench.seconds:g} s, after a warm-up; gribmill with `store.exchange`: the reports"
        " and the next claim in one transaction. Twelves share a correlation id, like jobs that follow another",
        "- CPU: user and system time of all workers and of the whole server, in ms per job",
        "",
        "| | "
        + " | ".join(postgres.SYSTEMS)
        + " | unit | against the best | goal | CPU "
        + " | CPU ".join(postgres.SYSTEMS)
        + " | goal |",
        "|---|" + "---|" * (2 * len(postgres.SYSTEMS) + 4),
    ]
    lines += [_postgres_line(row) for row in bench.rows]
    return [*lines, *_remarks(POSTGRES_GUARANTEES, bench.notes)]


def _postgres_line(row: Row) -> str:
    rates = " | ".join(row.cell(system) for system in postgres.SYSTEMS)
    own = row.cpu(OWN)
    too_much = own is not None and row.cpu_goal_ms is not None and own > row.cpu_goal_ms
    cpu = " | ".join(
        f"**{shown(own)}**" if too_much and system == OWN else shown(row.cpu(system)) for system in postgres.SYSTEMS
    )
    return (
        f"| {row.title} | {rates} | {row.unit} | {_against_best(row)} | {_goal(row)} | {cpu} |"
        f" {'–' if row.cpu_goal_ms is None else f'≤ {row.cpu_goal_ms:g} ms'} |"
    )


def _against_best(row: Row) -> str:
    found = times(row.against_best())
    return f"**{found}**" if row.missed_rate else found


def _goal(row: Row) -> str:
    if row.goal is None:
        return "–"
    return f"≤ {row.goal:g} {row.unit}" if len(row.values) == 1 else f"≥ {row.goal:g}×"


def _named(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _remarks(guarantees: Mapping[str, str], notes: Sequence[str]) -> list[str]:
    said = "; ".join(f"**{TITLES.get(system, system)}** {what}" for system, what in guarantees.items())
    lines = ["", f"What each guarantees: {said}."]
    if notes:
        lines += ["", "Observed: " + "; ".join(dict.fromkeys(notes)) + "."]
    return lines


if __name__ == "__main__":
    main()
