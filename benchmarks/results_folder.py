"""Where the pages and figures of a run go, and what they say of how they were made."""

from __future__ import annotations

import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def results_folder(*, quick: bool) -> Path:
    """The folder, made if need be. Quick looks have one of their own, which git ignores: they replace no result."""
    folder = RESULTS / "quick" if quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def command(part: str) -> str:
    """What was typed to run a part, in full."""
    return " ".join([f"python -m benchmarks.{part}", *sys.argv[1:]])
