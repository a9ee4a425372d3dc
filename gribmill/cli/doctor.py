"""`gribmill doctor`: checks this machine and the data root, with remedies."""

from __future__ import annotations

import click

from gribmill.cli.output import print_json
from gribmill.cli.progress import progress_bars
from gribmill.cli.text.figures import counted
from gribmill.cli.text.plain_lines import Line, line, print_lines
from gribmill.pipeline.checkup.doctor import examine
from gribmill.pipeline.checkup.files import tiles as check_tiles
from gribmill.pipeline.checkup.finding import Examination, Finding
from gribmill.pipeline.checkup.repair import has_worker, start_repair, wait_for_repair, work_on_repair
from gribmill.settings.schema import Settings
from gribmill.views.chain.doctor import FindingView

WORDS = {True: "ok", False: "WRONG", None: "note"}


@click.command()
@click.option("--fix", is_flag=True, help="Rebuild lost tiles of all models, and remove leftovers of killed processes.")
@click.option("--json", "as_json", is_flag=True, help="Every check, as JSON.")
@click.pass_obj
def doctor(settings: Settings, fix: bool, as_json: bool) -> None:
    """Check this machine and the data root: one line per check, with the remedy.

    Checks Python, SQLite and its known bugs, ecCodes, the kernel, the clock, the disk, permissions,
    the queue, workers, schedules, the last known state of mirrors, hours that no job will build,
    tiles against the catalogue, and leftovers of killed processes. --fix rebuilds lost tiles (with
    the workers, or here if none is running), enqueues forgotten hours and removes leftovers. Exit
    code 1 if something is wrong; that no worker is running is only noted (`gribmill status` exits
    with 1 for it).

    \b
    gribmill doctor
    gribmill doctor --fix
    """
    about = Examination(settings, fix)
    findings = []
    for found in examine(about):
        finding = _fixed(about, found, quiet=as_json) if fix and found.lost else found
        findings.append(finding)
        if not as_json:
            print_lines([_line(finding)])
    if as_json:
        print_json([FindingView.of(finding) for finding in findings])
    elif not any(finding.good is False for finding in findings):
        idle = any(finding.check == "workers" and finding.good is None for finding in findings)
        click.echo("all is well, but no worker is running" if idle else "all is well")
    if any(finding.good is False for finding in findings):
        raise SystemExit(1)


def _fixed(about: Examination, finding: Finding, *, quiet: bool) -> Finding:
    """Rebuild the lost tiles; returns the finding afterwards."""
    started = start_repair(about.context, about.store, finding.lost)
    with progress_bars("items", quiet=quiet) as add_bar:
        bar = add_bar("jobs")
        if has_worker(about.context, about.store):
            wait_for_repair(about.store, started, bar)
        else:
            work_on_repair(about.context, about.store, started, bar)
    (after,) = check_tiles(about)
    back, all_lost = len(finding.lost) - len(after.lost), counted(len(finding.lost), "lost tile")
    result = f"{back} of {all_lost} {'is' if len(finding.lost) == 1 else 'are'} back"
    remedy = "`gribmill jobs list --type ingest_grib` and `jobs show ID` give the reasons" if after.lost else ""
    return Finding(finding.check, not after.lost, result, remedy)


def _line(finding: Finding) -> Line:
    remedy = f". Remedy: {finding.remedy}" if finding.remedy and finding.good is not True else ""
    return line(f"{WORDS[finding.good]:<6}{finding.check}: {finding.detail}{remedy}")
