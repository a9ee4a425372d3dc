"""What was done to a quantity over a time range: one vocabulary for messages, index lines, the lexicon and tiles."""

from __future__ import annotations

from typing import Literal

Statistic = Literal[
    "instant", "avg", "accum", "max", "min", "diff", "sdiff", "rms", "sd", "cov", "ratio", "clim", "sum", "other"
]
# Where an accumulation begins: with the run, or later, at the last reset.
AccumulationStart = Literal["run", "bucket"]

# GRIB2 code table 4.10.
STATISTICS2: dict[int, Statistic] = {
    0: "avg", 1: "accum", 2: "max", 3: "min", 4: "diff", 5: "rms", 6: "sd", 7: "cov", 8: "sdiff", 9: "ratio", 11: "sum",
}  # fmt: skip
# GRIB1 table 5: time range indicators whose range is from P1 to P2.
STATISTICS1: dict[int, Statistic] = {3: "avg", 4: "accum", 5: "diff"}
