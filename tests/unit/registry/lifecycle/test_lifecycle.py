"""What becomes of a registration, through the use cases and the storage in memory."""

import asyncio
import datetime as dt
import uuid

import pytest
from tests.support.registry.registry_actions import (
    ADMIN,
    ENTITY,
    LATER,
    OPERATOR,
    READER,
    STRANGER,
    checked,
    live,
    order,
    shown,
    status,
    submit,
    update,
)
from tests.support.registry.registry_memory import START, MemoryRegistry
from tests.support.registry.registry_payloads import aa, fip, jwk, with_key

from mudra.registry.lifecycle.actor import DECIDE, SUBMIT, Actor, ActorKind
from mudra.registry.lifecycle.acts.draft_review import review_draft
from mudra.registry.lifecycle.acts.register import put_live_if_due
from mudra.registry.lifecycle.acts.submission import Repeat
from mudra.registry.lifecycle.decision import Decision, RegistryAction, gets_no_token
from mudra.registry.lifecycle.member_notice import member_notice
from mudra.registry.lifecycle.refusal import (
    NOT_YOUR_ENTRY,
    RETIRED_BY_PEOPLE,
    NeedsOperator,
    duplicate_entity,
    go_live_too_far,
    unknown_entity,
    version_moved,
    wrong_type,
)
from mudra.registry.payload.fields.field_rules import Risk
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus


@pytest.fixture
def registry():
    return MemoryRegistry()


def test_a_submission_waits_unseen_for_its_approval(registry):
    outcome = submit(registry, fip(), ENTITY)

    assert isinstance(outcome, Decision)
    assert (outcome.status, outcome.version) == ("submitted", 1)
    assert shown(registry) == set()
    assert not gets_no_token(status(registry))


def test_an_approval_puts_a_submission_live(registry):
    submit(registry, fip(), ENTITY)

    outcome = order(registry, RegistryAction.APPROVE)

    assert outcome.status == "live"
    assert shown(registry) == {"FIP-0"}
    version = registry.records["FIP-0"].live
    assert (version.decided_by, version.live_from) == ("olga", START)


def test_a_rejected_member_hears_why_and_may_submit_again(registry):
    submit(registry, fip(), ENTITY)

    rejected = order(registry, RegistryAction.REJECT, reason="the code is another bank's")
    again = submit(registry, fip(code="NEW"), ENTITY)

    assert rejected.after.versions[0].reason == "the code is another bank's"
    assert (rejected.status, again.status, again.version) == ("rejected", "submitted", 2)


def test_a_second_first_submission_is_a_duplicate(registry):
    submit(registry, fip(), ENTITY)
    other = fip() | {"txnid": str(uuid.uuid4())}

    assert submit(registry, other, ENTITY) == duplicate_entity("FIP-0")
    order(registry, RegistryAction.APPROVE)
    assert submit(registry, other, ENTITY) == duplicate_entity("FIP-0")


@pytest.mark.parametrize(
    "actor", [STRANGER, Actor(ActorKind.MEMBER_ADMIN, "x", frozenset({"FIP-9"}))]
)
def test_a_member_submits_for_itself_only(registry, actor):
    assert submit(registry, fip(), actor) == NOT_YOUR_ENTRY
    assert update(registry, fip(), actor) == NOT_YOUR_ENTRY
    assert [one[0] for one in registry.refusals] == ["submit", "update"]


def test_a_member_names_itself_as_the_requester(registry):
    sent = fip() | {"requester": {"name": "Other", "id": "OTHER"}}

    assert submit(registry, sent, ENTITY) == NOT_YOUR_ENTRY
    assert isinstance(submit(registry, sent, OPERATOR), Decision)


def test_an_operator_without_the_scope_changes_nothing(registry):
    live(registry)

    assert submit(registry, fip(1), READER) == NeedsOperator(SUBMIT)
    for act in (
        RegistryAction.APPROVE,
        RegistryAction.REJECT,
        RegistryAction.SUSPEND,
        RegistryAction.RESTORE,
        RegistryAction.RETIRE,
        RegistryAction.ROLL_BACK,
    ):
        assert order(registry, act, actor=READER, reason="x", version=1) == NeedsOperator(DECIDE)
    assert len(registry.kept) == 2


@pytest.mark.parametrize(
    "act",
    [
        RegistryAction.APPROVE,
        RegistryAction.REJECT,
        RegistryAction.SUSPEND,
        RegistryAction.RESTORE,
        RegistryAction.ROLL_BACK,
    ],
)
@pytest.mark.parametrize("actor", [ADMIN, ENTITY])
def test_members_do_not_decide_on_themselves(registry, act, actor):
    live(registry)

    assert order(registry, act, actor=actor, reason="x", version=1) == NeedsOperator(DECIDE)


def test_a_member_s_admin_may_retire_it_and_its_entity_token_may_not(registry):
    live(registry)

    assert order(registry, RegistryAction.RETIRE, actor=ENTITY, reason="x") == RETIRED_BY_PEOPLE
    assert isinstance(
        order(registry, RegistryAction.RETIRE, actor=ADMIN, reason="merged"), Decision
    )
    assert status(registry) is EntityStatus.RETIRED


@pytest.mark.parametrize(
    "changes", [{"tags": "Renamed"}, {"tags": ""}, {"fitypes": ["SIP"]}, {"inboundports": ["8443"]}]
)
def test_a_harmless_update_is_live_at_once(registry, changes):
    live(registry)

    outcome = update(registry, fip(**changes), ENTITY)

    assert (outcome.status, outcome.version) == ("live", 2)
    assert registry.records["FIP-0"].versions[0].status is VersionStatus.SUPERSEDED


@pytest.mark.parametrize(
    ("changes", "risk"),
    [
        ({"certificate": jwk(1)}, Risk.KEY),
        ({"baseurl": "v2:https://other.example"}, Risk.TRAFFIC),
        ({"ips": ["9.0.0.0", "9.0.0.1"]}, Risk.FIREWALL),
    ],
)
def test_a_dangerous_update_waits_and_the_former_version_stays(registry, changes, risk):
    live(registry)

    outcome = update(registry, fip(**changes), ENTITY)

    assert (outcome.status, outcome.publication) == ("submitted", None)
    assert {one.risk for one in outcome.changes} == {risk}
    assert registry.records["FIP-0"].live.number == 1


def test_another_web_page_of_an_aa_waits_for_approval(registry):
    live(registry, aa())

    outcome = update(registry, aa(webviewurl="https://evil.example"))

    assert outcome.status == "submitted"
    assert [one.risk for one in outcome.changes] == [Risk.REDIRECT]


def test_another_order_of_the_same_addresses_needs_no_approval(registry):
    live(registry, fip(ips=["9.1.1.1", "9.1.1.2"]))

    assert update(registry, fip(ips=["9.1.1.2", "9.1.1.1"]), ENTITY).status == "live"


def test_an_update_of_nothing_known_is_refused(registry):
    assert update(registry, fip()) == unknown_entity("FIP-0")
    assert order(registry, RegistryAction.APPROVE) == unknown_entity("FIP-0")


def test_an_entity_does_not_change_its_type(registry):
    live(registry)

    assert update(registry, aa(id="FIP-0")) == unknown_entity("FIP-0")


def test_the_type_is_the_one_the_entity_was_onboarded_as(registry):
    registry.onboarded["FIP-0"] = EntityType.FIU

    assert submit(registry, fip(), ENTITY) == wrong_type("FIP", "FIU")


def test_a_repeated_update_is_recognised(registry):
    live(registry)
    update(registry, fip(tags="New"), ENTITY)

    again = update(registry, fip(tags="New"), ENTITY)

    assert isinstance(again, Repeat)
    assert (again.version, again.status) == (2, "live")
    assert len(registry.records["FIP-0"].versions) == 2


def test_what_is_sent_again_takes_no_later_change_back(registry):
    live(registry)
    update(registry, fip(tags="New"), ENTITY)
    update(registry, with_key(fip(tags="New"), 1), ENTITY)
    order(registry, RegistryAction.APPROVE, goes_live_at=LATER)

    again = update(registry, fip(), approved=True)

    assert isinstance(again, Repeat)
    assert (again.version, again.status) == (1, "superseded")
    assert registry.records["FIP-0"].pending.number == 3


def test_a_return_to_former_content_has_another_txnid(registry):
    live(registry)
    update(registry, fip(tags="New"), ENTITY)

    back = update(registry, fip() | {"txnid": str(uuid.uuid4())}, ENTITY)

    assert (back.status, back.version) == ("live", 3)


def test_an_update_that_withdraws_a_scheduled_version_names_it(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)
    order(registry, RegistryAction.APPROVE, goes_live_at=LATER)
    draft = checked(fip(tags="New"))

    review = review_draft(registry.records["FIP-0"], draft)
    outcome = update(registry, fip(tags="New"), ENTITY)

    problem = "withdraws version 2, which was approved to go live at 2026-01-18T09:30:00.000Z"
    (found,) = review.findings
    assert (found.path, found.problem, found.severity) == ("$", problem, "note")
    assert found.allowed == "to submit that version again with a new txnid"
    assert outcome.withdrawn.number == 2
    facts = member_notice(outcome)
    assert (facts["withdrawn"], facts["withdrawn_due_at"]) == ("2", LATER.isoformat())


def test_a_newer_update_withdraws_the_one_that_waits(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    update(registry, with_key(fip(), 2), ENTITY)

    statuses = [one.status for one in registry.records["FIP-0"].versions]
    assert statuses == [VersionStatus.LIVE, VersionStatus.WITHDRAWN, VersionStatus.SUBMITTED]


def test_an_operator_approves_the_version_that_was_looked_at(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)
    update(registry, with_key(fip(), 2), ENTITY)

    assert order(registry, RegistryAction.APPROVE, version=2) == version_moved("FIP-0", 2, 3)
    assert order(registry, RegistryAction.APPROVE, version=3).status == "live"


@pytest.mark.parametrize(
    "past", [START, dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30)))]
)
def test_an_approval_of_the_past_is_one_of_now(registry, past):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    order(registry, RegistryAction.APPROVE, goes_live_at=past)

    record = registry.records["FIP-0"]
    assert (record.live.number, record.live.goes_live_at) == (2, None)


def test_a_scheduled_version_goes_live_at_its_time_and_not_before(registry):
    live(registry)
    update(registry, with_key(fip(), 1), ENTITY)

    approved = order(registry, RegistryAction.APPROVE, goes_live_at=LATER)
    registry.now = LATER - dt.timedelta(milliseconds=1)
    early = asyncio.run(put_live_if_due(registry, "FIP-0"))
    registry.now = LATER
    due = asyncio.run(put_live_if_due(registry, "FIP-0"))

    assert (approved.status, early, due) == ("approved", False, True)
    record = registry.records["FIP-0"]
    assert (record.live.number, record.live.live_from, record.live.goes_live_at) == (
        2,
        LATER,
        LATER,
    )
    assert record.versions[0].live_until == LATER
    assert not asyncio.run(put_live_if_due(registry, "FIP-0"))


def test_a_first_entry_can_be_scheduled_too(registry):
    submit(registry, fip(), ENTITY)

    order(registry, RegistryAction.APPROVE, goes_live_at=LATER)

    assert (status(registry), shown(registry)) == (EntityStatus.UNLISTED, set())
    registry.now = LATER
    asyncio.run(put_live_if_due(registry, "FIP-0"))
    assert (status(registry), shown(registry)) == (EntityStatus.LIVE, {"FIP-0"})


def test_a_time_more_than_a_year_ahead_is_refused(registry):
    submit(registry, fip(), ENTITY)

    assert order(
        registry, RegistryAction.APPROVE, goes_live_at=START + dt.timedelta(days=400)
    ) == go_live_too_far(366)


def test_a_scheduled_version_can_still_be_rejected(registry):
    submit(registry, fip(), ENTITY)
    order(registry, RegistryAction.APPROVE, goes_live_at=LATER)

    assert order(registry, RegistryAction.REJECT, reason="mistake").status == "rejected"
