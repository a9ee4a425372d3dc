"""Checks that a release tag agrees with the version and the changelog: `python scripts/check_release_tag.py v0.2.0`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, version: str, changelog: str) -> list[str]:
    """Why the tag is not a release, one sentence each; empty if it may be published."""
    found = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but gribmill/version.py has {version}: expected v{version}")
    if not re.search(rf"^## {re.escape(version)} — \d{{4}}-\d{{2}}-\d{{2}}$", changelog, re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading '## {version} — YYYY-MM-DD'")
    return found


def main() -> int:
    """Exit code 1, with the reasons on standard error, if the tag does not match."""
    version = re.search(r'^__version__ = "([^"]+)"$', (ROOT / "gribmill/version.py").read_text(), re.MULTILINE)
    if version is None:
        sys.stderr.write("gribmill/version.py: __version__ was not found\n")
        return 1
    found = problems(sys.argv[1], version[1], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    for problem in found:
        sys.stderr.write(f"release tag: {problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
