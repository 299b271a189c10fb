"""What one entity may add to the list of revoked tokens, and that the fullest list is accepted."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from mudra.client.verification.revocations import check_size
from mudra.tokens.revocation.revocation_limit import ListedTokens, TooManyRevocations, check_room
from mudra.tokens.revocation.revocation_list import EndedTokens, revocation_list

ALWAYS_PERMITTED = 50
MAX_OF_ENTITY = 1_000
SHARED_ROOM = 50_000

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MEMBERS = 2_600
"""Of the network today."""


def listed(of_entity: int, of_all: int) -> ListedTokens:
    return ListedTokens(of_entity, of_all, NOW + timedelta(seconds=90.5), NOW)


@pytest.mark.parametrize(
    ("of_entity", "of_all"),
    [
        (0, 0),
        (MAX_OF_ENTITY - 1, SHARED_ROOM - 1),
        (ALWAYS_PERMITTED - 1, SHARED_ROOM * 4),
    ],
)
def test_an_entity_revokes_while_there_is_room(of_entity: int, of_all: int) -> None:
    assert check_room(listed(of_entity, of_all)) is None


@pytest.mark.parametrize(
    ("of_entity", "of_all"),
    [(MAX_OF_ENTITY, MAX_OF_ENTITY), (ALWAYS_PERMITTED, SHARED_ROOM)],
)
def test_an_entity_without_room_waits_until_its_next_token_expires(
    of_entity: int, of_all: int
) -> None:
    assert check_room(listed(of_entity, of_all)) == TooManyRevocations(91)


def test_the_fullest_list_is_accepted_by_those_who_verify() -> None:
    most = SHARED_ROOM + MEMBERS * ALWAYS_PERMITTED
    ended = EndedTokens(
        [str(uuid.UUID(int=number)) for number in range(most)],
        {f"{number:064}": NOW for number in range(MEMBERS)},
    )

    check_size(len(revocation_list("https://iam.example.org/iam", ended, NOW)))
