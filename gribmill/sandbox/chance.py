"""Repeatable chance: the same words always give the same number."""

from __future__ import annotations

import hashlib


def chance(seed: int, *words: object) -> float:
    """A number in [0, 1) that depends only on these words."""
    text = "\0".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest()) / 256**7
