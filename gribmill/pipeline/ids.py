"""Run ids in job arguments: publishers' runs begin on the hour."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from gribmill.identity import IdentityError, RunId, run_time, whole_hour


def _published(run_id: str) -> str:
    try:
        whole_hour(run_time(run_id))
    except IdentityError as error:
        raise ValueError(str(error)) from None
    return run_id


PublishedRunId = Annotated[RunId, AfterValidator(_published)]
