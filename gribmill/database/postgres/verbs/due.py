"""Whether a schedule is due, without locks."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gribmill.database.postgres.session import PostgresSession


def any_trigger_due(tx: PostgresSession, types: Sequence[str]) -> bool:
    return bool(tx.rows("triggers/any_due", {"now": tx.stamp, "types": json.dumps([*types])}))
