"""`gribmill status --check`: one line and an exit code, as for monitoring plugins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gribmill.cli.output import one_line

if TYPE_CHECKING:
    from gribmill.pipeline.status.freshness import RegionFreshness
    from gribmill.pipeline.status.health import Health, ProblemKind

OK, WARNING, CRITICAL, UNKNOWN = range(4)
WORDS = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
# Problems that stop all new forecasts. Problems of a single model affect its freshness.
CRITICAL_PROBLEMS: frozenset[ProblemKind] = frozenset(("no worker", "disk"))
# Problems that freshness reports more precisely, region by region.
JUDGED: frozenset[ProblemKind] = frozenset(("model",))
LONGEST_LINE = 400


def check_line(fresh: Sequence[RegionFreshness], health: Health) -> tuple[int, str]:
    """The exit code, and `GRIBMILL WARNING - hrrr ne is late: build failing | perfdata`."""
    if not fresh:
        return _unknown("no model of [chain] is followed for any region", health)
    machine = [*_of_health(health)]
    causes = [one for one in machine if one[0] == CRITICAL]  # forecasts are stale because of them
    problems = [*causes, *_of_regions(fresh), *(one for one in machine if one not in causes)]
    worst = max((code for code, _ in problems), default=OK)
    texts = [text for _, text in sorted(problems, key=lambda one: -one[0])]
    models = len({one.model_id for one in fresh})
    words = "; ".join(texts) or f"{_count(models, 'model')}, {_count(len(fresh), 'region')} up to date"
    return worst, _line(worst, words, [*_perfdata(fresh, health)])


def unknown_line(error: str) -> tuple[int, str]:
    """The exit code and the line if the status could not be read."""
    return UNKNOWN, _line(UNKNOWN, error, [])


def _unknown(words: str, health: Health) -> tuple[int, str]:
    return UNKNOWN, _line(UNKNOWN, words, [*_perfdata((), health)])


def _of_regions(fresh: Sequence[RegionFreshness]) -> Iterator[tuple[int, str]]:
    """One entry for all regions of a model that are in the same state for the same reason."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in fresh:
        if one.state != "ok":
            groups.setdefault((one.model_id, one.state, one.text), []).append(one.region)
    for (model_id, state, text), regions in groups.items():
        yield CRITICAL if state == "stale" else WARNING, f"{model_id} {', '.join(regions)} {text}"


def _of_health(health: Health) -> Iterator[tuple[int, str]]:
    for one in health.problems:
        if one.serious and one.kind not in JUDGED:
            yield CRITICAL if one.kind in CRITICAL_PROBLEMS else WARNING, one.text


def _perfdata(fresh: Sequence[RegionFreshness], health: Health) -> Iterator[str]:
    for one in fresh:
        age = "U" if one.age_seconds is None else f"{one.age_seconds:.0f}s"
        yield f"'{one.model_id} {one.region} age'={age}"
    yield f"late={sum(one.state == 'late' for one in fresh)}"
    yield f"stale={sum(one.state == 'stale' for one in fresh)}"
    yield f"workers={health.workers};;1:"
    yield f"disk_free={health.disk_free}B;;;0;{health.disk_total}"


def _line(code: int, words: str, perfdata: list[str]) -> str:
    # A vertical bar would start the performance data.
    text = one_line(words.replace("|", "/"), LONGEST_LINE)
    return f"GRIBMILL {WORDS[code]} - {text}" + (f" | {' '.join(perfdata)}" if perfdata else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
