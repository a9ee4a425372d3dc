"""Where a benchmark writes its page and figures, and the command line that the page shows."""

from __future__ import annotations

import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def results_folder(*, quick: bool) -> Path:
    """The folder, created if missing. Quick runs have a separate one, which git ignores, and replace no result."""
    folder = RESULTS / "quick" if quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def command(part: str) -> str:
    """The command line of this run."""
    return " ".join([f"python -m benchmarks.{part}", *sys.argv[1:]])
