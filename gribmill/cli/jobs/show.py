"""`gribmill jobs show`: one job, its attempts and related jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from gribmill.cli.jobs.listing import args_text, waits_for
from gribmill.cli.options.ids import ID
from gribmill.cli.output import console, one_line, print_json, styled
from gribmill.cli.text.figures import age_seconds, format_duration, format_size, seconds_between
from gribmill.cli.text.status_text import status_text
from gribmill.errors import printable
from gribmill.pipeline.open_queue import open_queue_for_reading
from gribmill.queue.model import shown_status
from gribmill.queue.redact import redact_json
from gribmill.queue.times import to_rfc3339
from gribmill.settings.schema import Settings
from gribmill.views.queue.job import JobHistoryView

if TYPE_CHECKING:
    from rich.text import Text

    from gribmill.queue.model import Attempt, Job, JobTemplate
    from gribmill.queue.store.jobs.listing import History

RELATIVES_SHOWN = 12


class _Relative(NamedTuple):
    id: int
    status: str
    detail: str


@click.command()
@click.argument("job_id", type=ID, metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@click.pass_obj
def show(settings: Settings, job_id: int, as_json: bool) -> None:
    """Show one job: its attempts with their output, its retries, siblings, parents and children."""
    store = open_queue_for_reading(settings)
    history = store.jobs.history(job_id)
    if as_json:
        print_json(JobHistoryView.of(history))
        return
    out = console()
    template_id = history.job.template_id
    template = store.templates.find(template_id) if template_id is not None else None
    for line in _lines(history, template):
        out.print(line, soft_wrap=True)


def _lines(history: History, template: JobTemplate | None) -> Iterator[Text]:
    yield from _head(history.job, template)
    yield styled(("\ntimeline", "bold"))
    yield from _timeline(history)
    chain = history.chain if len(history.chain) > 1 else ()
    for title, relatives in (
        ("retry chain", [_Relative(one.id, one.status, to_rfc3339(one.created_at) or "") for one in chain]),
        ("same batch", [_Relative(one.id, one.status, args_text(one.args)) for one in history.siblings]),
        ("waits on", [_Relative(one.id, one.status, one.type) for one in history.parents]),
        ("waited on by", [_Relative(one.id, one.status, one.type) for one in history.children]),
    ):
        if relatives:
            yield styled((f"\n{title}", "bold"))
            yield from _relatives(relatives, history.job.id)


def _head(job: Job, template: JobTemplate | None) -> Iterator[Text]:
    yield styled((f"job {job.id}", "bold"), f"  {printable(job.type)}  ", status_text(shown_status(job)))
    waits, stop = waits_for(job), age_seconds(job.cancel_requested_at)
    facts = {
        "arguments": json.dumps(redact_json(job.args), sort_keys=True, ensure_ascii=False),
        "template": _template(job, template),
        "attempts": f"{job.attempt_no}; up to {job.max_attempts} may fail",
        "priority": f"{job.priority}" + (f", position {job.position}" if job.position else ""),
        "waits": waits,
        "tenant": job.tenant_id if job.tenant_id != "global" else "",
        "requested by": f"tenant {job.requested_by}" if job.requested_by else "",
        "group": job.group_key,
        "dedupe key": job.dedupe_key,
        "worker": job.worker_id,
        "lease": _lease(job),
        "stop requested": "" if stop is None else f"{format_duration(stop)} ago",
        "created by": " ".join(filter(None, [job.created_by, f"({job.source})", job.source_ref])),
        "error": one_line(job.error_message, 400) if job.error_message else "",
    }
    for name, value in facts.items():
        if value:
            yield styled((f"  {name:<14}", "dim"), printable(value))


def _template(job: Job, template: JobTemplate | None) -> str:
    if job.template_id is None:
        return ""
    return f"{template.name} ({template.id})" if template else f"{job.template_id}, which was removed"


def _lease(job: Job) -> str:
    if job.lease_expires_at is None:
        return ""
    left = -(age_seconds(job.lease_expires_at) or 0.0)
    return f"for another {format_duration(left)}" if left > 0 else f"expired {format_duration(-left)} ago"


def _timeline(history: History) -> Iterator[Text]:
    job = history.job
    yield styled(f"  {to_rfc3339(job.created_at)}  enqueued")
    for attempt in history.attempts:
        yield from _attempt(attempt)
    if job.completed_at is not None:
        whole = format_duration(seconds_between(job.created_at, job.completed_at))
        yield styled(f"  {to_rfc3339(job.completed_at)}  ", status_text(shown_status(job)), f" after {whole}")


def _attempt(attempt: Attempt) -> Iterator[Text]:
    took = seconds_between(attempt.started_at, attempt.finished_at)
    if took is None:
        took = age_seconds(attempt.started_at)
    yield styled(
        f"  {to_rfc3339(attempt.started_at)}  attempt {attempt.attempt_no} ",
        status_text(attempt.status),
        f" ({format_duration(took)}, waited {format_duration(attempt.wait_seconds) or 'unknown'})",
        "" if attempt.exit_code is None else f", exit code {attempt.exit_code}",
        (f"  {attempt.worker_id}" + (f" pid {attempt.pid}" if attempt.pid else ""), "dim"),
    )
    for name, text in (
        ("note" if attempt.status in ("snoozed", "skipped") else "error", attempt.error_text),
        ("log", attempt.log_path),
        ("bytes", _bytes(attempt)),
        ("stdout", attempt.stdout_tail),
        ("stderr", attempt.stderr_tail),
        ("artifacts", json.dumps(attempt.artifacts) if attempt.artifacts else None),
    ):
        for line in (text or "").rstrip().splitlines():
            yield styled((f"      {name} ", "dim"), printable(line))


def _bytes(attempt: Attempt) -> str:
    parts = (("downloaded", attempt.downloaded_bytes), ("wrote", attempt.written_bytes))
    return ", ".join(f"{verb} {format_size(size)}" for verb, size in parts if size is not None)


def _relatives(relatives: Sequence[_Relative], job_id: int) -> Iterator[Text]:
    for one in relatives[:RELATIVES_SHOWN]:
        here = "  (this job)" if one.id == job_id else ""
        yield styled(f"  job {one.id}  ", status_text(one.status), f"  {one_line(one.detail)}{here}")
    if len(relatives) > RELATIVES_SHOWN:
        yield styled(f"  and {len(relatives) - RELATIVES_SHOWN} more; --json lists all")
