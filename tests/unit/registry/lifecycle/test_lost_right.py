"""registry/lifecycle/acts/register.py: a right that ended while its holder waited for the lock."""

import pytest
from tests.support.registry.registry_actions import ADMIN, OPERATOR, live, order, submit, update
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import fip, with_key

from mudra.registry.lifecycle.decision import RegistryAction
from mudra.registry.lifecycle.refusal import NOT_YOUR_ENTRY, NeedsOperator


@pytest.fixture
def registry() -> MemoryRegistry:
    """A registry with a live entry, whose admin and operator have just lost their rights."""
    found = MemoryRegistry()
    live(found)
    found.lost = {(ADMIN.name, "FIP-0"), (OPERATOR.name, "FIP-0"), (OPERATOR.name, "FIP-1")}
    return found


@pytest.mark.parametrize("action", RegistryAction)
def test_an_operator_decides_nothing_by_it(
    registry: MemoryRegistry, action: RegistryAction
) -> None:
    refused = order(registry, action, version=1, reason="a test")

    assert isinstance(refused, NeedsOperator)
    assert registry.refusals[-1][:3] == (action, "FIP-0", OPERATOR.name)
    assert len(registry.kept) == 2


def test_nor_submits_or_imports_an_entry(registry: MemoryRegistry) -> None:
    for approved in (False, True):
        assert isinstance(submit(registry, fip(1), approved=approved), NeedsOperator)
        assert isinstance(update(registry, with_key(fip(), 7), approved=approved), NeedsOperator)


def test_an_admin_changes_and_retires_nothing_by_it(registry: MemoryRegistry) -> None:
    assert update(registry, with_key(fip(), 7), ADMIN) == NOT_YOUR_ENTRY
    retired = order(registry, RegistryAction.RETIRE, actor=ADMIN, reason="a test")
    assert retired == NOT_YOUR_ENTRY
