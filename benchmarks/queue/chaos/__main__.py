"""`python -m benchmarks.queue.chaos`: the part of the queue's page about killed workers and a crashed server alone."""

from __future__ import annotations

import argparse
import sys

from benchmarks.machine import machine_lines
from benchmarks.queue.chaos.torment import JOBS, PATIENCE_SECONDS, chaos_lines
from benchmarks.results_folder import command, results_folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument(
        "--patience", type=float, default=PATIENCE_SECONDS, help="seconds until an unfinished job counts as lost"
    )
    options = parser.parse_args()
    lines = ["# The job queue under chaos", "", f"`{command('queue.chaos')}` wrote this page.", "", *machine_lines()]
    text = "\n".join([*lines, *chaos_lines(options.jobs, options.patience)]) + "\n"
    (results_folder(quick=True) / "queue_chaos.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
