"""A separate virtual environment for the peers, made once."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parent
# GRIB readers, in one environment; compiled.py has those that must be compiled.
GRIB = [
    "numpy", "eccodes", "eccodeslib", "cfgrib", "xarray", "gribberish", "pygrib", "rasterio", "earthkit-data",
    "herbie-data",
]  # fmt: skip


def peer_python(name: str, packages: list[str]) -> Path:
    """The interpreter of `benchmarks/.venv-<name>`, with these packages installed."""
    home = ROOT / f".venv-{name}"
    python = home / "bin" / "python"
    stamp = home / ".packages"
    wanted = "\n".join(packages)
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    sys.stderr.write(f"installing the peers ({', '.join(packages)}) …\n")
    venv.create(home, with_pip=True, clear=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    stamp.write_text(wanted)
    return python


def grib_python() -> Path:
    """The interpreter of the environment with the GRIB readers."""
    return peer_python("grib", GRIB)


def versions(python: Path, packages: list[str]) -> dict[str, str]:
    """The installed versions."""
    code = "import sys, importlib.metadata as m; print(*(m.version(p) for p in sys.argv[1:]), sep='\\n')"
    out = subprocess.run([python, "-c", code, *packages], check=True, capture_output=True, text=True).stdout
    return dict(zip(packages, out.split(), strict=True))
