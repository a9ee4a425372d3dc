"""Published files from Python: their inventory, and downloads by a search, from mirrors on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import gribmill as library
from gribmill.errors import GribmillError
from gribmill.grib.inventory import inventory as fields_of
from gribmill.ingest.download.errors import DownloadFailed
from gribmill.ingest.models.registry import load_models
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import plan, publish, roots
from gribmill.sandbox.publisher.fault import Fault
from gribmill.sandbox.publisher.faults import Faults
from gribmill.sandbox.publisher.server import Server
from tests.cli.conftest import Run
from tests.cli.golden_json import check_golden

RUN = "20261101_12"
NOW = datetime(2026, 11, 1, 18, tzinfo=UTC)
MODELS = load_models()
NAMES = frozenset({"t2m", "d2m", "u10", "v10", "tp", "gust", "t_850", "gh_500"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("published")
    for name, hours, coarse in (("hrrr", "1-2", 60), ("ifs", "3", 30)):
        forecaster = Forecaster(seed=0, coarse=coarse, only=NAMES)
        list(publish(plan([MODELS[name]], hours, NOW, run=RUN), made, forecaster))
    return made


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with Server(folder) as served:
        settings(served)
        yield served


def settings(server: Server) -> None:
    table = roots([MODELS["hrrr"], MODELS["ifs"]], server.url)
    lines = ['data = "data"', "[roots]", *(f'{name} = "{root}"' for name, root in table.items())]
    Path("gribmill.toml").write_text("\n".join(lines))


def test_an_inventory_has_names_levels_times_and_byte_ranges(server: Server) -> None:
    found = library.inventory("hrrr", RUN, 2)
    by_name = {one.name: one for one in found}
    t2m = by_name["t2m"]
    assert (t2m.element, t2m.level, t2m.time) == ("TMP", "2 m above ground", "2 hour fcst")
    assert t2m.line == ":TMP:2 m above ground:2 hour fcst:"
    assert by_name["tp"].time == "0-2 hour acc fcst"
    assert [one.start for one in found][1:] == [one.end for one in found][:-1]
    assert not any(request.key.endswith(".grib2") and request.method == "GET" for request in server.seen), "no GRIB"
    frame = found.to_dataframe()
    assert list(frame.columns)[:5] == ["number", "name", "element", "level", "time"]
    assert len(frame) == len(found)


@pytest.mark.parametrize("run", [RUN, datetime(2026, 11, 1, 12), datetime(2026, 11, 1, 12, tzinfo=UTC)])  # noqa: DTZ001
def test_a_search_downloads_only_the_messages_that_match(server: Server, run: str | datetime) -> None:
    got = library.fetch("hrrr", run, 2, search=r":(TMP|DPT):2 m above ground:")
    assert got.found == ("TMP:2 m above ground:2 hour fcst", "DPT:2 m above ground:2 hour fcst")
    assert (got.messages, got.mirror, got.run) == (2, "aws-hrrr", RUN)
    assert [entry.name for entry in fields_of(got.path)] == ["t2m", "d2m"]
    whole = library.inventory("hrrr", RUN, 2)
    assert got.bytes == sum((one.end or 0) - one.start for one in whole if one.name in ("t2m", "d2m"))
    opened = got.to_xarray()
    assert {"t2m", "d2m"} <= {*opened.data_vars}


def test_variables_and_levels_of_several_kinds_open_as_one_dataset(server: Server, tmp_path: Path) -> None:
    got = library.fetch("hrrr", RUN, 2, variables=["t2m", "u10", "v10", "tp"], out=tmp_path / "some.grib2")
    assert got.path == tmp_path / "some.grib2"
    assert len(got.datasets()) > 1
    opened = got.to_xarray()
    assert {"t2m", "u10", "v10", "tp"} <= {*opened.data_vars}
    assert opened["t2m"].attrs["heightAboveGround"] == 2.0
    assert opened["u10"].attrs["heightAboveGround"] == 10.0


def test_lines_of_ecmwf_are_searched_by_parameter_level_and_kind(server: Server) -> None:
    found = library.inventory("ifs", RUN, 3, search=":t:850:pl:")
    assert [one.name for one in found] == ["t_850"]
    got = library.fetch("ifs", RUN, 3, search=":(2t|gh:500):")
    assert sorted(entry.name or "" for entry in fields_of(got.path)) == ["gh_500", "t2m"]


def test_each_search_has_its_own_file(server: Server) -> None:
    one, other = (library.fetch("hrrr", RUN, 1, search=text) for text in (":TMP:2 m", ":DPT:2 m"))
    assert one.path != other.path
    assert Path(one) == one.path


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: library.fetch("hrrr", RUN, 2, search="(TMP"), "is not a regular expression"),
        (lambda: library.fetch("hrrr", RUN, 2, search=""), "a search has 1 to"),
        (lambda: library.fetch("hrrr", RUN, 2, search=":SNOW:"), "no line of .* matches ':SNOW:'"),
        (lambda: library.fetch("hrrr", RUN, 2, search=":TMP:", variables=["t2m"]), "either variables or a search"),
        (lambda: library.fetch("hrrr", RUN, 2, variables=["t2n"]), "there is no variable 't2n'"),
        (lambda: library.fetch("gefs", RUN, 2), "gefs has .* members; name one"),
        (lambda: library.fetch("hrrr", "yesterday", 2), "is not a run"),
        (lambda: library.fetch("hrrr", datetime(2026, 11, 1, 12, 30), 2), "runs begin on the hour"),  # noqa: DTZ001
        (lambda: library.inventory("hrrr", RUN, 99), "hrrr has no hour 99"),
        (lambda: library.inventory("hrrr", RUN, 17), "hrrr 20261101_12 hour 17: aws-hrrr: "),
    ],
)
def test_invalid_requests_are_refused_with_a_sentence_and_leave_no_file(
    server: Server, call: object, sentence: str
) -> None:
    with pytest.raises(GribmillError, match=sentence):
        call()  # type: ignore[operator]
    assert list(Path().glob("*.grib2")) == []


def test_a_changed_file_under_an_old_index_is_not_accepted(folder: Path) -> None:
    with Server(folder, Faults([Fault("stale-idx")], seed=0)) as stale:
        settings(stale)
        with pytest.raises(DownloadFailed):
            library.fetch("hrrr", RUN, 2, search=":TMP:2 m above ground:")
    assert list(Path().glob("*.grib2")) == []


def test_the_command_lists_fields_and_its_search_fits_fetch(gribmill: Run, server: Server) -> None:
    answer = gribmill("inventory", "hrrr", RUN, "2", "--search", ":2 m above ground:")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0].split() == ["number", "name", "line", "size"]
    assert [line.split()[1] for line in lines[1:]] == ["t2m", "d2m"]
    assert "2 fields of http://" in answer.err
    check_golden("inventory", gribmill("inventory", "hrrr", RUN, "2", "--search", ":TMP:", "--json").out)
    fetched = gribmill("fetch", "hrrr", RUN, "2", "--search", ":2 m above ground:", "--json")
    assert fetched.json["found"] == ["TMP:2 m above ground:2 hour fcst", "DPT:2 m above ground:2 hour fcst"]
    assert gribmill("inventory", "hrrr", RUN, "2", "--search", ":SNOW:").code == 1
    assert gribmill("fetch", "hrrr", RUN, "2", "--search", "x", "--vars", "t2m").code == 2
