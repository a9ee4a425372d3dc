"""`gribmill point` as people see it: in terminals of several widths, in a pipe, for many places, by days."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.tiles.make_tile import make_tile

RUN = "20261117_00"
DOZEN = ("t2m", "d2m", "rh2m", "ws10", "wdir10", "gust", "mslp", "tp", "asnow", "tcc", "vis", "cape")
# Name: unit, value at hour 0, change per hour. Thirty variables of a real run.
INSTANTS: dict[str, tuple[str, float, float]] = {
    "t2m": ("K", 276.35, -0.3), "d2m": ("K", 265.55, 0.4), "rh2m": ("%", 45, 2), "u10": ("m s-1", -0.4, 0.1),
    "v10": ("m s-1", 5.8, 0.4), "gust": ("m s-1", 8.8, 0.9), "mslp": ("Pa", 101820, -25), "sp": ("Pa", 101800, -25),
    "prate": ("kg m-2 s-1", 0, 0.0001), "snod": ("m", 0, 0), "refc": ("dBZ", -10, 3), "tcc": ("%", 1, 6),
    "vis": ("m", 24000, -500), "cape": ("J kg-1", 0, 10), "cin": ("J kg-1", 0, -1), "dswrf": ("W m-2", 0, 5),
    "pwat": ("kg m-2", 4.6, 0.1), "hpbl": ("m", 266, 5), "ceil": ("m", 20000, -50), "crain": ("1", 0, 0),
    "csnow": ("1", 0, 0), "hcc": ("%", 60, 1), "lcc": ("%", 0, 1), "mcc": ("%", 0, 1), "orog": ("m", 5, 0),
    "skt": ("K", 275, 0), "q2m": ("kg kg-1", 0.002, 0), "u80": ("m s-1", 1, 0), "v80": ("m s-1", 2, 0),
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-seven hours of a run, and one hour of the next."""
    made = tmp_path_factory.mktemp("weather")
    for hour in range(27):
        hourly(made, RUN, hour)
    hourly(made, "20261117_01", 0)
    latest = {
        "regions": {"boston": {"complete": RUN, "newest": "20261117_01"}},
        "hours": {RUN: 27, "20261117_01": 19},
    }
    (made / "tiles/hrrr/latest.json").write_text(json.dumps(latest))
    return made


def hourly(root: Path, run: str, hour: int) -> None:
    fields: dict[str, tuple[float, dict[str, Any]]] = {
        name: (first + change * hour, {"units": units, "long_name": name})
        for name, (units, first, change) in INSTANTS.items()
    }
    if hour:
        window = {"units": "kg m-2", "statistic": "accum", "step_minutes": (0, hour * 60)}
        fields |= {"tp": (0.5 * hour, window), "asnow": (0.0, {**window, "units": "m"})}
    make_tile(root, fields, run=run, minutes=hour * 60)  # type: ignore[arg-type]


def in_terminal(width: int, *words: str | Path) -> list[str]:
    """The lines that a command shows in a terminal of that width."""
    inner, outer = pty.openpty()
    fcntl.ioctl(outer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "gribmill", *map(str, words)], stdin=outer, stdout=outer, stderr=outer, env=environment
    )
    os.close(outer)
    seen = b""
    while True:
        try:
            chunk = os.read(inner, 65536)
        except OSError:  # the terminal is closed: the process has ended
            break
        if not chunk:
            break
        seen += chunk
    os.close(inner)
    assert process.wait() == 0, seen.decode()
    return seen.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.process
def test_a_terminal_of_80_columns_shows_a_readable_table(root: Path) -> None:
    lines = in_terminal(80, "--data", root, "point", "42.36", "-71.06")
    assert lines[:9] == [
        "hrrr boston, run 20261117_00 (the newest complete run; 1 of 19 hours of",
        "20261117_01 are here)",
        "grid point 42.365, -71.061, 0.6 km away (nearest); times are UTC",
        "                     t2m   d2m  rh2m  ws10  wdir10  gust    mslp   tp  tcc   vis",
        "time UTC      hour    °C    °C     %   m/s       °   m/s     hPa   mm    %    km",
        "Tue 17 00:00    +0   3.2  -7.6    45   5.8     176   8.8  1018.2         1  24.0",
        "Tue 17 01:00    +1   2.9  -7.2    47   6.2     177   9.7  1018.0  0.5    7  23.5",
        "Tue 17 02:00    +2   2.6  -6.8    49   6.6     178  10.6  1017.7  0.5   13  23.0",
        "Tue 17 03:00    +3   2.3  -6.4    51   7.0     179  11.5  1017.5  0.5   19  22.5",
    ]
    assert lines[-1] == "21 more: --vars NAME,… (such as sp,prate) or --all"
    assert len(lines) == 5 + 27 + 1
    assert max(map(len, lines)) <= 80


@pytest.mark.process
@pytest.mark.parametrize(("width", "columns"), [(40, 3), (120, 12), (200, 12)])
def test_as_many_of_the_dozen_columns_as_fit_are_shown_on_one_line_each(root: Path, width: int, columns: int) -> None:
    lines = in_terminal(width, "--data", root, "point", "42.36", "-71.06")
    assert max(map(len, lines)) <= width
    units = next(line for line in lines if line.startswith("time UTC"))
    names = lines[lines.index(units) - 1].split()
    assert len(names) == columns
    assert f"{31 - columns} more: " in " ".join(lines[-3:])
    assert len([line for line in lines if line.startswith(("Tue", "Wed"))]) == 27


@pytest.mark.process
def test_all_variables_are_shown_in_tables_below_each_other(root: Path) -> None:
    lines = in_terminal(80, "--data", root, "point", "42.36", "-71.06", "--all")
    assert max(map(len, lines)) <= 80
    names = [name for at, line in enumerate(lines) if line.startswith("time UTC") for name in lines[at - 1].split()]
    assert len(names) == len({*names}) == 31
    assert not any(" more: " in line for line in lines)


@pytest.mark.process
def test_a_day_table_fits_80_columns_and_shows_minimum_with_maximum(root: Path) -> None:
    lines = in_terminal(80, "--data", root, "point", "42.36", "-71.06", "--daily")
    assert max(map(len, lines)) <= 80
    at = next(at for at, line in enumerate(lines) if line.startswith("day"))
    assert lines[at - 1].split() == ["t2m", "t2m", "tp", "ws10", "gust"]
    assert lines[at + 1].split() == ["Tue", "2026-11-17", "24/24", "-3.7", "3.2", "12.0", "15.1", "29.5"]
    assert lines[at + 2].split() == ["Wed", "2026-11-18", "3/24", "-4.6*", "-4.0*", "-*", "16.3*", "32.2*"]


def test_a_pipe_has_the_same_columns_and_comments_above_them(gribmill: Run, root: Path) -> None:
    answer = gribmill("point", "42.36", "-71.06", flags=("--data", str(root)))
    run, grid_point, names, _, first, *rest = answer.out.splitlines()
    assert run == f"# hrrr boston, run {RUN} (the newest complete run; 1 of 19 hours of 20261117_01 are here)"
    assert grid_point.startswith("# grid point ")
    assert names.split() == [*DOZEN]
    assert first.startswith("Tue 2026-11-17 00:00    +0")
    assert len(rest) == 26
    assert answer.err == "19 more: --vars NAME,… (such as sp,prate) or --all\n"


def test_every_form_of_output_says_which_run_and_why(gribmill: Run, root: Path) -> None:
    words = ("point", "42.36", "-71.06", "--run", "newest", "--vars", "t2m")
    sentence, flags = "the newest run; 1 of 19 hours are here", ("--data", str(root))
    assert sentence in gribmill(*words, flags=flags).out
    assert gribmill(*words, "--json", flags=flags).json["run_choice"]["sentence"] == sentence
    (row,) = csv.DictReader(io.StringIO(gribmill(*words, "--csv", flags=flags).out))
    assert (row["run"], row["run choice"]) == ("20261117_01", sentence)
    complete = ("point", "42.36", "-71.06", "--vars", "t2m,tp")
    assert "the newest complete run" in gribmill(*complete, "--plot", flags=flags).out


def test_seamless_table_shows_the_run_of_each_row(gribmill: Run, root: Path) -> None:
    answer = gribmill("point", "42.36", "-71.06", "--run", "seamless", "--vars", "t2m", flags=("--data", str(root)))
    assert "runs 20261117_01 and 20261117_00 (seamless: " in answer.out
    rows = [line.split() for line in answer.out.splitlines() if line.startswith(("Tue", "Wed"))]
    assert [row[4] for row in rows[:2]] == ["20261117_01", "20261117_00"]


def test_local_time_is_in_tables_csv_and_meteograms(gribmill: Run, root: Path) -> None:
    words = ("point", "42.36", "-71.06", "--tz", "America/New_York", "--vars", "t2m")
    table = gribmill(*words, flags=("--data", str(root))).out
    assert "times are America/New_York" in table
    assert "Mon 2026-11-16 19:00 EST    +0" in table
    first = next(csv.DictReader(io.StringIO(gribmill(*words, "--csv", flags=("--data", str(root))).out)))
    assert first["time"] == "2026-11-16T19:00:00-05:00"
    drawn = gribmill(*words, "--plot", flags=("--data", str(root))).out.splitlines()
    assert drawn[-1].endswith("  EST") and "Tue 17 Nov" in drawn[-1]
    assert "19" not in drawn[-2].split()[1:2]
    assert "there is no time zone" in gribmill(*words, "--tz", "Nowhere", flags=("--data", str(root))).err


def test_places_of_a_file_as_tables_json_and_csv(gribmill: Run, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "stations.csv"
    file.write_text("name,lat,lon\nBoston,42.36,-71.06\nSalem,42.52,-70.90\n")
    words, flags = ("point", "--places", str(file), "--vars", "t2m,tp"), ("--data", str(root))
    table = gribmill(*words, flags=flags).out
    assert "# Boston (42.36, -71.06): hrrr boston" in table and "# Salem (42.52, -70.9): hrrr boston" in table
    both = gribmill(*words, "--json", flags=flags).json
    assert [one["place"]["name"] for one in both] == ["Boston", "Salem"]
    rows = list(csv.DictReader(io.StringIO(gribmill(*words, "--csv", flags=flags).out)))
    assert len(rows) == 54 and {row["place"] for row in rows} == {"Boston", "Salem"}
    days = list(csv.DictReader(io.StringIO(gribmill(*words, "--csv", "--daily", flags=flags).out)))
    assert [(row["place"], row["tp sum [mm]"], row["tp whole"]) for row in days[:2]] == [
        ("Boston", "12", "true"), ("Boston", "", "false"),
    ]  # fmt: skip
    assert [len(one["days"]) for one in gribmill(*words, "--json", "--daily", flags=flags).json] == [2, 2]


def test_place_outside_is_named_and_the_others_are_printed(gribmill: Run, root: Path, tmp_path: Path) -> None:
    file = tmp_path / "stations.csv"
    file.write_text("Atlantis,0,0\nBoston,42.36,-71.06\n")
    answer = gribmill("point", "--places", str(file), "--json", flags=("--data", str(root)))
    assert answer.code == 1
    assert [one["place"]["name"] for one in answer.json] == ["Boston"]
    assert "has a forecast for Atlantis (0, 0): none of the regions contains it" in answer.err


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("42.36",),
        ("42.36", "-71.06", "--places", "x.csv"),
        ("--places", "x.csv", "--plot"),
        ("42.36", "-71.06", "--daily", "--plot"),
        ("42.36", "-71.06", "--json", "--csv"),
    ],
)
def test_conflicting_options_are_usage_errors(gribmill: Run, words: tuple[str, ...]) -> None:
    assert gribmill("point", *words).code == 2


def test_wrong_input_is_one_sentence(gribmill: Run, root: Path, tmp_path: Path) -> None:
    flags = ("--data", str(root))
    assert gribmill("point", "42", "-71", "--run", "latest", flags=flags).err.endswith(
        ": 'latest' is not a run: use complete, newest, seamless or YYYYMMDD_HH, such as 20230125_12\n"
    )
    (tmp_path / "bad.csv").write_text("Boston,42.36,-71.06\nSalem,x,y\n")
    answer = gribmill("point", "--places", str(tmp_path / "bad.csv"), flags=flags)
    assert answer.err.endswith("bad.csv, line 2: 'x' is not a latitude: use degrees, such as 42.36\n")


@pytest.mark.process
def test_a_table_is_printed_without_xarray_pandas_rich_and_time_zones(root: Path) -> None:
    code = (
        "import sys\nfrom gribmill.cli.main import main\n"
        f"try:\n    main(['--data', {str(root)!r}, 'point', '42.36', '-71.06'])\nexcept SystemExit:\n    pass\n"
        "names = ('xarray', 'pandas', 'rich', 'eccodes', 'requests', 'matplotlib', 'gribmill.views.data.point')\n"
        "heavy = [name for name in names if name in sys.modules]\nassert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
