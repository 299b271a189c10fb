"""The list of approvals says where it ends before its end."""

import pytest
from tests.support.registry.registry_actions import submit
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import fip

from mudra.console.framework.page_results import RenderedPage
from mudra.console.pages.operator.approvals import _listed
from mudra.registry.lifecycle.pending_entries import PendingEntry

MAX_PENDING = 1000


@pytest.mark.parametrize(("waiting", "listed"), [(MAX_PENDING, 0), (MAX_PENDING + 1, MAX_PENDING)])
def test_a_list_that_is_cut_says_so(waiting: int, listed: int) -> None:
    after = submit(MemoryRegistry(), fip()).after
    one = PendingEntry("FIP-0", after.entity_type, after.status, after.pending, None)

    page = _listed([one] * waiting, {}, {})

    assert isinstance(page, RenderedPage)
    assert page.facts["listed"] == listed
