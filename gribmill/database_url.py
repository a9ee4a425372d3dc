"""Validates the URL of a database server, and hides its password wherever it is shown."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from gribmill.errors import control_character

SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://user@host/gribmill"
URL_LIMIT = 2000
HIDDEN = "***"

# A possible password in a mistyped URL: from the colon after the user name to the last @.
_PASSWORD = re.compile(r"(?s)^((?:\w+://)?+[^:/@?]*:)(.*)(?=@)")
_PARAMETER = re.compile(r"(?i)(password\s*=\s*)('[^']*'?|[^\s&]+)")


def check_database_url(value: object) -> object:
    """The value. Raises ValueError with the reason unless it is the URL of a database that gribmill can use."""
    if not isinstance(value, str):
        raise ValueError(f"expected a URL such as {EXAMPLE}")
    if len(value) > URL_LIMIT:
        raise ValueError(f"the URL is longer than {URL_LIMIT} characters")
    if control_character(value) or any(letter.isspace() for letter in value):
        raise ValueError("a URL cannot contain spaces or control characters; write %20 for a space")
    scheme, separator, rest = value.partition("://")
    if scheme not in SCHEMES or not separator:
        hint = "; leave it out to use jobs.db in the data root" if scheme.startswith("sqlite") else ""
        raise ValueError(f"expected a URL such as {EXAMPLE}{hint}")
    if rest.count("@") > 1 or "#" in rest or "/" in rest.rpartition("@")[0]:
        raise ValueError("write %40, %2F and %23 for @, / and # in the user's name and password")
    if not _database_name(value):
        raise ValueError(f"the URL names no database; expected one such as {EXAMPLE}")
    return value


def hide_password(url: str) -> str:
    """The URL without its password, even if it is not a valid URL."""
    return _PARAMETER.sub(rf"\1{HIDDEN}", _PASSWORD.sub(rf"\1{HIDDEN}", url))


def _database_name(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("the host is not valid") from None
    return parts.path.removeprefix("/") or dict(parse_qsl(parts.query)).get("dbname", "")
