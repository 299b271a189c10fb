"""Rules about members: who can act, who gets emails, which status applies."""

from datetime import UTC, datetime

import pytest

from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.member import (
    Admin,
    MemberStatus,
    Recipient,
    able_admins,
    effective_status,
    has_role,
    recipients,
)

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
ASHA = Admin("u-1", "asha@bank.example", "Asha", UserState.ACTIVE, SINCE)
RAVI = Admin("u-2", "ravi@bank.example", "Ravi", UserState.INVITED, SINCE)
MEERA = Admin("u-3", "meera@bank.example", "Meera", UserState.DISABLED, SINCE)
ACTIVE, SUSPENDED, RETIRED = MemberStatus


@pytest.mark.parametrize(
    ("membership", "entry", "expected"),
    [
        (ACTIVE, ACTIVE, ACTIVE),
        (ACTIVE, SUSPENDED, SUSPENDED),
        (SUSPENDED, ACTIVE, SUSPENDED),
        (SUSPENDED, RETIRED, RETIRED),
        (RETIRED, ACTIVE, RETIRED),
    ],
)
def test_the_stricter_status_applies(membership, entry, expected):
    assert effective_status(membership, entry) is expected


def test_a_disabled_admin_has_no_role():
    held = [has_role([ASHA, RAVI, MEERA], who) for who in ("u-1", "u-2", "u-3", "u-4")]
    assert held == [True, True, False, False]


def test_only_active_admins_can_act():
    assert able_admins([ASHA, RAVI, MEERA]) == 1
    assert able_admins([ASHA, RAVI, MEERA], without="u-1") == 0


def test_emails_go_to_admins_who_are_not_disabled_and_to_the_contact():
    to = recipients([ASHA, RAVI, MEERA], "it-desk@bank.example")

    assert [one.email for one in to] == [
        "asha@bank.example",
        "ravi@bank.example",
        "it-desk@bank.example",
    ]


def test_a_contact_who_is_an_admin_gets_one_email():
    assert recipients([ASHA], "asha@bank.example") == [Recipient("asha@bank.example", "Asha")]
