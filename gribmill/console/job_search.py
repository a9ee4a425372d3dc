"""The search box of the job list, such as `type:build_tile tenant:acme worker:host-1`; part of the URL."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import get_args

from gribmill.console.frame import AnyStore
from gribmill.errors import quoted
from gribmill.queue.errors import GroupNotFound
from gribmill.queue.model import STATUSES, JobSource
from gribmill.queue.store.jobs.listing import JobFilter

LONGEST_SEARCH = 500
PREFIXES = ("type", "tenant", "worker", "group", "correlation", "source", "key")
DEAD_LETTER = "dead_letter"
STATES = (*STATUSES, DEAD_LETTER)
# Search prefixes for which the store has counters, so that the status filters can show how many jobs match.
COUNTED = frozenset({"type"})


@dataclass(frozen=True, slots=True)
class JobSearch:
    """A parsed search, as filters of the store."""

    wanted: JobFilter
    text: str = ""
    status: str = ""
    words: dict[str, str] = field(default_factory=dict)
    error: str | None = None
    """Why the search is invalid, or None."""
    job_id: int | None = None
    """A number alone is a job id."""

    @property
    def countable(self) -> bool:
        return self.error is None and set(self.words) <= COUNTED

    @property
    def indexed(self) -> bool:
        """Whether an index covers this search; otherwise it may scan many other jobs."""
        wanted, words = self.wanted, set(self.words)
        return bool(words & {"group", "correlation", "key"}) or not words or wanted.status in ("pending", "processing")

    @property
    def query(self) -> dict[str, str]:
        """The search as query parameters."""
        return {"status": self.status, "q": self.text}


def read_search(handle: AnyStore, text: str, status: str) -> JobSearch:
    """Parse a search. Never fails: problems are reported in `error`."""
    text = " ".join(text.split())[:LONGEST_SEARCH]
    if status and status not in STATES:
        return JobSearch(JobFilter(), text, "", error=f"{quoted(status)} is not a job status")
    if text.isdecimal() and len(text) < 19:
        return JobSearch(JobFilter(), text, status, job_id=int(text))
    wanted = JobFilter()
    if status:
        wanted = replace(wanted, dead=True) if status == DEAD_LETTER else replace(wanted, status=status)  # type: ignore[arg-type]
    words: dict[str, str] = {}
    for word in text.split():
        prefix, colon, value = word.partition(":")
        if not colon or prefix not in PREFIXES or not value:
            names = " ".join(f"{name}:" for name in PREFIXES)
            return JobSearch(wanted, text, status, error=f"{quoted(word)} cannot be searched for: use {names}")
        words[prefix] = value
    search = JobSearch(wanted, text, status, words)
    try:
        return _narrowed(handle, search)
    except GroupNotFound as error:
        return replace(search, error=str(error))


def _narrowed(handle: AnyStore, search: JobSearch) -> JobSearch:
    words, wanted = search.words, search.wanted
    if "source" in words and words["source"] not in get_args(JobSource):
        names = ", ".join(get_args(JobSource))
        return replace(search, error=f"{quoted(words['source'])} is not a job source: use {names}")
    wanted = replace(
        wanted,
        type=words.get("type"),
        tenant_id=words.get("tenant"),
        worker_id=words.get("worker"),
        correlation_id=words.get("correlation"),
        group_key=words.get("key"),
        source=words.get("source"),  # type: ignore[arg-type]
    )
    if "group" in words:
        wanted = replace(wanted, group_id=_group_id(handle, words["group"]))
    # A worker's jobs are searched among running ones only: finished jobs have no index by worker.
    if "worker" in words and not search.status:
        wanted = replace(wanted, status="processing")
        return replace(search, wanted=wanted, status="processing")
    return replace(search, wanted=wanted)


def _group_id(handle: AnyStore, name: str) -> int:
    if name.isdecimal() and len(name) < 19:
        return handle.groups.get(int(name)).id
    return handle.groups.find(name).id
