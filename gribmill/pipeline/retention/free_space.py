"""How much disk space must stay free."""

from __future__ import annotations

from gribmill.settings.schema import Settings

# On a small disk the mark is this fraction of it, so that one default suits all disks.
LARGEST_PART = 0.1


def free_space_mark(settings: Settings, total: int) -> float:
    """The free space in bytes below which downloads wait."""
    return min(settings.chain.min_free_gigabytes * 1e9, total * LARGEST_PART)
