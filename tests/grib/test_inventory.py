"""`gribmill grib ls`: what a file holds, for people and for scripts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from gribmill.cli.data.grib.group import grib
from gribmill.grib.inventory import inventory
from gribmill.sandbox.grib_writer.sections import multi_field
from tests.make_grib import GRIDS, make_message, smooth_values, write
from tests.real_files import real


def ls(*arguments: object) -> Result:
    return CliRunner().invoke(grib, ["ls", *map(str, arguments)])


@pytest.fixture
def hour(tmp_path: Path) -> Path:
    pair = [make_message(short_name=name, packing="grid_simple") for name in ("10u", "10v")]
    holed = smooth_values(GRIDS["hrrr-small"].shape)
    holed[:2] = np.nan
    messages = [
        make_message(values=holed),
        multi_field(pair),
        make_message(short_name="tp", window=(0, 1)),
        make_message("ecmwf-small", "2t", edition=1, packing="grid_simple", step=6),
    ]
    return write(tmp_path / "hour.grib2", messages)


@pytest.mark.parametrize(
    ("step", "unit", "text"),
    [(6, "h", "6 h"), (120, "m", "2 h"), (75, "m", "75 min"), (120, "s", "2 min"), (90, "s", "90 s")],
)
def test_steps_are_shown_in_the_largest_unit_that_divides_them(step: int, unit: str, text: str, tmp_path: Path) -> None:
    message = make_message(step=step, step_units=unit, packing="grid_simple")
    (entry,) = inventory(write(tmp_path / "f.grib2", [message]))
    assert entry.step == text


def test_each_field_has_a_line_with_its_name_level_step_grid_and_packing(hour: Path) -> None:
    result = ls(hour)
    assert result.exit_code == 0, result.output
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["#", "byte", "name", "level", "step", "grid", "packing", "size", "of"]
    assert lines[4].endswith("  od oper an")
    assert [line.split()[0] for line in lines] == ["1", "2.1", "2.2", "3", "4"]
    assert [line.split()[2] for line in lines] == ["t2m", "u10", "v10", "tp", "t2m"]
    assert " ".join(lines[0].split()[2:10]) == "t2m 2 m above ground 1 h Lambert"
    assert "Lambert 90×60  " in lines[0]
    assert lines[0].split()[-3:-1] == ["complex+diff", "bitmap"]
    assert "0-1 h accum" in lines[3]
    assert "lat-lon 144×73" in lines[4]


def test_json_holds_everything(hour: Path) -> None:
    (listed,) = json.loads(ls("--json", "--stats", hour).stdout)
    assert listed["file"] == str(hour)
    first = listed["fields"][0]
    assert first["name"] == "t2m"
    assert first["units"] == "K"
    assert first["parameter"] == [0, 0, 0]
    assert first["reference"] == "2026-09-01T12:00:00+00:00"
    assert first["stats"]["missing"] == 180
    assert 250 < first["stats"]["min"] < first["stats"]["mean"] < first["stats"]["max"] < 320
    assert listed["fields"][2]["number"] == "2.2"
    assert listed["fields"][2]["offset"] == listed["fields"][1]["offset"] == first["length"]


def test_a_damaged_message_is_listed_with_its_reason_and_the_rest_too(hour: Path, tmp_path: Path) -> None:
    whole = hour.read_bytes()
    broken = whole[:-4] + b"oops" + make_message(values=1.0)
    path = write(tmp_path / "broken.grib2", [broken])
    result = ls(path)
    assert result.exit_code == 1
    assert [line.split()[2] for line in result.stdout.splitlines()[1:]] == [
        "t2m",
        "u10",
        "v10",
        "tp",
        "damaged",
        "t2m_2",
    ]
    assert "damaged: message 4 at byte" in result.stderr
    assert "do not end with 7777" in result.stderr


def test_a_field_that_cannot_be_decoded_is_reported_with_stats(tmp_path: Path) -> None:
    lying = bytearray(make_message(packing="grid_simple"))
    place = lying.index(b"\0\0\0\x15\5")
    lying[place + 19] = 40
    path = write(tmp_path / "lying.grib2", [bytes(lying), make_message(values=1.0)])
    assert ls(path).exit_code == 0
    result = ls("--stats", path)
    assert result.exit_code == 1
    assert (
        "damaged: message 1 at byte 0: its 10800 bytes of data are too few for 5400 values of 40 bits" in result.stderr
    )
    assert len(result.stdout.splitlines()) == 3


def test_several_files_and_a_missing_one(hour: Path, tmp_path: Path) -> None:
    result = ls(hour, tmp_path / "none.grib2", hour)
    assert result.exit_code == 1
    assert result.stdout.count("hour.grib2") == 2
    assert "none.grib2: cannot be read: No such file" in result.stderr


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    result = ls(write(tmp_path / "empty.grib2", []))
    assert result.exit_code == 1
    assert "no GRIB message in its 0 bytes" in result.stderr


@pytest.mark.parametrize(
    ("name", "column", "words"),
    [
        ("adversarial/rap-native.gdt32768.240B.grib2", "grid", "NCEP rotated 7×5"),
        ("adversarial/ifs-ocean.20260714.unstructured.ccsds.grib2", "grid", "unstructured 1740494"),
        ("ecmwf/ifs.20260714.00z.O1280.2t.mtg2.grib2", "grid", "reduced Gaussian 6599680"),
        ("adversarial/template_4_65535.grib2", "grid", "transverse Mercator 20×20"),
        ("noaa/nbm.20260616.t12z.f001.PWAT-prob-above.grib2", "name", "pwat_prob_gt_12p7"),
        ("noaa/hrrr.20221014.t01z.wrfsubh.REFC+VBDSF-15min.grib2", "step", "15 min"),
        ("adversarial/tilde_shortname.grib", "short_name", "~"),
    ],
)
def test_any_kind_of_grib_can_be_listed(name: str, column: str, words: str) -> None:
    (listed,) = json.loads(ls("--json", real(name)).stdout)
    assert listed["fields"][0][column] == words


def loaded(*arguments: Any) -> set[str]:
    code = (
        "import sys; from gribmill.cli.main import cli; "
        "cli(sys.argv[1:], standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "grib", "ls", *map(str, arguments)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


@pytest.mark.process
def test_listing_what_the_lexicon_knows_loads_nothing_large(hour: Path) -> None:
    """Headers are read without ecCodes, NumPy and settings, which take longer to load than a file to list."""
    assert not {"eccodes", "numpy", "pydantic"} & loaded(hour)
    assert {"eccodes", "numpy"} <= loaded("--stats", hour)


@pytest.mark.process
def test_a_whole_gfs_file_is_listed_without_eccodes() -> None:
    assert not {"eccodes", "numpy"} & loaded(real("noaa/gfs.20221107.t00z.pgrb2.1p00.f024.FULL.grib2"))
