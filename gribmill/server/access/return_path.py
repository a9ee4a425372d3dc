"""The page to which the browser returns after login."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

LOGIN_PAGE = "/login"
HOME_PAGE = "/"
LONGEST_PATH = 2000
# A path on this server. Browsers strip tabs and newlines, and then read `//host` and `/\host` as another host.
LOCAL_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
# Returning to these would show the form again, or log the user out.
NEVER_RETURNED_TO = (LOGIN_PAGE, "/logout")


def return_path(given: str) -> str:
    """`given` if it is a path on this server, with query and fragment; otherwise the home page."""
    if len(given) > LONGEST_PATH or not LOCAL_PATH.fullmatch(given):
        return HOME_PAGE
    return HOME_PAGE if urlsplit(given).path in NEVER_RETURNED_TO else given


def login_address(back: str, *, refused: bool = False) -> str:
    """The URL of the login form, which redirects to `back` after login."""
    path = return_path(back)
    query = ["refused=1"] if refused else []
    if path != HOME_PAGE:
        query.append(f"next={quote(path, safe='/')}")
    return f"{LOGIN_PAGE}?{'&'.join(query)}" if query else LOGIN_PAGE
