"""Any file and any selection: the spool file is the selected messages, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gribmill.ingest.download.download import download
from gribmill.ingest.download.errors import Permanent
from gribmill.ingest.http.client import SourceSession
from gribmill.ingest.index.select import wanted
from tests.ingest.conftest import hrrr_at, publish
from tests.ingest.server import Publisher, serving
from tests.ingest.small_grib import FIELDS, RUN, WANTED, SmallFile, make_file

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shared() -> Iterator[Publisher]:
    with serving() as one:
        yield one


@st.composite
def files(draw: st.DrawFn) -> SmallFile:
    names = draw(st.permutations(list(FIELDS)))
    names = names[: draw(st.integers(1, len(names)))]
    groups: list[tuple[str, ...]] = []
    for name in names:
        alike = groups and FIELDS[groups[-1][0]].parameter[0] == FIELDS[name].parameter[0]
        if alike and draw(st.integers(0, 3)) == 0:
            groups[-1] = (*groups[-1], name)
        else:
            groups.append((name,))
    sizes = draw(st.lists(st.sampled_from([0, 1, 40, 900, 20_000]), min_size=len(groups), max_size=len(groups)))
    return make_file(groups, sizes, seed=draw(st.integers(0, 9)))


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(file=files(), chosen=st.sets(st.sampled_from(WANTED), min_size=1))
def test_the_spool_is_the_concatenation_of_the_chosen_messages(
    shared: Publisher, tmp_path: Path, file: SmallFile, chosen: set[str]
) -> None:
    target = tmp_path / "001.grib2"
    target.unlink(missing_ok=True)
    shared.objects.clear()
    shared.requests.clear()
    publish(shared, file)
    there = {name for names in file.names for name in names}
    with SourceSession() as session:
        if not chosen & there:
            with pytest.raises(Permanent):
                download(hrrr_at(shared), RUN, 1, wanted(sorted(chosen)), target, session=session)
            return
        got = download(hrrr_at(shared), RUN, 1, wanted(sorted(chosen)), target, session=session)
    assert target.read_bytes() == file.spool(chosen)
    assert (set(got.found), set(got.missing)) == (chosen & there, chosen - there)
    assert got.way == "index"
    assert got.requested_bytes - len(file.idx) - 16 <= 1.1 * got.bytes
    assert len(shared.requests) == got.requests <= len(file.names) + 3
