"""registry/lifecycle/grants.py: who is a second person (decision 0189)."""

from datetime import timedelta

import pytest
from tests.support.registry.registry_actions import order, submit, update
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import fip, with_key

from mudra.registry.lifecycle.actor import Actor, ActorKind, member_admin, operator
from mudra.registry.lifecycle.decision import Decision, RegistryAction
from mudra.registry.lifecycle.grants import Grant
from mudra.registry.lifecycle.refusal import SecondOperatorNeeded, SecondOperatorTied

APPROVE = RegistryAction.APPROVE
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
ASHA = member_admin("asha", ["FIP-0"])
ENTITY = Actor(ActorKind.ENTITY, "entity:FIP-0", frozenset({"FIP-0"}))


def of(name: str) -> Actor:
    return operator(f"operator:{name}@network.example", user_id=name)


@pytest.fixture
def registry() -> MemoryRegistry:
    """A registry with a live entry, in a network of operators."""
    found = MemoryRegistry()
    found.one_operator = False
    assert isinstance(submit(found, fip(), ENTITY), Decision)
    assert isinstance(order(found, APPROVE, actor=of("olga")), Decision)
    return found


def gives(
    registry: MemoryRegistry, by: str, to: str, ago: timedelta = SECOND, entity_id: str = ""
) -> None:
    grant = Grant(f"user:{to}", f"user:{by}", registry.now - ago, entity_id)
    registry.given.append(grant)


def decided(registry: MemoryRegistry, submitter: Actor, approver: Actor) -> object:
    """Another key by one, and what the other's approval of it comes to."""
    changed = with_key(fip(), 7 + len(registry.kept))
    assert isinstance(update(registry, changed, submitter), Decision)
    return order(registry, APPROVE, actor=approver)


def test_neither_of_two_approves_what_the_other_submits_while_one_made_the_other(
    registry: MemoryRegistry,
) -> None:
    gives(registry, "rohan", "zoya")

    for one, other in (("rohan", "zoya"), ("zoya", "rohan")):
        refused = decided(registry, of(one), of(other))

        assert isinstance(refused, SecondOperatorTied)
        assert refused.untied_at == registry.now - SECOND + DAY


def test_two_whom_one_person_made_are_one(registry: MemoryRegistry) -> None:
    gives(registry, "rohan", "zoya")
    gives(registry, "rohan", "yash")

    assert isinstance(decided(registry, of("zoya"), of("yash")), SecondOperatorTied)


def test_a_row_of_accounts_is_one_person(registry: MemoryRegistry) -> None:
    gives(registry, "rohan", "zoya")
    gives(registry, "zoya", "yash")

    assert isinstance(decided(registry, of("rohan"), of("yash")), SecondOperatorTied)


def test_a_day_before_the_submission_ties_no_one(registry: MemoryRegistry) -> None:
    gives(registry, "rohan", "zoya", ago=DAY)

    assert isinstance(decided(registry, of("rohan"), of("zoya")), Decision)


def test_waiting_for_a_day_unties_no_one_from_what_was_submitted(registry: MemoryRegistry) -> None:
    update(registry, with_key(fip(), 7), of("rohan"))
    gives(registry, "rohan", "zoya")
    registry.now += 2 * DAY

    assert isinstance(order(registry, APPROVE, actor=of("zoya")), SecondOperatorTied)


def test_a_new_operator_approves_what_others_submit(registry: MemoryRegistry) -> None:
    gives(registry, "rohan", "zoya")

    for submitter in (of("olga"), ASHA, ENTITY):
        assert isinstance(decided(registry, submitter, of("zoya")), Decision)


@pytest.mark.parametrize("submitter", [ASHA, ENTITY], ids=["admin", "entity"])
def test_who_made_an_admin_approves_nothing_that_they_can_have_submitted(
    registry: MemoryRegistry, submitter: Actor
) -> None:
    gives(registry, "rohan", "asha", entity_id="FIP-0")

    assert isinstance(decided(registry, submitter, of("rohan")), SecondOperatorTied)
    assert isinstance(order(registry, APPROVE, actor=of("olga")), Decision)


@pytest.mark.parametrize("submitter", [ASHA, ENTITY], ids=["admin", "entity"])
def test_what_a_member_submitted_before_an_admin_was_added_is_not_of_that_hand(
    registry: MemoryRegistry, submitter: Actor
) -> None:
    update(registry, with_key(fip(), 7), submitter)
    for who in ("asha", "ravi"):
        gives(registry, "rohan", who, ago=-SECOND, entity_id="FIP-0")

    assert isinstance(order(registry, APPROVE, actor=of("rohan")), Decision)


def test_an_admin_whom_the_new_admin_invited_is_the_same_hand(registry: MemoryRegistry) -> None:
    gives(registry, "rohan", "ravi", entity_id="FIP-0")
    gives(registry, "ravi", "asha", entity_id="FIP-0")

    assert isinstance(decided(registry, ASHA, of("rohan")), SecondOperatorTied)


def test_a_right_on_another_entity_ties_no_one(registry: MemoryRegistry) -> None:
    gives(registry, "rohan", "asha", entity_id="FIP-9")

    assert isinstance(decided(registry, ASHA, of("rohan")), Decision)


@pytest.fixture
def empty() -> MemoryRegistry:
    """A registry without entries, in a network of operators."""
    found = MemoryRegistry()
    found.one_operator = False
    return found


@pytest.mark.parametrize("submitter", [ASHA, ENTITY], ids=["admin", "entity"])
def test_who_made_an_admin_approves_no_first_entry_of_theirs(
    empty: MemoryRegistry, submitter: Actor
) -> None:
    gives(empty, "rohan", "asha", entity_id="FIP-0")
    submit(empty, fip(), submitter)

    refused = order(empty, APPROVE, actor=of("rohan"))

    assert isinstance(refused, SecondOperatorTied)
    assert refused.untied_at == empty.now - SECOND + DAY
    assert isinstance(order(empty, APPROVE, actor=of("olga")), Decision)


def test_an_admin_whom_no_grant_made_submits_a_first_entry_for_anyone_to_approve(
    empty: MemoryRegistry,
) -> None:
    """As the one with whom the member was onboarded does, no matter who joined after."""
    gives(empty, "rohan", "ravi", entity_id="FIP-0")
    gives(empty, "asha", "zoya", entity_id="FIP-0")
    submit(empty, fip(), ASHA)

    assert isinstance(order(empty, APPROVE, actor=of("rohan")), Decision)


def test_the_setting_for_one_operator_asks_for_no_second(registry: MemoryRegistry) -> None:
    registry.one_operator = True
    gives(registry, "rohan", "zoya")

    assert isinstance(decided(registry, of("rohan"), of("zoya")), Decision)


@pytest.mark.parametrize("submitter", [ASHA, ENTITY, of("olga")], ids=["admin", "entity", "other"])
def test_who_onboarded_a_member_approves_no_first_entry_where_another_may(
    empty: MemoryRegistry, submitter: Actor
) -> None:
    empty.onboarded_by["FIP-0"] = "user:rohan"
    submit(empty, fip(), submitter)

    refused = order(empty, APPROVE, actor=of("rohan"))

    assert refused == SecondOperatorNeeded("FIP-0", is_admin=False, onboarded=True)
    assert "onboarded it" in refused.sentence
    assert isinstance(order(empty, APPROVE, actor=of("zoya")), Decision)


def test_nor_does_an_operator_whom_they_made(empty: MemoryRegistry) -> None:
    empty.onboarded_by["FIP-0"] = "user:rohan"
    gives(empty, "rohan", "zoya")
    submit(empty, fip(), ASHA)

    assert isinstance(order(empty, APPROVE, actor=of("zoya")), SecondOperatorNeeded)


def test_the_only_operator_who_may_approves_what_they_onboarded(empty: MemoryRegistry) -> None:
    empty.onboarded_by["FIP-0"], empty.deciders = "user:rohan", 1
    submit(empty, fip(), ASHA)

    assert isinstance(order(empty, APPROVE, actor=of("rohan")), Decision)


def test_a_later_entry_may_be_approved_by_who_onboarded_the_member(
    registry: MemoryRegistry,
) -> None:
    registry.onboarded_by["FIP-0"] = "user:rohan"

    assert isinstance(decided(registry, ASHA, of("rohan")), Decision)


def test_a_former_admin_who_knows_the_secret_ties_however_long_ago(
    registry: MemoryRegistry,
) -> None:
    knows = Grant("user:asha", "user:rohan", registry.now - 9 * DAY, "FIP-0", knows_secret=True)
    registry.given.append(knows)

    refused = decided(registry, ENTITY, of("rohan"))

    assert refused == SecondOperatorTied("FIP-0", None)
    assert isinstance(order(registry, APPROVE, actor=of("olga")), Decision)
