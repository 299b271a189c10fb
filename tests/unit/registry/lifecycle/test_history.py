import datetime as dt

import pytest
from tests.support.registry.registry_actions import live, order, update
from tests.support.registry.registry_memory import START, MemoryRegistry
from tests.support.registry.registry_payloads import fip, with_key

from mudra.registry.lifecycle.decision import RegistryAction
from mudra.registry.lifecycle.history import KeyPeriod, history, key_periods

DAY = dt.timedelta(days=1)


@pytest.fixture
def registry():
    made = MemoryRegistry()
    live(made)
    return made


def test_a_former_key_stays_listed_with_its_dates(registry):
    first = registry.records["FIP-0"].live.key
    registry.now = START + DAY
    update(registry, fip(tags="Same key"))
    registry.now = START + 2 * DAY
    update(registry, with_key(fip(tags="Same key"), 1), approved=True)
    second = registry.records["FIP-0"].live.key

    assert key_periods(registry.records["FIP-0"]) == (
        KeyPeriod(first.kid, first.thumbprint, START, START + 2 * DAY),
        KeyPeriod(second.kid, second.thumbprint, START + 2 * DAY, None),
    )


def test_a_key_that_came_back_is_listed_twice_and_ends_with_its_entity(registry):
    registry.now = START + DAY
    update(registry, with_key(fip(), 1), approved=True)
    registry.now = START + 2 * DAY
    order(registry, RegistryAction.ROLL_BACK, version=1, reason="x")
    registry.now = START + 3 * DAY
    order(registry, RegistryAction.RETIRE, reason="x")

    periods = key_periods(registry.records["FIP-0"])

    assert [one.kid for one in periods] == ["kid-0", "kid-1", "kid-0"]
    assert [one.until for one in periods] == [START + DAY, START + 2 * DAY, START + 3 * DAY]


def test_a_key_that_was_never_live_is_not_among_the_keys(registry):
    update(registry, with_key(fip(), 1))
    order(registry, RegistryAction.REJECT, reason="x")

    assert [one.kid for one in key_periods(registry.records["FIP-0"])] == ["kid-0"]


def test_each_version_is_compared_with_the_one_it_was_to_replace(registry):
    update(registry, with_key(fip(), 1))
    order(registry, RegistryAction.REJECT, reason="x")
    update(registry, fip(tags="New"))

    steps = history(registry.records["FIP-0"])

    assert [[one.path for one in step.changes] for step in steps] == [
        [],
        ["$.entityinfo.certificate.kid", "$.entityinfo.certificate.n"],
        ["$.entityinfo.tags"],
    ]
    assert [step.version.status for step in steps] == ["superseded", "rejected", "live"]
