"""Who sits at the keyboard."""

from __future__ import annotations

import getpass
import os


def current_user() -> str:
    """The user's name as jobs and reservations record it; a number where the system knows no name."""
    try:
        return getpass.getuser()[:200]
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
