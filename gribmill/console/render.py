"""Renders templates. All values are escaped, so job arguments and logs are shown as text."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from gribmill.console import wording
from gribmill.queue.redact import redact

HERE = Path(__file__).parent
TEMPLATES = HERE / "templates"
STATIC = HERE / "static"
STATIC_URL = "/static/"


@cache
def environment() -> Environment:
    """The Jinja environment with shared filters and functions."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "redact": redact,
        "when": when,
        "seconds": wording.duration,
        "size": wording.size,
        "number": wording.number,
        "percent": wording.percent,
        "status": wording.status,
        "clock": wording.clock,
        "pretty": pretty_json,
    }
    made.globals |= {"static": static_url, "query": query, "counted": wording.counted, "once": once}
    return made


def render(template: str, values: Mapping[str, Any]) -> str:
    """One page."""
    return environment().get_template(template).render(values)


def when(moment: datetime | None, missing: str = "–") -> Markup:
    """A relative time, with the exact UTC time as a tooltip."""
    if moment is None:
        return escape(missing)
    now = datetime.now(UTC)
    stamp = moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        stamp, wording.exact(moment), wording.relative(moment, now)
    )


def once() -> Markup:
    """A hidden field with a random value: the server executes a form with it only once, however often it is submitted.

    Without `autocomplete="off"`, Firefox would restore the old value when the page is reloaded.
    """
    return Markup('<input type="hidden" name="once" value="{}" autocomplete="off">').format(secrets.token_urlsafe(12))


def pretty_json(value: Any) -> str:
    """JSON for people: sorted, indented. Anything that is not JSON is shown unchanged."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)


def query(values: Mapping[str, Any], **changes: Any) -> str:
    """`?a=1&b=2` with some values changed; None and empty values are left out."""
    merged = {**values, **changes}
    text = urlencode([(name, value) for name, value in merged.items() if value not in (None, "")])
    return f"?{text}" if text else "?"


@cache
def static_url(name: str) -> str:
    """The URL of a file in `static/`; it changes with the file's content."""
    return f"{STATIC_URL}{name}?v={version_of((STATIC / name).read_bytes())}"


def version_of(content: bytes) -> str:
    """Identifies the content of a file in `static/`."""
    return hashlib.sha256(content).hexdigest()[:16]
