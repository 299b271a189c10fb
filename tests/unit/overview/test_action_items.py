"""What needs a member's attention now: the worst first, nothing when all is well. Pure."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.english_left import english_in
from tests.support.metrics.incidents import an_incident

from mudra.localization.language import ENGLISH, written_in
from mudra.localization.languages import Languages
from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Network,
    Path,
    StoredIncident,
    Subject,
)
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.held_reports import HeldReport, HeldState
from mudra.metrics.payload.plausibility import Doubt, doubt_time
from mudra.overview.action_items import Facts, action_items
from mudra.registry.lifecycle.record import Record, Version
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.tokens.secrets.old_secret_use import NEVER_USED, AddressUse, SecretUse
from mudra.tokens.secrets.reset_rule import ResetPermitted
from mudra.tokens.secrets.secret import EntitySecret, SecretState
from mudra.tokens.secrets.secret_service import SecretUsage

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


def used(days_left: int) -> SecretUsage:
    current = EntitySecret("A-FIP", 2, SecretState.CURRENT, NOW, NOW + timedelta(days=days_left))
    return SecretUsage(current, NEVER_USED, None, NEVER_USED, ResetPermitted(4), NOW, NOW)


def whats(
    days_left: int = 100, *, able: int = 2, missing: int = 0, **old: SecretUsage
) -> list[str]:
    shown = old.get("shown") or used(days_left)
    facts = Facts("AA", shown, able, None, missing, NOW)
    return [line.what for line in action_items(facts) if line.what != "No registration yet"]


def test_all_is_well_says_nothing() -> None:
    assert whats() == []


def test_a_secret_that_was_never_used_leads_to_the_first_token() -> None:
    fresh = replace(used(100), current=replace(used(100).current, version=1))
    settled = replace(fresh, now=NOW + timedelta(days=40))  # it may use its registered key
    called = replace(fresh, current_use=SecretUse((AddressUse("192.0.2.1", 1, NOW),), 1))

    assert whats(shown=fresh) == ["The secret has not been used yet"]
    assert whats(shown=settled) == []
    assert whats(shown=called) == []


def test_an_expiring_secret_is_shown_from_thirty_days_on() -> None:
    assert whats(31) == []
    assert whats(12) == ["The secret expires in 12 days"]
    assert whats(-1) == ["The secret has expired"]


def test_the_old_secret_is_listed_with_its_addresses_or_as_ready_to_be_retired() -> None:
    old = EntitySecret(
        "A-FIP", 1, SecretState.GRACE, NOW, NOW + timedelta(days=9), NOW + timedelta(days=5), 7
    )
    calls = SecretUse((AddressUse("192.0.2.1", 3, NOW), AddressUse("192.0.2.2", 1, NOW)), 4)
    busy = replace(used(100), old=old, old_use=calls)

    assert whats(shown=busy) == ["The old secret is still used from 2 addresses"]
    assert whats(shown=replace(busy, old_use=NEVER_USED)) == ["The old secret is no longer used"]


def test_the_worst_comes_first() -> None:
    assert whats(-1, able=1, missing=3) == [
        "The secret has expired",
        "3 windows of the last 24 hours not reported",
        "Only one admin can act",
    ]


def test_a_suspended_registration_is_for_now() -> None:
    record = Record("A-FIP", EntityType.FIP, EntityStatus.SUSPENDED, ())
    facts = Facts("FIP", used(100), 2, record, 0, NOW)

    assert [(line.weight, line.what) for line in action_items(facts)] == [
        (0, "The registration is suspended")
    ]


def test_programs_of_a_suspended_member_are_not_said_to_get_tokens_for_some_days() -> None:
    old = EntitySecret(
        "A-FIP", 1, SecretState.GRACE, NOW, NOW + timedelta(days=9), NOW + timedelta(days=5), 7
    )
    calls = SecretUse((AddressUse("192.0.2.1", 3, NOW),), 3)
    rotating = replace(used(100), old=old, old_use=calls)
    facts = Facts("AA", rotating, 2, None, 0, NOW)

    def listed(shown: Facts) -> list[str]:
        return [line.what for line in action_items(shown)]

    assert listed(facts) == ["The old secret is still used from 1 address", "No registration yet"]
    assert listed(replace(facts, gets_tokens=False)) == ["No registration yet"]


def test_an_open_incident_comes_first_with_how_long_it_lasts() -> None:
    began = NOW - timedelta(hours=6)

    def lasting(subject: Subject) -> StoredIncident:
        incident = an_incident(subject, began, eligible=2_000, succeeded=760)
        return StoredIncident("the-id", incident, None)

    found = lasting(FipApi("A-FIP", "fif")), lasting(AaCalls("A")), lasting(AaReporting("A"))
    facts = Facts("FIP", used(-1), 2, None, 0, NOW, found)
    lines = action_items(facts)

    assert [line.what for line in lines][:4] == [
        "FI fetch failing",
        "Your calls to FIPs are failing",
        "Your agent is not reporting",
        "The secret has expired",
    ]
    assert lines[0].why == (
        "For 6 h, as reported by the AAs: 62 % of calls failing in its bad windows."
    )
    assert lines[0].page == "health/incidents/the-id"
    assert {line.weight for line in lines[:4]} == {0}


def every_item() -> list[Facts]:
    """Facts that need attention for every reason that there is."""
    subjects: list[Subject] = [
        Fip("BANK"), FipApi("BANK", "fif"), AaCalls("ONE"), AaApi("ONE", "cns"),
        AaReporting("ONE"), Path("ONE", "BANK"), Network(),
    ]  # fmt: skip
    began = NOW - timedelta(hours=6, minutes=5)
    incidents = [StoredIncident("id", an_incident(one, began), None) for one in subjects]
    ends = NOW + timedelta(days=5)
    old = EntitySecret("A-FIP", 1, SecretState.GRACE, NOW, NOW + timedelta(days=9), ends, 7)
    calls = SecretUse((AddressUse("192.0.2.1", 3, NOW), AddressUse("192.0.2.2", 1, NOW)), 4)
    in_grace = replace(used(12), old=old)
    held = [_held(doubt_time(9_000_000)), _held(Doubt("calls", 90_000, 1_000))]
    any_entry: Any = None

    def registered(status: VersionStatus) -> Record:
        version = Version(2, any_entry, any_entry, status, "user", NOW, reason="यह")
        return Record("A-FIP", EntityType.FIP, EntityStatus.UNLISTED, (version,))

    suspended = Record("A-FIP", EntityType.FIP, EntityStatus.SUSPENDED, ())
    return [
        Facts("AA", used(-1), 1, None, 1, NOW, incidents, held),
        Facts("AA", in_grace, 2, suspended, 3, NOW, (), held[:1]),
        Facts(
            "AA", replace(in_grace, old_use=calls), 2, registered(VersionStatus.REJECTED), 0, NOW
        ),
        Facts("AA", used(40), 2, registered(VersionStatus.SUBMITTED), 0, NOW),
    ]


def test_a_fiu_sees_what_is_wrong_at_the_fips_that_it_follows() -> None:
    at_fip = StoredIncident(
        "7", an_incident(FipApi("B-FIP", "fif"), NOW - timedelta(hours=2)), None
    )
    facts = Facts("FIU", used(100), 2, None, 0, NOW, reaching=[at_fip])

    (item,) = [one for one in action_items(facts) if one.what != "No registration yet"]

    assert item.what == "FIP B-FIP, FI fetch: 50 % of calls failing"
    assert item.why.startswith("For 2 h. You follow this FIP")
    assert (item.weight.word, item.page) == ("now", "health/incidents/7")


def test_an_aa_sees_the_incident_of_a_fip_that_fails_its_calls() -> None:
    at_fip = StoredIncident("7", an_incident(Fip("B-FIP"), NOW - timedelta(hours=2)), None)
    facts = Facts("AA", used(100), 2, None, 0, NOW, reaching=[at_fip])

    item = action_items(facts)[0]

    assert item.what == "FIP B-FIP: 50 % of calls failing"
    assert item.why == "For 2 h. Your calls are among those affected."
    assert (item.weight.word, item.page) == ("now", "health/incidents/7")


def _held(doubt: Doubt) -> HeldReport:
    return HeldReport("id", "ONE", Tag.REQUESTS, NOW, NOW, doubt, HeldState.WAITING, "", None)


@pytest.mark.parametrize("facts", every_item(), ids=["worst", "grace", "rejected", "submitted"])
def test_no_word_is_left_in_english(facts: Facts) -> None:
    with written_in(Languages().find("hi") or ENGLISH):
        items = action_items(facts)
    for text in (text for item in items for text in (item.what, item.why, item.act)):
        assert english_in(text, "mudra agent status") == set(), text
        assert re.search("[\u0900-\u097f]", text), text
    english = action_items(facts)
    assert [one.page for one in items] == [one.page for one in english]
    digits = re.compile(r"\d+")
    for item, same in zip(items, english, strict=True):
        assert sorted(digits.findall(item.what)) == sorted(digits.findall(same.what))
