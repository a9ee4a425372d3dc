"""Checks the shape of a commit message: `python scripts/check_commit_subject.py FILE`, as the commit-msg hook calls it.

A subject of at most 72 characters fits `git log --oneline` in a terminal of 80 columns. The reason goes into the body.
"""

from __future__ import annotations

import sys
from pathlib import Path

MAX_SUBJECT = 72
# Subjects that Git writes itself, or that a later rebase removes.
GENERATED = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")


def problems(message: str) -> list[str]:
    """What is wrong with a commit message, one sentence each; empty if it is acceptable."""
    lines = _without_comments(message)
    subject = lines[0] if lines else ""
    if not subject.strip():
        return ["the subject is empty"]
    if subject.startswith(GENERATED):
        return []
    found = []
    if len(subject) > MAX_SUBJECT:
        found.append(f"the subject has {len(subject)} characters; use at most {MAX_SUBJECT} and explain in the body")
    if subject.endswith("."):
        found.append("the subject ends with a full stop; remove it")
    if len(lines) > 1 and lines[1].strip():
        found.append("the second line is not empty; separate subject and body by an empty line")
    return found


def _without_comments(message: str) -> list[str]:
    """The lines that become the commit: Git's comments, and all below its scissors line, are removed."""
    lines: list[str] = []
    for line in message.splitlines():
        if line.startswith("# ------------------------ >8"):
            break
        if not line.startswith("#"):
            lines.append(line)
    while lines and not lines[0].strip():
        lines.pop(0)
    return lines


def main() -> int:
    """Exit code 1, with the reasons on standard error, if the message in the file is refused."""
    found = problems(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for problem in found:
        sys.stderr.write(f"commit message: {problem}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
