"""Suspension, retirement, rollback, and what others hold already."""

import uuid

import pytest
from tests.support.registry.registry_actions import (
    ENTITY,
    READER,
    STRANGER,
    live,
    order,
    shown,
    status,
    submit,
    update,
)
from tests.support.registry.registry_memory import MemoryRegistry
from tests.support.registry.registry_payloads import aa, fip, jwk, with_key

from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.decision import Decision, RegistryAction, TokenEffect, reason_missing
from mudra.registry.lifecycle.refusal import (
    AlreadyHeld,
    NeedsOperator,
    WrongState,
    duplicate_entity,
    unknown_version,
)
from mudra.shared.entry_status import EntityStatus, VersionStatus


@pytest.fixture
def registry():
    return MemoryRegistry()


def test_a_suspension_hides_the_entry_and_stops_its_tokens_until_it_is_restored(registry):
    live(registry)

    suspended = order(registry, RegistryAction.SUSPEND, reason="key leaked")
    hidden = shown(registry)
    restored = order(registry, RegistryAction.RESTORE)

    assert (suspended.tokens, restored.tokens) == (TokenEffect.STOP, TokenEffect.RESUME)
    assert suspended.publication.body is None
    assert (hidden, shown(registry)) == (set(), {"FIP-0"})
    assert registry.token_effects == [("FIP-0", TokenEffect.STOP), ("FIP-0", TokenEffect.RESUME)]


def test_a_suspended_member_is_updated_without_being_shown(registry):
    live(registry)
    order(registry, RegistryAction.SUSPEND, reason="key leaked")

    waiting = update(registry, with_key(fip(), 1), ENTITY)
    approved = order(registry, RegistryAction.APPROVE)

    assert (waiting.status, approved.status, approved.publication) == ("submitted", "live", None)
    assert (status(registry), shown(registry)) == (EntityStatus.SUSPENDED, set())


def test_a_retirement_is_for_good(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    retired = order(registry, RegistryAction.RETIRE, reason="licence returned")

    assert (retired.tokens, shown(registry)) == (TokenEffect.STOP, set())
    assert [one.status for one in retired.after.versions] == [
        VersionStatus.SUPERSEDED,
        VersionStatus.WITHDRAWN,
    ]
    for act in (
        RegistryAction.APPROVE,
        RegistryAction.SUSPEND,
        RegistryAction.RESTORE,
        RegistryAction.RETIRE,
        RegistryAction.ROLL_BACK,
    ):
        assert isinstance(order(registry, act, reason="x", version=1), WrongState)
    assert isinstance(update(registry, fip(name="x")), WrongState)
    assert submit(registry, fip()) == duplicate_entity("FIP-0")


def test_a_retirement_of_a_suspended_member_changes_nothing_in_the_directory(registry):
    live(registry)
    order(registry, RegistryAction.SUSPEND, reason="x")

    retired = order(registry, RegistryAction.RETIRE, reason="y")

    assert (retired.publication, retired.tokens) == (None, TokenEffect.NONE)


def test_a_rollback_goes_live_at_once_and_equals_the_former_version(registry):
    live(registry)
    update(registry, with_key(fip(name="Worse"), 1), ENTITY, approved=False)
    order(registry, RegistryAction.APPROVE)
    update(registry, with_key(fip(name="Worst"), 2), ENTITY)

    outcome = order(
        registry, RegistryAction.ROLL_BACK, version=1, reason="the new key does not work"
    )

    record = registry.records["FIP-0"]
    assert (outcome.status, outcome.version, record.live.equal_to) == ("live", 4, 1)
    assert record.live.entry == record.versions[0].entry
    assert record.pending is None


@pytest.mark.parametrize("version", [0, 2, 9])
def test_a_rollback_goes_to_versions_that_were_live_only(registry, version):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)
    order(registry, RegistryAction.REJECT, reason="no")

    assert order(
        registry, RegistryAction.ROLL_BACK, version=version, reason="x"
    ) == unknown_version("FIP-0", version)


def test_a_rollback_to_the_live_version_is_refused(registry):
    live(registry)

    assert isinstance(order(registry, RegistryAction.ROLL_BACK, version=1, reason="x"), WrongState)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\nb", "=?utf-8?q?x?="])
def test_what_hurts_a_member_needs_a_reason(registry, reason):
    live(registry)

    for act in (RegistryAction.SUSPEND, RegistryAction.RETIRE, RegistryAction.ROLL_BACK):
        assert order(registry, act, reason=reason, version=1) == reason_missing(act, reason)


def test_a_restore_or_approval_out_of_turn_is_refused(registry):
    live(registry)

    assert isinstance(order(registry, RegistryAction.RESTORE), WrongState)
    assert isinstance(order(registry, RegistryAction.APPROVE), WrongState)
    assert isinstance(order(registry, RegistryAction.REJECT, reason="x"), WrongState)
    order(registry, RegistryAction.SUSPEND, reason="x")
    assert isinstance(order(registry, RegistryAction.SUSPEND, reason="x"), WrongState)


@pytest.mark.parametrize(
    ("second", "path", "value"),
    [
        (aa(1, entityhandle="@aa0"), "entityinfo.entityhandle", "@aa0"),
        (aa(1, entityhandle="@Aa0"), "entityinfo.entityhandle", "@Aa0"),
        (
            aa(1, certificate=jwk(5) | {"kid": "kid-20000"}),
            "entityinfo.certificate.kid",
            "kid-20000",
        ),
        (aa(1, certificate=jwk(20_000) | {"kid": "other"}), "entityinfo.certificate.n", ""),
    ],
)
def test_what_another_entity_holds_is_refused_without_naming_it(registry, second, path, value):
    live(registry, aa())

    outcome = submit(registry, second)

    assert isinstance(outcome, AlreadyHeld)
    assert outcome == AlreadyHeld(path, value, "AA-0")
    assert "AA-0" not in outcome.sentence


def test_a_former_key_stays_taken(registry):
    live(registry)
    update(registry, with_key(fip(), 1), approved=True)

    assert isinstance(submit(registry, with_key(fip(2), 0)), AlreadyHeld)


def test_a_mere_submission_blocks_no_one_s_key(registry):
    submit(registry, with_key(fip(9), 0), STRANGER)

    rightful = submit(registry, fip(), ENTITY)
    order(registry, RegistryAction.APPROVE)

    assert isinstance(rightful, Decision)
    assert isinstance(order(registry, RegistryAction.APPROVE, "FIP-9"), AlreadyHeld)


def test_an_entity_may_return_to_its_own_former_key(registry):
    live(registry)
    update(registry, with_key(fip(), 1), approved=True)

    back = fip() | {"txnid": str(uuid.uuid4())}
    assert isinstance(update(registry, back), Decision)


def test_an_approval_in_one_step_is_all_or_nothing(registry):
    submitter = Actor(ActorKind.OPERATOR, "sam", scopes=frozenset({SUBMIT}))

    assert submit(registry, fip(), submitter, approved=True) == NeedsOperator(DECIDE)
    assert registry.records == {}
    live(registry)
    assert update(registry, with_key(fip(), 1), submitter, approved=True) == NeedsOperator(DECIDE)
    assert len(registry.records["FIP-0"].versions) == 1


def test_every_refusal_says_what_to_do(registry):
    live(registry)
    refusals = [
        submit(registry, fip() | {"txnid": str(uuid.uuid4())}),
        submit(registry, fip(1), ENTITY),
        submit(registry, fip(1), READER),
        update(registry, fip(3)),
        order(registry, RegistryAction.RESTORE),
        order(registry, RegistryAction.SUSPEND),
        order(registry, RegistryAction.ROLL_BACK, version=7, reason="x"),
    ]

    assert [one.sentence for one in refusals] == [
        "entityinfo.id FIP-0 is taken; update it with PUT if it is yours",
        "entityinfo.id and requester.id must be the entity that you act for",
        "this needs an operator with the scope registry:submit",
        "the registry has no entry FIP-3 of this type",
        "FIP-0 is live; restore needs it to be suspended",
        "reason must be 1 to 500 characters without control characters or '=?' to suspend",
        "FIP-0 has no version 7 that was ever live",
    ]
    assert len(registry.refusals) == 7


@pytest.mark.parametrize(
    ("reason", "fits"),
    [
        ("x" * 500, True),
        ("x" * 501, False),
        (f" {'x' * 500} ", True),
        (" ", False),
        ("=?", False),
        ("क्\u200dष गलत है", True),
        ("wrong\u00a0key", True),
        ("wrong\nkey", False),
        ("wrong\u202ekey", False),
    ],
)
def test_a_reason_has_its_length_and_is_safe_in_an_email(reason, fits):
    assert (reason_missing(RegistryAction.SUSPEND, reason) is None) is fits


def test_what_is_published_are_the_bytes_of_the_live_entry(registry):
    submit(registry, fip(), ENTITY)
    decision = order(registry, RegistryAction.APPROVE)

    assert isinstance(decision, Decision)
    assert decision.publication is not None
    assert decision.publication.body is not None
    assert b"entityinfo" in decision.publication.body
