"""Runs each other decoder once over all files that a test session compares."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

SCRIPT = Path(__file__).parent / "decode.py"


@dataclass
class OtherDecoders:
    """`plan` lists the fields (from 0) of each file; the first query of a decoder runs it over all of them."""

    folder: Path
    plan: dict[Path, list[int]]
    heard: set[str] = field(default_factory=set)

    def ask(self, decoder: str, path: Path) -> dict[int, Any]:
        """The arrays that a decoder read from a file, by field; unreadable fields are absent."""
        out = self.folder / decoder
        if decoder not in self.heard:
            self.heard.add(decoder)
            self._run(decoder, out)
        return {
            number: np.load(f"{out / path.name}.{number}.npy")
            for number in self.plan[path]
            if Path(f"{out / path.name}.{number}.npy").exists()
        }

    def _run(self, decoder: str, out: Path) -> None:
        out.mkdir()
        jobs = [{"name": path.name, "path": str(path), "fields": fields} for path, fields in self.plan.items()]
        command = [sys.executable, str(SCRIPT), decoder, str(out)]
        subprocess.run(command, input=json.dumps(jobs), text=True, check=True, capture_output=True)
