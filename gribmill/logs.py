"""Structured logging: lines for people, or JSON lines. The lines of a job include its identity."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

JOB_FIELDS = ("job_id", "type", "attempt_no", "worker_id", "tenant_id")
_job: ContextVar[dict[str, Any] | None] = ContextVar("job", default=None)
# The standard attributes of a LogRecord; all others are from `extra=`.
_OWN_ATTRIBUTES = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "job_end"}

# A line may quote a publisher's response, which must not manipulate the reader's terminal or look like several lines.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


@contextmanager
def job_context(**fields: Any) -> Iterator[None]:
    """Within the context, every logged line includes these fields (JOB_FIELDS)."""
    token = _job.set(fields)
    try:
        yield
    finally:
        _job.reset(token)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of a line: the job that it belongs to, and its `extra`."""
    extra = {key: value for key, value in vars(record).items() if key not in _OWN_ATTRIBUTES}
    return {**(_job.get() or {}), **extra}


class JsonFormatter(logging.Formatter):
    """One JSON object per line; times in RFC 3339, UTC."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _utc(record.created, "T", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class HumanFormatter(logging.Formatter):
    """`12:00:00.123 info    message  key=value …`."""

    def format(self, record: logging.LogRecord) -> str:
        pairs = "".join(f"  {key}={value}" for key, value in fields_of(record).items() if value is not None)
        clock = _utc(record.created, " ", "")[11:]
        text = f"{clock} {record.levelname.lower():<7} {record.getMessage()}{pairs}".translate(_VISIBLE)
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        return text


class TerminalFormatter(logging.Formatter):
    """`12:00:00 message`: short lines for a terminal. `describe` writes the line for the end of a job."""

    def __init__(self, describe: Callable[[Any], str] | None = None) -> None:
        super().__init__()
        self._describe = describe

    def format(self, record: logging.LogRecord) -> str:
        end = getattr(record, "job_end", None)
        if end is not None and self._describe is not None:
            text = self._describe(end)
        else:
            level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
            text = f"{level}{record.getMessage()}"
        line = f"{_utc(record.created, ' ', '')[11:19]} {text}".translate(_VISIBLE)
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class LogOptions(Protocol):
    """The minimum level, and `human`, `json` or `terminal`. The settings have the first two: `human` on a terminal is
    `terminal`."""

    @property
    def level(self) -> str: ...
    @property
    def format(self) -> str: ...


class LogStyle(NamedTuple):
    """Log options for executors, which start without reading settings."""

    level: str = "info"
    format: str = "human"


def set_up_logging(options: LogOptions, describe: Callable[[Any], str] | None = None) -> None:
    """Log to stderr; call it once per process. On a terminal, `describe` writes the line for the end of a job."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(log_format(options), describe))
    logger = logging.getLogger("gribmill")
    logger.handlers[:] = [handler]
    logger.setLevel(options.level.upper())
    logger.propagate = False


def log_format(options: LogOptions) -> str:
    """The effective format: lines for people are shorter on a terminal than in a journal."""
    watched = sys.stderr is not None and sys.stderr.isatty()  # it may be closed
    return "terminal" if options.format == "human" and watched else options.format


def _formatter(name: str, describe: Callable[[Any], str] | None) -> logging.Formatter:
    if name == "json":
        return JsonFormatter()
    return TerminalFormatter(describe) if name == "terminal" else HumanFormatter()


def _utc(seconds: float, between: str, end: str) -> str:
    whole = time.strftime(f"%Y-%m-%d{between}%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}{end}"
