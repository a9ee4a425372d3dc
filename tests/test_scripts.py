"""The scripts that guard commits and releases refuse what they should, with a reason."""

from __future__ import annotations

import pytest

from scripts import check_commit_subject, check_release_tag

CHANGELOG = "# Changelog\n\n## 0.2.0 — 2027-01-15\n\n- New.\n\n## 0.1.0 — not released yet\n"


@pytest.mark.parametrize(
    "message",
    [
        "Read GRIB1 grids of one row\n\nNCEP publishes them.\n",
        "x" * 72,
        "# a comment of Git\nRead GRIB1\n# Please enter the commit message\n",
        "Merge branch 'a-branch-whose-name-is-so-long-that-the-subject-does-not-fit-into-72' into main",
        "Read GRIB1\n\n# ------------------------ >8 ------------------------\n" + "diff --git " * 20,
    ],
)
def test_commit_message_is_accepted(message: str) -> None:
    assert check_commit_subject.problems(message) == []


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("x" * 73, "73 characters"),
        ("\n# only a comment\n", "empty"),
        ("Read GRIB1.", "full stop"),
        ("Read GRIB1\nand GRIB2", "second line"),
    ],
)
def test_commit_message_is_refused_with_the_reason(message: str, reason: str) -> None:
    assert reason in " ".join(check_commit_subject.problems(message))


def test_release_tag_must_match_version_and_changelog() -> None:
    assert check_release_tag.problems("v0.2.0", "0.2.0", CHANGELOG) == []


@pytest.mark.parametrize(
    ("tag", "version", "reason"),
    [("v0.3.0", "0.2.0", "expected v0.2.0"), ("0.2.0", "0.2.0", "expected v0.2.0"), ("v0.1.0", "0.1.0", "no heading")],
)
def test_release_tag_that_does_not_match_is_refused(tag: str, version: str, reason: str) -> None:
    assert reason in " ".join(check_release_tag.problems(tag, version, CHANGELOG))
