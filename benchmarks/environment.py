"""The environment of measured processes: modules compiled, as after installation by pip, and one native thread."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRATCH = Path(tempfile.gettempdir()) / f"gribmill-bench-{os.getuid()}"


def process_environment(**more: str) -> dict[str, str]:
    """This process's environment, with bytecode cached in a folder of the benchmarks."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(SCRATCH / "bytecode"), "OMP_NUM_THREADS": "1", **more}
