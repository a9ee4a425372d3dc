"""The page that the benchmark of the server writes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.results_folder import command
from benchmarks.server.load import CONNECTIONS, Load, generator
from benchmarks.server.pages import GOAL_P95_MS, WITHOUT_GOAL, PageTimes
from benchmarks.server.points import TOGETHER
from benchmarks.server.streams import GOAL_SHARE, STREAMS, StreamCosts
from benchmarks.store.stock import HOURS

GOAL_PER_CORE, GOAL_P99_MS, GOAL_RATIO = 300, 50, 20


@dataclass(frozen=True)
class LoopResult:
    """One round of one row: the responses, and the server's CPU for them."""

    load: Load
    cpu_ms: float


@dataclass(frozen=True)
class Measured:
    """Everything that was measured."""

    tables: dict[str, dict[str, list[LoopResult]]]
    memory: dict[str, float]
    pages: dict[str, dict[str, PageTimes]]
    """By the kind of database."""
    streams: StreamCosts
    finished: int
    rounds: int
    seconds: float


def page(found: Measured, machine: list[str], peers: Mapping[str, str], titles: Mapping[str, str]) -> str:
    size = f"{found.rounds} rounds of up to {found.seconds:g} s, interleaved, after a warm-up round; medians"
    lines = [
        "# The server under load",
        "",
        f"`{command('server')}` wrote this page.",
        "",
        *machine,
        "- " + ", ".join(f"{name} {version}" for name, version in peers.items()),
        "",
        f"**What.** A run of {HOURS} hours of HRRR over New England with twelve variables, served by one process.",
        "The peers are FastAPI with xarray, each one process with its thread pool. They get rows and columns: they",
        "need not find the grid point or convert units.",
        "",
        "- **zarr**, to which hours are appended as they arrive, each as separate chunks",
        "- **a NetCDF file for each hour** (open_mfdataset), as the files arrive",
        "- **one NetCDF file of the whole run**, deflated, which can be written only when the run is complete; HDF5",
        "  keeps its chunks in memory",
        "",
        f"**How.** {generator()} with {CONNECTIONS} connections on the same machine; {size}. CPU is that of the",
        "server process; requests per second and core are what one core could answer.",
        "",
        *_points(found.tables["point"], titles),
        *_together(found.tables["together"], titles),
        "## Tile download: 3 MB",
        "",
        *_table(found.tables["tile"], megabytes=True),
        "",
        "## Other operations",
        "",
        *_table(found.tables["other"]),
        "",
        "Memory at the end: " + ", ".join(f"{title} {number:.0f} MB" for title, number in found.memory.items()) + ".",
        "gribmill's is mostly its cache of values, with `server.tile_memory_megabytes` at its default of 512.",
        "",
        *_queue(found),
        *_streams(found.streams),
    ]
    return "\n".join(lines)


def _points(point: dict[str, list[LoopResult]], titles: Mapping[str, str]) -> list[str]:
    ours = next(title for title in point if "places" in title and "gribmill" in title)
    per_core = 1000 / _median(point[ours], lambda one: one.cpu_ms)
    p99 = _median(point[ours], lambda one: one.load.p99_ms)
    return [
        f"## Point: {HOURS} hours × 12 variables",
        "",
        *_table(point),
        "",
        f"Requests per second and core, gribmill (many places) relative to the others; the goal is {GOAL_RATIO}×:",
        "",
        *_ratios(point, ours, titles),
        "",
        f"Goals: {GOAL_PER_CORE} requests per second and core ({_number(per_core)} here), and 99 % within "
        f"{GOAL_P99_MS} ms ({_number(p99)} ms here, with {CONNECTIONS} requests in flight).",
        "",
    ]


def _together(rows: dict[str, list[LoopResult]], titles: Mapping[str, str]) -> list[str]:
    """Many places in one request; the first rows are gribmill's."""
    json, binary, *_ = rows
    lines = [
        f"## {TOGETHER} places in one request: {HOURS} hours of ten arrays",
        "",
        "`/v1/forecast`, which finds the grid points, converts units, and computes the speed and direction of the wind",
        "and the relative humidity. The peers index the dataset with arrays of rows and columns, in the way that is",
        "fastest for the store.",
        "",
        "| way | points/s | p50 ms | p99 ms | CPU ms per request | points/s and core |",
        "|---|---|---|---|---|---|",
    ]
    for title, found in rows.items():
        cpu = _median(found, lambda one: one.cpu_ms)
        cells = [
            TOGETHER * _median(found, lambda one: one.load.per_second),
            _median(found, lambda one: one.load.p50_ms),
            _median(found, lambda one: one.load.p99_ms),
            cpu,
            1000 * TOGETHER / cpu if cpu else 0,
        ]
        lines.append(f"| {title} | " + " | ".join(_number(cell) for cell in cells) + " |")
    return [
        *lines,
        "",
        f"Points per second and core, gribmill relative to the others (JSON); the goal is {GOAL_RATIO}×:",
        "",
        *_ratios(rows, json, titles, " (JSON)"),
        *_ratios(rows, binary, titles, " (FlatBuffers)"),
        "",
    ]


def _ratios(
    rows: dict[str, list[LoopResult]], ours: str, titles: Mapping[str, str], format_of_ours: str = ""
) -> list[str]:
    ratios = {title: _median_ratio(rows[ours], rows[title]) for title in titles.values()}
    return [f"- {_number(ratio)}×{format_of_ours} {title}" for title, ratio in ratios.items()]


def _queue(found: Measured) -> list[str]:
    lines = [
        f"## Beside {found.finished:,} finished jobs",
        "",
        "One request after another, as the client sees it, the connection included.",
        "",
    ]
    for database, pages in found.pages.items():
        slowest = max(one.p95 for title, one in pages.items() if title not in WITHOUT_GOAL)
        lines += [
            f"{database}; goal: overview, lists and summary within {GOAL_P95_MS} ms at p95; the slowest here is "
            f"{_number(slowest)} ms.",
            "",
            "| what | p50 ms | p95 ms | longest ms | CPU ms a request |",
            "|---|---|---|---|---|",
            *(
                f"| {title} | {_number(one.p50)} | {_number(one.p95)} | {_number(one.most)} | {_number(one.cpu_ms)} |"
                for title, one in pages.items()
            ),
            "",
        ]
    return lines


def _streams(streams: StreamCosts) -> list[str]:
    idle, busy, goal = (f"{100 * share:.1f} %" for share in (streams.idle, streams.busy, GOAL_SHARE))
    return [
        f"## {STREAMS} open event streams",
        "",
        f"{idle} of a core while idle, {busy} while each stream gets an event per second",
        f"({streams.received} received of {streams.events} × {STREAMS}). Goal: {goal}.",
        "",
    ]


def _table(rows: dict[str, list[LoopResult]], *, megabytes: bool = False) -> list[str]:
    head = "| way | requests/s | p50 ms | p99 ms | CPU ms per request | requests/s and core |"
    lines = [head + (" MB/s |" if megabytes else ""), "|---|---|---|---|---|---|" + ("---|" if megabytes else "")]
    for title, found in rows.items():
        rate, p50, p99, cpu = (
            _median(found, lambda one: one.load.per_second),
            _median(found, lambda one: one.load.p50_ms),
            _median(found, lambda one: one.load.p99_ms),
            _median(found, lambda one: one.cpu_ms),
        )
        cells = [rate, p50, p99, cpu, 1000 / cpu if cpu else 0, *([rate * 3.0] if megabytes else [])]
        lines.append(f"| {title} | " + " | ".join(_number(cell) for cell in cells) + " |")
    return lines


def _median(rounds: list[LoopResult], value: Callable[[LoopResult], float]) -> float:
    return statistics.median(value(one) for one in rounds)


def _median_ratio(ours: list[LoopResult], theirs: list[LoopResult]) -> float:
    return statistics.median(b.cpu_ms / a.cpu_ms for a, b in zip(ours, theirs, strict=True))


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
