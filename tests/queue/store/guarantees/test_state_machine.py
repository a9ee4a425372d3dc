"""Random histories against the plain model: a fixed set in every run, new ones for minutes in the soak tests."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.queue.store.guarantees.queue_machine import QueueMachine
from tests.queue.store.guarantees.whole_queue_machine import WholeQueueMachine

pytestmark = pytest.mark.slow

CALM: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": False,
}


class PostgresMachine(QueueMachine):
    """Fewer and shorter histories: each step takes several round trips."""

    backend_name = "postgres"
    examples, steps, phases = 8, 50, (Phase.generate,)


class WholePostgresMachine(WholeQueueMachine):
    """The same with groups, templates and events."""

    backend_name = "postgres"
    examples, steps, phases = 8, 50, (Phase.generate,)


MACHINES = (WholeQueueMachine, pytest.param(WholePostgresMachine, marks=pytest.mark.postgres))


@pytest.mark.parametrize("machine", MACHINES)
def test_store_behaves_as_the_plain_model_on_fixed_histories(machine: type[QueueMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=machine.examples,
            stateful_step_count=machine.steps,
            phases=machine.phases,
            derandomize=True,
            **CALM,
        ),
    )


@pytest.mark.soak
@pytest.mark.parametrize("machine", MACHINES)
def test_store_behaves_as_the_plain_model_for_minutes(machine: type[QueueMachine]) -> None:
    until = time.monotonic() + 60 * float(os.environ.get("GRIBMILL_SOAK_MINUTES", "10"))
    while time.monotonic() < until:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=30,
                stateful_step_count=100,
                phases=[Phase.generate, Phase.shrink],
                derandomize=False,
                **CALM,
            ),
        )
