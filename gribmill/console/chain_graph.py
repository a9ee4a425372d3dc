"""The dependencies of a job, laid out as a graph from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gribmill.console.frame import AnyStore
from gribmill.queue.errors import QueueError
from gribmill.queue.store.jobs.listing import Dependency, History

MOST_NODES = 40
FARTHEST = 3
NODE_WIDTH = 170
NODE_HEIGHT = 44
COLUMN_GAP = 60
ROW_GAP = 14
MARGIN = 6


@dataclass(frozen=True, slots=True)
class GraphNode:
    id: int
    type: str
    status: str
    x: int
    y: int
    this: bool


@dataclass(frozen=True, slots=True)
class ChainGraph:
    """Shapes in pixels; edges are SVG paths."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[str, ...]
    width: int
    height: int
    more: bool
    """Whether some related jobs are not shown."""

    @property
    def node_width(self) -> int:
        return NODE_WIDTH

    @property
    def node_height(self) -> int:
        return NODE_HEIGHT


def chain_graph(handle: AnyStore, history: History) -> ChainGraph | None:
    """The graph of a job; None if it has no dependencies in either direction."""
    if not history.parents and not history.children:
        return None
    jobs: dict[int, tuple[str, str]] = {history.job.id: (history.job.type, history.job.status)}
    columns: dict[int, int] = {history.job.id: 0}
    links: list[tuple[int, int]] = []
    more = False
    for step in (-1, 1):
        found = _relatives(history, step)
        layer = [history.job.id]
        for depth in range(1, FARTHEST + 1):
            following: list[int] = []
            for job_id in layer:
                if depth > 1:
                    found = _looked_up(handle, job_id, step)
                for one in found:
                    links.append((one.id, job_id) if step < 0 else (job_id, one.id))
                    if one.id in columns:
                        continue
                    if len(columns) >= MOST_NODES:
                        more = True
                        continue
                    jobs[one.id] = (one.type, one.status)
                    columns[one.id] = step * depth
                    following.append(one.id)
            layer = following
    return _laid_out(history.job.id, jobs, columns, links, more)


def _relatives(history: History, step: int) -> Sequence[Dependency]:
    return history.parents if step < 0 else history.children


def _looked_up(handle: AnyStore, job_id: int, step: int) -> Sequence[Dependency]:
    try:
        return _relatives(handle.jobs.history(job_id), step)
    except QueueError:
        return ()  # pruned since


def _laid_out(
    this: int, jobs: dict[int, tuple[str, str]], columns: dict[int, int], links: list[tuple[int, int]], more: bool
) -> ChainGraph:
    first = min(columns.values())
    rows: dict[int, int] = {}
    places: dict[int, tuple[int, int]] = {}
    for job_id in sorted(columns, key=lambda one: (columns[one], one)):
        column = columns[job_id] - first
        row = rows.get(column, 0)
        rows[column] = row + 1
        places[job_id] = (MARGIN + column * (NODE_WIDTH + COLUMN_GAP), MARGIN + row * (NODE_HEIGHT + ROW_GAP))
    shown = {(a, b) for a, b in links if a in places and b in places and columns[a] < columns[b]}
    nodes = tuple(GraphNode(one, *jobs[one], *places[one], one == this) for one in places)
    width = max(x for x, _ in places.values()) + NODE_WIDTH + MARGIN
    height = max(y for _, y in places.values()) + NODE_HEIGHT + MARGIN
    return ChainGraph(nodes, tuple(_edge(places[a], places[b]) for a, b in sorted(shown)), width, height, more)


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + NODE_WIDTH, start[1] + NODE_HEIGHT // 2
    x2, y2 = end[0], end[1] + NODE_HEIGHT // 2
    middle = (x1 + x2) // 2
    return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"
