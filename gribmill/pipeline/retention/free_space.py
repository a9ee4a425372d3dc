"""How much of the disk has to stay free."""

from __future__ import annotations

from gribmill.settings.schema import Settings

# On a small disk the mark is a part of it, so that a default fits all.
LARGEST_PART = 0.1


def free_space_mark(settings: Settings, total: int) -> float:
    """Downloads wait while less than this is free."""
    return min(settings.chain.min_free_gigabytes * 1e9, total * LARGEST_PART)
