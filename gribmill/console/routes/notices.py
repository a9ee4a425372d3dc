"""The result of an action, passed to the next page in a cookie."""

from __future__ import annotations

import base64
import json

from fastapi import Request
from starlette.responses import RedirectResponse, Response

from gribmill.console.frame import Notice

COOKIE = "gribmill_notice"
# Browsers drop cookies of more than 4096 bytes: as base64, a quotation mark takes almost three.
MOST_BYTES = 1400


def back_with(path: str, notice: Notice) -> Response:
    """Redirect to a page that shows the notice."""
    answer = RedirectResponse(path, 303)
    shown = notice.text.encode()[:MOST_BYTES].decode(errors="ignore")
    text = json.dumps([notice.kind, shown], ensure_ascii=False)
    value = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    answer.set_cookie(COOKIE, value, max_age=60, path="/", httponly=True, samesite="strict")
    return answer


def read_notice(request: Request) -> Notice | None:
    value = request.cookies.get(COOKIE)
    if not value:
        return None
    try:
        kind, text = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    except (ValueError, TypeError, RecursionError):
        return None
    return Notice(str(text), kind) if kind in ("good", "bad", "note") else None


def forget_notice(answer: Response) -> None:
    answer.delete_cookie(COOKIE, path="/")
