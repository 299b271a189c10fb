"""The list of approvals says where it ends before its end."""

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.registry.registry_actions import submit
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import fip

from mudra.console.framework.page_results import RenderedPage
from mudra.console.pages.operator.approvals import _listed
from mudra.registry.lifecycle.pending_entries import PendingEntry
from mudra.registry.probe.probe import Probe, ProbeResult

MAX_PENDING = 1000
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
NO_CERTIFICATE = ProbeResult(200, "", "no signature")


@pytest.mark.parametrize(("waiting", "listed"), [(MAX_PENDING, 0), (MAX_PENDING + 1, MAX_PENDING)])
def test_a_list_that_is_cut_says_so(waiting: int, listed: int) -> None:
    after = submit(MemoryRegistry(), fip()).after
    one = PendingEntry("FIP-0", after.entity_type, after.status, after.pending, None)

    page = _listed([one] * waiting, {}, {}, {}, {}, NOW)

    assert isinstance(page, RenderedPage)
    assert page.facts["listed"] == listed


@pytest.mark.parametrize(
    ("of_version", "result", "shown"),
    [
        (0, ProbeResult(200, "", ""), "key proven"),
        (0, NO_CERTIFICATE, "answers"),
        (0, ProbeResult(0, "timed out", "no answer"), "no answer"),
        (0, None, "is being called"),
        (1, ProbeResult(200, "", ""), "not probed"),
    ],
)
def test_a_row_says_how_long_it_waits_and_what_the_probe_of_this_version_found(
    of_version: int, result: ProbeResult | None, shown: str
) -> None:
    after = submit(MemoryRegistry(), fip()).after
    one = PendingEntry("FIP-0", after.entity_type, after.status, after.pending, None)
    number, submitted = one.pending.number + of_version, one.pending.submitted_at
    probe = Probe("1", "FIP-0", number, "operator:a@b.example", NOW, NOW, result)

    now = submitted + timedelta(minutes=3, seconds=20)
    page = _listed([one], {}, {}, {}, {"FIP-0": probe}, now)

    assert isinstance(page, RenderedPage)
    values = [cell.value for cell in page.facts["view"].rows[0]]
    assert shown in values
    assert "3 min" in values
