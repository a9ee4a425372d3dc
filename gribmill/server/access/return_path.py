"""Where the browser goes after logging in."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

LOGIN_PAGE = "/login"
HOME_PAGE = "/"
LONGEST_PATH = 2000
# A path on this server. Browsers read `//host` and `/\host` as another host, and drop tabs and line ends first.
LOCAL_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
# Returning to these would log out again, or show the form once more.
NEVER_RETURNED_TO = (LOGIN_PAGE, "/logout")


def return_path(given: str) -> str:
    """`given` if it is a path on this server, with query and fragment; otherwise the home page."""
    if len(given) > LONGEST_PATH or not LOCAL_PATH.fullmatch(given):
        return HOME_PAGE
    return HOME_PAGE if urlsplit(given).path in NEVER_RETURNED_TO else given


def login_address(back: str, *, refused: bool = False) -> str:
    """The login form, which leads back to `back`."""
    path = return_path(back)
    query = ["refused=1"] if refused else []
    if path != HOME_PAGE:
        query.append(f"next={quote(path, safe='/')}")
    return f"{LOGIN_PAGE}?{'&'.join(query)}" if query else LOGIN_PAGE
