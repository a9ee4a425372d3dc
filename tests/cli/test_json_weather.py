"""The `--json` output of the commands for runs, tiles, models and regions, compared with goldens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import pytest

from gribmill.ingest.models.registry import load_models
from gribmill.pipeline.backfill.progress import BackfillState
from gribmill.pipeline.context import make_context
from gribmill.sandbox.forecast.forecast import Forecaster
from gribmill.sandbox.publication import plan, publish, roots
from gribmill.sandbox.publisher.server import Server
from gribmill.settings.schema import Settings
from tests.cli.conftest import Answer, Run
from tests.cli.golden_json import check_golden
from tests.pipeline.conftest import Scribe

RUN = "20261101_12"
NOW = datetime(2026, 11, 1, 14, 20, tzinfo=UTC)
MODEL = load_models()["hrrr"]
FILE = "hrrr.t12z.wrfsfcf0{hour}.grib2"


class Fixed(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Self:
        return cls.fromtimestamp(NOW.timestamp(), UTC)


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hours 0 to 2 of one made-up HRRR run on a thin grid."""
    made = tmp_path_factory.mktemp("made") / "cloud"
    forecaster = Forecaster(seed=0, coarse=60, only=frozenset({"t2m", "u10", "v10", "tp"}))
    list(publish(plan([MODEL], "0-2", NOW, run=RUN), made, forecaster))
    return made


@pytest.fixture
def gribs(cloud: Path) -> list[Path]:
    return sorted(cloud.rglob("*.grib2"))


@pytest.fixture
def server(cloud: Path) -> Iterator[Server]:
    with Server(cloud) as served:
        table = "".join(f'{name} = "{root}"\n' for name, root in roots([MODEL], served.url).items())
        Path("gribmill.toml").write_text(f"[roots]\n{table}")
        yield served


@pytest.fixture
def tiles(gribmill: Run, gribs: list[Path], data: Path) -> list[Path]:
    assert gribmill("cut", *map(str, gribs), "--region", "ne", "--model", "hrrr").code == 0
    return sorted((data / "tiles").rglob("0*.npz"))


def good(answer: Answer, code: int = 0) -> str:
    assert answer.code == code, answer.err
    return answer.out


def test_cut_matches_its_golden(gribmill: Run, gribs: list[Path], data: Path) -> None:
    words = ("cut", str(gribs[1]), "--region", "ne", "--model", "hrrr", "--vars", "t2m,cape", "--json")
    check_golden("cut", good(gribmill(*words)), data)


def test_tile_info_matches_its_golden(gribmill: Run, tiles: list[Path], data: Path) -> None:
    check_golden("tile info", good(gribmill("tile", "info", str(tiles[1]), "--json")), data)
    both = gribmill("tile", "info", *map(str, tiles[:2]), "--json").json
    assert [one["hour"] for one in both] == [0, 1]


def test_tile_verify_matches_its_golden(gribmill: Run, tiles: list[Path], gribs: list[Path], data: Path) -> None:
    words = ("tile", "verify", str(tiles[1]), "--grib", str(gribs[1]), "--json")
    check_golden("tile verify", good(gribmill(*words)), data)
    wrong = gribmill("tile", "verify", str(tiles[1]), "--grib", str(gribs[2]), "--json")
    assert (wrong.code, wrong.json[0]["good"]) == (1, False)


def test_tile_diff_matches_its_golden(gribmill: Run, tiles: list[Path]) -> None:
    words = ("tile", "diff", str(tiles[0]), str(tiles[1]), "--json")
    check_golden("tile diff", good(gribmill(*words), 1))
    assert gribmill("tile", "diff", str(tiles[0]), str(tiles[0]), "--json").json == []


def test_point_matches_its_golden(gribmill: Run, tiles: list[Path]) -> None:
    words = ("point", "42.36", "-71.06", "--vars", "t2m,ws10,tp", "--json")
    check_golden("point", good(gribmill(*words)))


def test_grib_ls_matches_its_golden(gribmill: Run, gribs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    damaged, none = folder / "damaged.grib2", folder / "none.grib2"
    damaged.write_bytes(gribs[0].read_bytes()[:-8])
    words = ("grib", "ls", str(gribs[1]), str(damaged), str(none), "--stats", "--json")
    check_golden("grib ls", good(gribmill(*words, flags=()), 1), folder, *_folders(gribs))


def _folders(paths: list[Path]) -> list[Path]:
    return sorted({path.parent for path in paths})


def test_fetch_matches_its_golden(gribmill: Run, server: Server) -> None:
    check_golden("fetch", good(gribmill("fetch", "hrrr", RUN, "1", "--vars", "t2m,u10,cape", "--json")))


def test_scan_matches_its_golden(gribmill: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    check_golden("scan", good(gribmill("scan", "hrrr", "--run", RUN, "--json")))
    monkeypatch.setenv("GRIBMILL_CHAIN_REGIONS", "ne")
    check_golden("scan", good(gribmill("scan", "hrrr", "--run", RUN, "--here", "--json")), case="--here")
    gribmill("jobs", "pause", "scan_source")
    check_golden("scan", good(gribmill("scan", "hrrr", "--here", "--json"), 1), case="--here, paused")


def test_event_matches_its_golden(gribmill: Run) -> None:
    key = MODEL.urls(NOW.replace(hour=12, minute=0), 1)[0].grib_url.removeprefix(MODEL.mirrors[0].root)
    event = json.dumps({"Records": [{"s3": {"object": {"key": key}}}]})
    check_golden("event s3", good(gribmill("event", "s3", "-", "--json", stdin=event)))


def test_backfill_matches_its_golden(gribmill: Run, server: Server) -> None:
    words = ("backfill", "hrrr", "--from", RUN, "--to", RUN, "--hours", "0-2", "--region", "ne", "--json")
    check_golden("backfill", good(gribmill(*words, "--vars", "t2m", "--dry-run")), case="--dry-run")
    check_golden("backfill", good(gribmill(*words)))
    with pytest.MonkeyPatch.context() as patch:
        ended = BackfillState(done=0, total=0, failed=2, active=0)
        patch.setattr("gribmill.cli.chain.backfill._wait_for_workers", lambda *_: ended)
        check_golden("backfill", good(gribmill(*words, "--wait"), 1), case="--wait")


def test_prune_matches_its_golden(gribmill: Run, data: Path) -> None:
    for run_id in ("20200101_00", "20200102_00"):
        (data / "tiles" / "hrrr" / run_id).mkdir(parents=True)
    check_golden("prune", good(gribmill("prune", "--dry-run", "--json")), case="--dry-run")


def test_status_matches_its_golden(gribmill: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gribmill.pipeline.status.overview.datetime", Fixed)
    monkeypatch.setenv("GRIBMILL_CHAIN_MODELS", "hrrr")
    monkeypatch.setenv("GRIBMILL_CHAIN_REGIONS", "ne,texas")
    context = make_context(Settings(data=data))
    scribe = Scribe(context.catalogue, context.root)
    scribe.run(RUN, [0, 1, 2])
    scribe.hour(RUN, 0, ["ne", "texas"])
    for region in ("ne", "texas"):
        scribe.tile(RUN, 0, region)
    scribe.hour(RUN, 1, ["ne", "texas"])
    scribe.tile(RUN, 1, "ne")
    check_golden("status", gribmill("status", "hrrr", "--json").out)


def test_models_match_their_goldens(gribmill: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for verb in ("listing", "check"):
        monkeypatch.setattr(f"gribmill.cli.chain.models.{verb}.datetime", Fixed)
    check_golden("models list", good(gribmill("models", "list", "--json")))
    check_golden("models show", good(gribmill("models", "show", "hrrr", "--json")), case="a model")
    check_golden("models show", good(gribmill("models", "show", "gefs", "--json")), case="a family")
    check_golden("models check", good(gribmill("models", "check", "hrrr", "--json")))


def test_regions_match_their_goldens(gribmill: Run) -> None:
    check_golden("regions list", good(gribmill("regions", "list", "--at", "42.36,-71.06", "--json")))
    check_golden("regions show", good(gribmill("regions", "show", "ne", "--grid", "gfs", "--json")))
    check_golden(
        "regions show", good(gribmill("regions", "show", "--bbox", "170,-20,-170,-10", "--json")), case="--bbox"
    )
    Path("gribmill.toml").write_text(
        '[regions.here]\nbox = [1, 2, 3, 4]\nresolution = 0.5\nencoding = "packed"\n[regions.bad]\nbox = [1]\n'
    )
    check_golden("regions check", good(gribmill("regions", "check", "--json"), 1))


def test_config_matches_its_golden(gribmill: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRIBMILL_WORKERS_LANES", "{fetch = 7}")
    Path("gribmill.toml").write_text('[regions.here]\nbox = [1, 2, 3, 4]\n[models.mine]\nlike = "hrrr"\n')
    check_golden("config show", good(gribmill("config", "show", "--json")), data)
