"""The user who runs a command."""

from __future__ import annotations

import getpass
import os


def current_user() -> str:
    """The user's name, as jobs and reservations record it; the numeric id if the system has no name for it."""
    try:
        return getpass.getuser()[:200]
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
